package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ErrorsTest {
    @TempDir Path scratch;

    @Test
    void thereIsAClassForEveryKind() throws IOException {
        String page = Files.readString(Scratch.ROOT.resolve("docs/design/errors.md"));
        Set<String> kinds = Pattern.compile("^\\| `(\\w+)`", Pattern.MULTILINE).matcher(page).results()
                .map(found -> found.group(1) + "Exception").collect(Collectors.toCollection(TreeSet::new));
        Set<String> classes = Arrays.stream(HammerspaceException.class.getPermittedSubclasses())
                .map(Class::getSimpleName).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(kinds, classes);
        assertEquals(10, kinds.size());
    }

    /** The library makes them by name and constructor, so a renamed one is noticed here only. */
    @Test
    void theLibraryFindsEveryClass() throws Exception {
        String source = Files.readString(Path.of("src/main/rust/errors.rs"));
        List<String> named = Pattern.compile("jni_str!\\(\"hammerspace/(\\w+)\"\\)").matcher(source).results()
                .map(found -> found.group(1)).toList();
        assertEquals(10, named.size());
        for (String name : named) {
            Class<?> made = Class.forName("hammerspace." + name);
            made.getDeclaredConstructor(String.class, String.class, String.class, long.class, String.class);
        }
    }

    @Test
    void anErrorSaysWhatWhereAndWhatToDo() throws Exception {
        try (Space<String, String> space = Scratch.space(scratch)) {
            space.load(Map.of("a", "1"));
        }
        shorten(scratch.resolve("current/hammerspace.spl"), 50);
        CorruptException error = assertThrows(CorruptException.class, () -> Space.open(scratch));
        String file = error.file().orElseThrow();
        assertTrue(file.startsWith(scratch.toString()) && file.endsWith("/hammerspace.spl"), file);
        for (String part : List.of(error.finding(), file, error.remedy().orElseThrow())) {
            assertTrue(error.getMessage().contains(part), error.getMessage());
        }
        HammerspaceException again = assertInstanceOf(CorruptException.class, copied(error));
        assertEquals(error.getMessage() + error.file() + error.offset(), again.getMessage() + again.file() + again.offset());
    }

    private static Object copied(Object object) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    }

    @Test
    void aRemedyNamesWhatThereIsInJava() throws Exception {
        List<HammerspaceException> errors = new ArrayList<>();
        errors.add(assertThrows(MissingException.class, () -> Space.open(scratch.resolve("nowhere"))));
        Path damaged = scratch.resolve("damaged");
        try (Space<String, String> space = Scratch.space(damaged)) {
            errors.add(assertThrows(MissingException.class, space::rollback));
            errors.add(assertThrows(InvalidException.class, () -> space.rollback(0)));
            errors.add(assertThrows(InvalidException.class, () -> new Options().keep(0).open(damaged)));
            space.load(Map.of("a", "1"));
            Writer<String, String> writer = space.writer();
            writer.close();
            errors.add(assertThrows(InvalidException.class, writer::publish));
        }
        try (Stream<Path> files = Files.list(damaged.resolve("current").toRealPath())) {
            files.forEach(file -> file.toFile().delete());
        }
        errors.add(assertThrows(CorruptException.class, () -> Space.open(damaged)));
        Set<String> ours = Stream.of(Space.class, Options.class, Writer.class).flatMap(each -> Arrays.stream(each.getMethods()))
                .map(Method::getName).collect(Collectors.toSet());
        for (HammerspaceException error : errors) {
            List<String> named = Pattern.compile("`(.*?)`").matcher(error.remedy().orElseThrow()).results()
                    .map((MatchResult found) -> found.group(1)).toList();
            for (String name : named) {
                assertTrue(name.startsWith("hammerspace ") || ours.contains(name), name + ": " + error.getMessage());
            }
        }
    }

    @Test
    void damageInTheMiddleIsMetWhereItIsRead() throws Exception {
        try (Space<String, String> space = Scratch.space(scratch)) {
            space.load(Scratch.pairs(2000));
        }
        try (RandomAccessFile log = new RandomAccessFile(scratch.resolve("current/hammerspace.spl").toFile(), "rw")) {
            log.seek(20_000);
            byte[] wrong = new byte[1000];
            Arrays.fill(wrong, (byte) 0xff);
            log.write(wrong);
        }
        try (Space<String, byte[]> damaged = Space.open(scratch).withCodecs(Codec.TEXT, Codec.BYTES)) {
            List<String> keys = List.copyOf(Scratch.pairs(2000).keySet());
            assertThrows(CorruptException.class, () -> damaged.getMany(keys));
            assertThrows(CorruptException.class, () -> keys.forEach(damaged::get));
            int[] count = {0};
            var entries = damaged.withCodecs(Codec.BYTES, Codec.BYTES).asMap().entrySet().iterator();
            assertThrows(CorruptException.class, () -> {
                for (; entries.hasNext(); entries.next()) {
                    count[0]++;
                }
            });
            assertTrue(count[0] > 500, "pairs before the damage are given: " + count[0]);
            assertFalse(entries.hasNext(), "and none after it");
        }
    }

    private static void shorten(Path file, long length) throws IOException {
        try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
            opened.setLength(length);
        }
    }
}
