package hammerspace;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs the conformance cases of {@code spec/}, whose README is the page on their language. */
final class SpecRunner {
    /** The step of this number, counted from 1, did not give what it says. */
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1;
        final int step;

        Failed(int step, String finding, Throwable cause) {
            super("step " + step + ": " + finding, cause);
            this.step = step;
        }
    }

    /** Bytes that are compared; null stands for nothing. */
    private record Outcome(String error, List<ByteBuffer> results) {
        static final Outcome SILENT = of();

        static Outcome of(byte[]... results) {
            return of(Arrays.asList(results));
        }

        static Outcome of(List<byte[]> results) {
            return new Outcome(null, results.stream().map(raw -> raw == null ? null : ByteBuffer.wrap(raw)).toList());
        }

        static Outcome number(long number) {
            return text(Long.toString(number));
        }

        static Outcome yesOrNo(boolean result) {
            return text(result ? "yes" : "no");
        }

        private static Outcome text(String text) {
            return of(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static final class Handle {
        final Space<byte[], byte[]> space;
        Writer<byte[], byte[]> pending;
        ByteBuffer value;
        Iterator<Map.Entry<byte[], byte[]>> walk;

        Handle(Space<byte[], byte[]> space) {
            this.space = space;
        }

        Writer<byte[], byte[]> begun() {
            if (pending == null) {
                pending = space.writer();
            }
            return pending;
        }

        List<byte[]> rest() {
            List<byte[]> pairs = new ArrayList<>();
            walk.forEachRemaining(pair -> pairs.addAll(List.of(pair.getKey(), pair.getValue())));
            return pairs;
        }

        byte[] held() {
            return value == null ? null : Codec.BUFFER.encode(value);
        }
    }

    private final Path path;
    private final Map<String, Handle> handles = new HashMap<>();

    SpecRunner(Path path) {
        this.path = path;
    }

    void run(List<String> steps) throws Failed {
        try {
            for (int at = 0; at < steps.size(); at++) {
                step(at + 1, steps.get(at));
            }
        } finally {
            handles.values().forEach(SpecRunner::drop);
        }
    }

    private static void drop(Handle handle) {
        if (handle.pending != null) {
            handle.pending.close();
        }
        handle.space.close();
    }

    private void step(int number, String step) throws Failed {
        try {
            perform(step);
        } catch (Exception | AssertionError failure) {
            throw new Failed(number, "`" + step.substring(0, Math.min(step.length(), 200)) + "`: " + failure, failure);
        }
    }

    private void perform(String step) throws IOException {
        String[] halves = (step + " ").split(" -> ", 2);
        String[] parts = halves[0].strip().split(" ");
        List<byte[]> words = Arrays.stream(parts).skip(2).map(SpecRunner::argument).toList();
        Outcome outcome = outcome(parts[0], parts[1], words);
        boolean fine = halves.length == 2 ? outcome.equals(expected(halves[1].strip())) : outcome.error == null;
        if (!fine) {
            throw new AssertionError("gives " + shown(outcome));
        }
    }

    private static String shown(Outcome outcome) {
        return outcome.error != null ? "error " + outcome.error : outcome.results.stream()
                .map(raw -> raw == null ? "nothing" : StandardCharsets.ISO_8859_1.decode(raw.duplicate()).toString())
                .map(text -> text.substring(0, Math.min(text.length(), 100)))
                .collect(Collectors.joining(" "));
    }

    private static Outcome expected(String text) {
        if (text.startsWith("error ")) {
            return new Outcome(text.substring("error ".length()), List.of());
        }
        List<byte[]> words = new ArrayList<>();
        Arrays.stream(text.split(" ")).filter(Predicate.not(String::isEmpty)).forEach(word -> words.add(result(word)));
        return Outcome.of(words);
    }

    private static byte[] result(String word) {
        return word.equals("nothing") ? null : argument(word);
    }

    private static byte[] argument(String word) {
        if (word.equals("''")) {
            return new byte[0];
        }
        int star = word.indexOf('*');
        byte[] once = unescaped(star < 0 ? word : word.substring(0, star));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int times = star < 0 ? 1 : Integer.parseInt(word.substring(star + 1));
        for (int time = 0; time < times; time++) {
            bytes.writeBytes(once);
        }
        return bytes.toByteArray();
    }

    private static byte[] unescaped(String word) {
        byte[] raw = word.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int at = 0; at < raw.length; at++) {
            if (raw[at] == '%') {
                bytes.write(Integer.parseInt(new String(raw, at + 1, 2, StandardCharsets.US_ASCII), 16));
                at += 2;
            } else {
                bytes.write(raw[at]);
            }
        }
        return bytes.toByteArray();
    }

    private Outcome outcome(String name, String verb, List<byte[]> words) throws IOException {
        if (name.equals("disk")) {
            return disk(verb, words);
        }
        try {
            return verb.equals("open") || verb.equals("create")
                    ? open(name, verb, words)
                    : call(handles.get(name), verb, words.toArray(byte[][]::new));
        } catch (HammerspaceException error) {
            return new Outcome(error.getClass().getSimpleName().replace("Exception", ""), List.of());
        }
    }

    private Outcome open(String name, String verb, List<byte[]> words) {
        Options options = Scratch.FAST.updateTimeout(Duration.ofMillis(50));
        for (byte[] word : words) {
            String[] option = text(word).split("=", 2);
            options = with(options, option[0], option[1]);
        }
        Space<String, String> space = verb.equals("open") ? options.open(path) : options.create(path);
        handles.put(name, new Handle(space.withCodecs(Codec.BYTES, Codec.BYTES)));
        return Outcome.SILENT;
    }

    private static Options with(Options options, String name, String value) {
        return switch (name) {
            case "keep" -> options.keep(Integer.parseInt(value));
            case "compression" -> options.compression(Compression.valueOf(value.toUpperCase()));
            case "block_size" -> options.blockSize(Integer.parseInt(value));
            case "mend" -> options.mend();
            default -> throw new AssertionError("there is no option " + name);
        };
    }

    private static Outcome call(Handle handle, String verb, byte[]... words) {
        Space<byte[], byte[]> space = handle.space;
        switch (verb) {
            case "refresh":
                return Outcome.yesOrNo(space.refresh());
            case "get":
                return Outcome.of(space.get(words[0]));
            case "get_many":
                return Outcome.of(space.getMany(List.of(words)));
            case "has":
                return Outcome.yesOrNo(space.contains(words[0]));
            case "len":
                return Outcome.number(space.size());
            case "pairs":
                handle.walk = space.asMap().entrySet().iterator();
                return Outcome.of(handle.rest());
            case "walk":
                handle.walk = space.asMap().entrySet().iterator();
                Map.Entry<byte[], byte[]> first = handle.walk.next();
                return Outcome.of(first.getKey(), first.getValue());
            case "rest":
                return Outcome.of(handle.rest());
            case "hold":
                handle.value = space.view(words[0]);
                return Outcome.of(handle.held());
            case "held":
                return Outcome.of(handle.held());
            case "update":
                handle.pending = space.writer();
                return Outcome.SILENT;
            case "turn":
                handle.pending = space.updater();
                return Outcome.SILENT;
            case "replace":
                handle.pending = space.replace();
                return Outcome.SILENT;
            case "put":
                handle.begun().put(words[0], words[1]);
                return Outcome.SILENT;
            case "delete":
                handle.begun().delete(words[0]);
                return Outcome.SILENT;
            case "publish":
                long number = handle.pending.publish();
                handle.pending = null;
                return Outcome.number(number);
            case "discard":
                handle.pending.close();
                handle.pending = null;
                return Outcome.SILENT;
            case "clear":
                space.clear();
                return Outcome.SILENT;
            case "versions":
                return Outcome.of(space.versions().stream()
                        .map(version -> Long.toString(version.number().orElseThrow()).getBytes(StandardCharsets.US_ASCII))
                        .toList());
            case "rollback":
                return Outcome.number(words.length == 0 ? space.rollback() : space.rollback(Long.parseLong(text(words[0]))));
            default:
                throw new AssertionError("nobody knows the verb " + verb);
        }
    }

    private Outcome disk(String verb, List<byte[]> words) throws IOException {
        Path file = words.isEmpty() ? path : path.resolve(text(words.get(0)));
        switch (verb) {
            case "write" -> write(file, Long.parseLong(text(words.get(1))), words.get(2));
            case "truncate" -> truncate(file, Long.parseLong(text(words.get(1))));
            case "remove" -> Files.delete(file);
            case "link" -> Files.createSymbolicLink(file, Path.of(text(words.get(1))));
            case "mkdir" -> Files.createDirectory(file);
            case "directories" -> {
                return Outcome.number(directories(file));
            }
            default -> throw new AssertionError("the disk knows no " + verb);
        }
        return Outcome.SILENT;
    }

    private static void write(Path file, long at, byte[] bytes) throws IOException {
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.seek(at);
            opened.write(bytes);
        }
    }

    private static void truncate(Path file, long length) throws IOException {
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.setLength(length);
        }
    }

    private static long directories(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)).count();
        }
    }

    private static String text(byte[] word) {
        return new String(word, StandardCharsets.UTF_8);
    }
}
