package hammerspace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.spotify.sparkey.CompressionType;
import com.spotify.sparkey.SparkeyReader;
import com.spotify.sparkey.SparkeyWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables, beside Spotify's own library on the same files. */
class SparkeyTest {
    @TempDir Path scratch;

    private Path log;

    @BeforeEach
    void name() {
        log = scratch.resolve("fruits.spl");
    }

    @Test
    void theirsReadsOurs() throws IOException {
        for (Compression compression : Compression.values()) {
            try (Log<String, String> ours = Sparkey.createNew(log, compression, 512)) {
                Scratch.pairs(1000).forEach(ours::put);
                ours.delete("key 7");
                assertEquals(999, ours.writeHash());
            }
            try (SparkeyReader theirs = com.spotify.sparkey.Sparkey.open(log.toFile())) {
                assertEquals("value 8", theirs.getAsString("key 8"));
                assertEquals(null, theirs.getAsString("key 7"));
                assertEquals(999, theirs.getIndexHeader().getNumEntries());
                assertEquals(compression.name(), theirs.getLogHeader().getCompressionType().name());
            }
        }
    }

    @Test
    void oursReadsTheirs() throws IOException {
        for (CompressionType compression : CompressionType.values()) {
            try (SparkeyWriter theirs = com.spotify.sparkey.Sparkey.createNew(log.toFile(), compression, 512)) {
                for (Map.Entry<String, String> pair : Scratch.pairs(1000).entrySet()) {
                    theirs.put(pair.getKey(), pair.getValue());
                }
                theirs.flush();
                theirs.writeHash();
            }
            try (Table<String, String> ours = Sparkey.open(scratch.resolve("fruits.spi"))) {
                assertEquals(Scratch.pairs(1000), ours.asMap());
                assertEquals(List.of("value 3", "value 1"), ours.getMany(List.of("key 3", "key 1")));
                assertEquals(7, ours.read("key 5", ByteBuffer.allocate(7)));
                assertEquals(7, ours.view("key 5").remaining());
                assertTrue(ours.contains("key 9") && ours.size() == 1000 && ours.version().isEmpty());
            }
        }
    }

    @Test
    void aLogGoesOn() {
        try (Log<String, String> first = Sparkey.createNew(log)) {
            first.put("apple", "red");
            first.finish();
        }
        try (Log<String, String> second = Sparkey.append(log)) {
            assertThrows(BusyException.class, () -> Sparkey.append(log));
            second.withCodecs(Codec.BYTES, Codec.BYTES).put(new byte[] {(byte) 0xff}, new byte[] {1});
            second.finish();
        }
        assertEquals(2, Sparkey.writeHash(log));
        try (Table<String, String> table = Sparkey.open(log)) {
            assertEquals("red", table.get("apple"));
            byte[] value = table.withCodecs(Codec.BYTES, Codec.BYTES).get(new byte[] {(byte) 0xff});
            assertArrayEquals(new byte[] {1}, value);
        }
    }

    @Test
    void aLogThatIsClosedWasNeverThere() throws IOException {
        Log<String, String> begun = Sparkey.createNew(log);
        begun.put("apple", "red");
        begun.close();
        assertFalse(Files.exists(log));
        InvalidException error = assertThrows(InvalidException.class, () -> begun.put("apple", "green"));
        assertTrue(error.remedy().orElseThrow().contains("`append`"));
        assertThrows(InvalidException.class, begun::writeHash);
    }

    @Test
    void whatIsWrongIsSaid() throws IOException {
        assertThrows(MissingException.class, () -> Sparkey.open(log));
        assertThrows(InvalidException.class, () -> Sparkey.open(scratch.resolve("fruits.txt")));
        assertThrows(InvalidException.class, () -> Sparkey.createNew(log, Compression.SNAPPY, -1));
        Sparkey.createNew(log).writeHash();
        Files.write(log, new byte[10]);
        assertThrows(CorruptException.class, () -> Sparkey.open(log));
        Table<String, String> closed;
        Sparkey.createNew(log).writeHash();
        closed = Sparkey.open(log);
        closed.close();
        assertThrows(InvalidException.class, () -> closed.get("apple"));
    }
}
