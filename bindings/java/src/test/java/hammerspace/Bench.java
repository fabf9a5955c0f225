package hammerspace;

import com.spotify.sparkey.Sparkey;
import com.spotify.sparkey.SparkeyReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Spaces beside Java's own {@link HashMap}, and beside sparkey-java on the same files: {@code Bench SCRATCH [--small]} prints rows as
 * JSON.
 *
 * <p>Values have 100 bytes. Keys are looked up at random, all of them there. We and the peer take turns with the same keys in a new
 * order each time, and medians of the rounds count; what the first rounds take is the compiler's, and is not counted. Keys are kept as
 * programs keep them, other objects than the map's own, or made anew from bytes, as from a request.
 */
public final class Bench {
    private static final int BATCH = 64;

    /** What lookups found, so that no compiler leaves them out. */
    private static long found;

    private final int entries;
    private final int rounds;
    private final int lookups;
    private final Random random = new Random(44);

    /** Something that is done with each of these keys. */
    private interface Work<K> {
        long with(K key) throws IOException;
    }

    /** As a program keeps it for a map, and for a space. */
    private record Key(String text, byte[] bytes) {}

    private record Row(String name, String unit, double ours, double peer, String peerName, String goal) {
        String json() {
            String quoted = goal == null ? "null" : '"' + goal + '"';
            return String.format(
                    "{\"name\":\"%s\",\"unit\":\"%s\",\"ours\":%.3f,\"peer\":%.3f,\"peer_name\":\"%s\",\"goal\":%s}",
                    name, unit, ours, peer, peerName, quoted);
        }
    }

    private Bench(int entries, int rounds, int lookups) {
        this.entries = entries;
        this.rounds = rounds;
        this.lookups = lookups;
    }

    /** The entry point. */
    public static void main(String[] arguments) throws IOException {
        Path scratch = Path.of(arguments[0]);
        boolean small = Arrays.asList(arguments).contains("--small");
        List<Row> rows = new ArrayList<>();
        for (int entries : small ? new int[] {1000} : new int[] {100_000, 1_000_000}) {
            Bench bench = small ? new Bench(entries, 1, 1000) : new Bench(entries, 15, 100_000);
            rows.addAll(bench.run(scratch.resolve("" + entries), !small));
        }
        System.out.println(rows.stream().map(Row::json).collect(Collectors.joining(",", "[", "]")));
        System.err.println("checked " + found + " bytes");
    }

    private static String key(int n) {
        return "key." + n * 2654435761L % 1_000_000_007L;
    }

    private static String value(int n) {
        return String.format("%-100d", n);
    }

    private List<Row> run(Path path, boolean goals) throws IOException {
        long before = heap();
        Map<String, String> map = new HashMap<>();
        IntStream.range(0, entries).forEach(n -> map.put(key(n), value(n)));
        long mapBytes = heap() - before;
        before = heap();
        try (Space<String, String> space = new Options().durability(Durability.NONE).create(path)) {
            space.load(map);
            long spaceBytes = Math.max(heap() - before, 0);
            List<Row> rows = lookups(map, space, goals);
            rows.add(row("heap", "MB", spaceBytes / 1e6, mapBytes / 1e6, "HashMap", null));
            rows.addAll(besideSparkey(path, space));
            return rows;
        }
    }

