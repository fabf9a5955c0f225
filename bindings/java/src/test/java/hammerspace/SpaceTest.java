package hammerspace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpaceTest {
    @TempDir Path scratch;

    private Space<String, String> space;

    @BeforeEach
    void create() {
        space = Scratch.space(scratch.resolve("words"));
    }

    @AfterEach
    void close() {
        space.close();
    }

    @Test
    void valuesOfAllLengthsComeBack() {
        Space<byte[], byte[]> bytes = space.withCodecs(Codec.BYTES, Codec.BYTES);
        for (int length : new int[] {0, 1, 127, 128, 129, 4096, 1 << 20}) {
            byte[] each = new byte[length];
            Arrays.fill(each, (byte) 0xff);
            try (Writer<byte[], byte[]> writer = bytes.replace()) {
                writer.put(each, each);
                writer.publish();
            }
            assertArrayEquals(each, bytes.get(each));
            assertEquals(ByteBuffer.wrap(each), bytes.view(each));
            assertArrayEquals(each, bytes.getMany(List.of(new byte[] {7}, each)).get(1));
        }
    }

    @Test
    void aValueIsReadIntoABufferThatHasRoom() {
        space.load(Map.of("color", "red", "empty", ""));
        for (ByteBuffer buffer : List.of(ByteBuffer.allocate(10), ByteBuffer.allocateDirect(10))) {
            ByteBuffer part = buffer.position(1).slice().position(2);
            assertEquals(3, space.read("color", part));
            assertEquals(5, part.position());
            assertEquals("red", new String(new byte[] {buffer.get(3), buffer.get(4), buffer.get(5)}));
            assertEquals(0, space.read("empty", part));
            assertEquals(-1, space.read("shape", part));
            assertEquals(5, part.position());
            part.limit(7);
            assertEquals(3, space.read("color", part), "the length that it needs");
            assertEquals(5, part.position());
            assertEquals(0, buffer.get(6), "and nothing was written");
            assertThrows(ReadOnlyBufferException.class, () -> space.read("color", part.asReadOnlyBuffer()));
        }
    }

    @Test
    void manyValuesAreOfOneVersionAndInTheOrderOfTheKeys() {
        space.load(Map.of("a", "1", "b", "", "?", "3"));
        assertEquals(Arrays.asList("3", null, "", "1", null), space.getMany(List.of("?", "x", "b", "a", "\ud800")));
        assertEquals(List.of(), space.getMany(List.of()));
    }

    @Test
    void textThatHasNoUtf8IsNowhereAndCannotBeWritten() {
        space.load(Map.of("?", "1", "\ufffd", "2"));
        assertEquals("1", space.get("?"));
        assertEquals("2", space.get("\ufffd"));
        assertNull(space.get("\ud800"));
        assertFalse(space.contains("\ud800"));
        assertNull(space.view("\ud800"));
        assertEquals(-1, space.read("\ud800", ByteBuffer.allocate(1)));
        try (Writer<String, String> writer = space.writer()) {
            assertThrows(InvalidException.class, () -> writer.put("a\ud800", "x"));
            assertThrows(InvalidException.class, () -> writer.put("x", "a\ud800"));
        }
    }

    @Test
    void bytesThatAreNoTextAreAnErrorOnlyWhereTheyAreRead() {
        space.withCodecs(Codec.TEXT, Codec.BYTES).load(Map.of("raw", new byte[] {(byte) 0xff}));
        assertTrue(space.contains("raw"));
        InvalidException error = assertThrows(InvalidException.class, () -> space.get("raw"));
        assertTrue(error.remedy().orElseThrow().contains("Codec.BYTES"));
        assertThrows(InvalidException.class, () -> space.getMany(List.of("raw")));
    }

    @Test
    void aCodecOfOnesOwn() {
        Codec<Long> numbers = new Codec<>() {
            @Override
            public byte[] encode(Long number) {
                return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
            }

            @Override
            public Long decode(byte[] bytes) {
                return ByteBuffer.wrap(bytes).getLong();
            }
        };
        Space<Long, String> names = space.withCodecs(numbers, Codec.TEXT);
        names.load(Map.of(7L, "seven", -1L, "minus one"));
        assertEquals("seven", names.get(7L));
        assertEquals(Map.of(7L, "seven", -1L, "minus one"), names.asMap());
        assertThrows(ClassCastException.class, () -> names.asMap().get("seven"));
    }

    @Test
    void aBufferIsAKeyWhereverItsBytesAre() {
        Space<ByteBuffer, String> buffers = space.withCodecs(Codec.BUFFER, Codec.TEXT);
        buffers.load(Map.of(ByteBuffer.wrap(new byte[] {1, 2}), "x"));
        ByteBuffer direct = ByteBuffer.allocateDirect(4).put(new byte[] {0, 1, 2, 3}).position(1).limit(3);
        assertEquals("x", buffers.get(direct));
        assertEquals(1, direct.position());
    }

    @Test
    void aSnapshotStaysAndASpaceMovesOn() {
        space.load(Map.of("color", "red"));
        try (Snapshot<String, String> snapshot = space.snapshot();
                Space<String, String> other = Space.open(space.path())) {
            assertEquals(2, other.load(Map.of("color", "blue")));
            assertEquals("red", space.get("color"));
            assertTrue(space.refresh());
            assertFalse(space.refresh());
            assertEquals("blue", space.get("color"));
            assertEquals("red", snapshot.get("color"));
            assertEquals(OptionalLong.of(2), space.version());
            assertEquals(OptionalLong.of(1), snapshot.version());
        }
    }

    @Test
    void aMapOfASpaceIsLiveAndItsIteratorsAreNot() {
        space.load(Scratch.pairs(1000));
        Map<String, String> map = space.asMap();
        var entries = map.entrySet().iterator();
        assertEquals(Map.entry("key 0", "value 0"), entries.next());
        space.clear();
        assertTrue(map.isEmpty());
        int count = 1;
        for (; entries.hasNext(); entries.next()) {
            count++;
        }
        assertEquals(1000, count);
        assertEquals(Scratch.pairs(1000).size(), count);
    }

    @Test
    void versionsAreListedAndGoneBackTo() {
        Instant before = Instant.now().minusSeconds(10);
        try (Space<String, String> kept = Scratch.FAST.keep(3).create(scratch.resolve("kept"))) {
            for (String value : List.of("1", "2", "3")) {
                kept.load(Map.of("a", value));
            }
            List<Version> versions = kept.versions();
            assertEquals(List.of(3L, 2L, 1L), versions.stream().map(each -> each.number().orElseThrow()).toList());
            Version first = versions.get(0);
            assertTrue(first.isCurrent() && first.bytes() > 0 && first.published().isAfter(before));
            assertEquals(OptionalLong.of(1), first.entries());
            assertEquals(2, kept.rollback());
            assertEquals("2", kept.get("a"), "it moves on by itself");
            assertEquals(1, kept.rollback(1));
            assertEquals("1", kept.get("a"));
            assertThrows(MissingException.class, () -> kept.rollback(9));
            assertThrows(InvalidException.class, () -> kept.rollback(0));
        }
    }

    @Test
    void everyOptionIsUnderstood() {
        for (Paging paging : Paging.values()) {
            for (Compression compression : Compression.values()) {
                Options options = Scratch.FAST.paging(paging).compression(compression).blockSize(512).cacheBytes(1 << 20)
                        .poll(ChronoUnit.FOREVER.getDuration());
                Path path = scratch.resolve(paging + "-" + compression);
                try (Space<String, String> each = options.create(path)) {
                    each.load(Scratch.pairs(100));
                    assertEquals("value 7", each.get("key 7"), path::toString);
                } catch (PermissionException ulimit) {
                    assertEquals(Paging.LOCK, paging);
                }
            }
        }
        assertEquals("compression=zstd durability=full keep=2",
                new Options().keep(2).compression(Compression.ZSTD).durability(Durability.FULL).toString());
        assertThrows(InvalidException.class, () -> new Options().keep(-1).create(scratch.resolve("no")));
        assertThrows(InvalidException.class, () -> new Options().poll(Duration.ofSeconds(-1)).create(scratch.resolve("no")));
    }

    @Test
    void aPathMayHaveAnyLetters() {
        for (String name : List.of("with blank", "100%", "grün", "a+b", "色")) {
            Path path = scratch.resolve(name);
            try (Space<String, String> each = Scratch.space(path)) {
                each.load(Map.of("a", "1"));
                assertTrue(path.resolve("current").toFile().isDirectory(), name);
            }
        }
    }

    @Test
    void nullIsNoKeyAndNoValue() {
        assertThrows(NullPointerException.class, () -> space.get(null));
        Codec<String> broken = new Codec<>() {
            @Override
            public byte[] encode(String value) {
                return null;
            }

            @Override
            public String decode(byte[] bytes) {
                return "";
            }
        };
        try (Writer<String, String> writer = space.withCodecs(Codec.TEXT, broken).writer()) {
            assertThrows(NullPointerException.class, () -> writer.put("a", null));
            assertThrows(InvalidException.class, () -> writer.put("a", "b"));
        }
    }
}
