package hammerspace;

import com.google.common.collect.testing.MapTestSuiteBuilder;
import com.google.common.collect.testing.SampleElements;
import com.google.common.collect.testing.TestMapGenerator;
import com.google.common.collect.testing.TestStringMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.Feature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import junit.framework.Test;
import junit.framework.TestSuite;
import org.junit.runner.RunWith;
import org.junit.runners.AllTests;

/** Guava's tests of maps, for those of spaces and snapshots. */
@RunWith(AllTests.class)
public class MapTest {
    private static final List<Feature<?>> FEATURES = List.of(CollectionSize.ANY, CollectionFeature.KNOWN_ORDER);

    /** Opened once: every test begins with a map of certain pairs. */
    private static final Space<String, String> SPACE = Scratch.space(directory());

    private static Path directory() {
        try {
            Path directory = Files.createTempDirectory("hammerspace-maps-");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(directory)));
            return directory.resolve("space");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void remove(Path directory) {
        SPACE.clear();
        SPACE.close();
        try (var files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** What the space holds, in its order. */
    private static List<?> loaded = List.of();

    /** Snapshots of what the tests ask for again and again. */
    private static final Map<List<?>, Map<String, String>> SNAPSHOTS = new HashMap<>();

    /** Every map is the live view of the space, and the space holds what the last one was made of. */
    private static <K, V> Map<K, V> live(Space<K, V> space, Map<K, V> pairs) {
        List<?> wanted = List.copyOf(pairs.entrySet());
        if (!loaded.equals(wanted)) {
            space.load(pairs);
            loaded = wanted;
        }
        return space.asMap();
    }

    private static Map<String, String> pinned(Space<String, String> space, Map<String, String> pairs) {
        return SNAPSHOTS.computeIfAbsent(List.copyOf(pairs.entrySet()), wanted -> {
            live(space, pairs);
            return space.snapshot().asMap();
        });
    }

    public static Test suite() {
        TestSuite suite = new TestSuite("maps");
        suite.addTest(MapTestSuiteBuilder.using(text(MapTest::live))
                .named("of a space, of text").withFeatures(FEATURES).createTestSuite());
        suite.addTest(MapTestSuiteBuilder.using(text(MapTest::pinned))
                .named("of a snapshot, of text").withFeatures(FEATURES).createTestSuite());
        suite.addTest(MapTestSuiteBuilder.using(new Buffers())
                .named("of a space, of buffers").withFeatures(FEATURES).createTestSuite());
        return suite;
    }

    private interface Maker {
        Map<String, String> make(Space<String, String> space, Map<String, String> pairs);
    }

    private static TestStringMapGenerator text(Maker maker) {
        return new TestStringMapGenerator() {
            @Override
            protected Map<String, String> create(Map.Entry<String, String>[] entries) {
                Map<String, String> pairs = new LinkedHashMap<>();
                for (Map.Entry<String, String> entry : entries) {
                    pairs.put(entry.getKey(), entry.getValue());
                }
                return maker.make(SPACE, pairs);
            }
        };
    }

    private static final class Buffers implements TestMapGenerator<ByteBuffer, ByteBuffer> {
        private static ByteBuffer of(String text) {
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)).asReadOnlyBuffer();
        }

        private static Map.Entry<ByteBuffer, ByteBuffer> pair(String key, String value) {
            return Map.entry(of(key), of(value));
        }

        @Override
        public SampleElements<Map.Entry<ByteBuffer, ByteBuffer>> samples() {
            return new SampleElements<>(
                    pair("one", "January"), pair("two", "February"), pair("three", "March"), pair("four", "April"),
                    pair("five", "May"));
        }

        @Override
        public Map<ByteBuffer, ByteBuffer> create(Object... elements) {
            Map<ByteBuffer, ByteBuffer> pairs = new LinkedHashMap<>();
            for (Object element : elements) {
                Map.Entry<?, ?> entry = (Map.Entry<?, ?>) element;
                pairs.put((ByteBuffer) entry.getKey(), (ByteBuffer) entry.getValue());
            }
            return live(SPACE.withCodecs(Codec.BUFFER, Codec.BUFFER), pairs);
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        public Map.Entry<ByteBuffer, ByteBuffer>[] createArray(int length) {
            return new Map.Entry[length];
        }

        @Override
        public Iterable<Map.Entry<ByteBuffer, ByteBuffer>> order(List<Map.Entry<ByteBuffer, ByteBuffer>> insertionOrder) {
            return insertionOrder;
        }

        @Override
        public ByteBuffer[] createKeyArray(int length) {
            return new ByteBuffer[length];
        }

        @Override
        public ByteBuffer[] createValueArray(int length) {
            return new ByteBuffer[length];
        }
    }
}