    private List<Row> lookups(Map<String, String> map, Space<String, String> space, boolean goals) throws IOException {
        Space<byte[], byte[]> raw = space.withCodecs(Codec.BYTES, Codec.BYTES);
        Map<String, String> view = space.asMap();
        List<String> keys = keys();
        ByteBuffer into = ByteBuffer.allocateDirect(128);
        List<Row> rows = new ArrayList<>();
        double[] each = inTurn(keys, key -> view.get(key).length(), key -> map.get(key).length());
        rows.add(row("get", "ns", each[0], each[1], "HashMap", null));
        List<byte[]> bytes = keys.stream().map(Codec.TEXT::encode).toList();
        each = inTurn(bytes, key -> view.get(Codec.TEXT.decode(key)).length(), key -> map.get(Codec.TEXT.decode(key)).length());
        rows.add(row("get, keys made anew", "ns", each[0], each[1], "HashMap", null));
        List<Key> kept = keys.stream().map(text -> new Key(text, Codec.TEXT.encode(text))).toList();
        each = inTurn(kept, key -> raw.read(key.bytes, into.clear()), key -> map.get(key.text).length());
        rows.add(row("read into a buffer, keys of bytes", "ns", each[0], each[1], "HashMap", goals ? "<= 1.5" : null));
        List<List<String>> batches = IntStream.range(0, keys.size() / BATCH)
                .mapToObj(n -> keys.subList(n * BATCH, (n + 1) * BATCH)).toList();
        each = inTurn(batches, batch -> lengths(space.getMany(batch)), batch -> {
            List<String> values = new ArrayList<>(BATCH);
            for (String key : batch) {
                values.add(map.get(key));
            }
            return lengths(values);
        });
        rows.add(row("getMany of 64", "ns", each[0] / BATCH, each[1] / BATCH, "HashMap", goals ? "<= 1.0" : null));
        each = inTurn(List.of(view, view), whole -> all(view), whole -> all(map));
        rows.add(row("iterate", "ns", each[0] / entries, each[1] / entries, "HashMap", null));
        return rows;
    }

    private static long lengths(List<String> values) {
        long length = 0;
        for (String value : values) {
            length += value.length();
        }
        return length;
    }

    private static long all(Map<String, String> map) {
        long length = 0;
        for (Map.Entry<String, String> entry : map.entrySet()) {
            length += entry.getKey().length() + entry.getValue().length();
        }
        return length;
    }

    private List<Row> besideSparkey(Path path, Space<String, String> space) throws IOException {
        Space<byte[], byte[]> raw = space.withCodecs(Codec.BYTES, Codec.BYTES);
        List<byte[]> keys = keys().stream().map(Codec.TEXT::encode).toList();
        try (SparkeyReader reader = Sparkey.open(path.resolve("current/hammerspace.spi").toFile())) {
            double[] each = inTurn(keys, key -> raw.get(key).length, key -> reader.getAsByteArray(key).length);
            return List.of(row("get, bytes", "ns", each[0], each[1], "sparkey-java", null));
        }
    }

    /** Keys to look up, which are equal to those of the map and not the same. */
    private List<String> keys() {
        return random.ints(lookups, 0, entries).mapToObj(Bench::key).collect(Collectors.toCollection(ArrayList::new));
    }

    /** Nanoseconds for one, of ours and of the peer. */
    private <K> double[] inTurn(List<K> keys, Work<K> ours, Work<K> peer) throws IOException {
        List<K> order = new ArrayList<>(keys);
        List<Double> us = new ArrayList<>();
        List<Double> them = new ArrayList<>();
        for (int round = -rounds; round < rounds; round++) {
            Collections.shuffle(order, random);
            double our = nanos(order, ours);
            double their = nanos(order, peer);
            if (round >= 0) {
                us.add(our);
                them.add(their);
            }
        }
        return new double[] {median(us), median(them)};
    }

    private static <K> double nanos(List<K> keys, Work<K> work) throws IOException {
        long length = 0;
        long start = System.nanoTime();
        for (K key : keys) {
            length += work.with(key);
        }
        double each = (double) (System.nanoTime() - start) / keys.size();
        found += length;
        return each;
    }

    private static double median(List<Double> times) {
        Collections.sort(times);
        return times.get(times.size() / 2);
    }

    /** Bytes in use once the collector is done. */
    private static long heap() {
        Runtime runtime = Runtime.getRuntime();
        for (int tries = 0; tries < 3; tries++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private Row row(String name, String unit, double ours, double peer, String peerName, String goal) {
        return new Row(name + ", " + entries + " entries", unit, ours, peer, peerName, goal);
    }
}
