package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WriterTest {
    @TempDir Path scratch;

    private Space<String, String> space;

    @BeforeEach
    void create() {
        space = Scratch.space(scratch);
    }

    @AfterEach
    void close() {
        space.close();
    }

    @Test
    void aWriterAnswersWhatItWouldPublish() {
        space.load(Map.of("a", "1", "b", "2"));
        try (Writer<String, String> writer = space.writer()) {
            writer.put("c", "3");
            writer.delete("a");
            assertNull(writer.get("a"));
            assertEquals("3", writer.get("c"));
            assertEquals(List.of("b", "c"), writer.keys());
            assertEquals(2, writer.size());
            writer.clear();
            assertEquals(0, writer.size());
            writer.putAll(Map.of("d", "4"));
            assertEquals(2, writer.publish());
        }
        assertEquals(Map.of("d", "4"), space.asMap());
    }

    @Test
    void aWriterThatIsClosedLeavesNothing() throws IOException {
        space.load(Map.of("a", "1"));
        Writer<String, String> writer = space.writer();
        writer.put("a", "2");
        assertEquals(2, directories());
        writer.close();
        writer.close();
        assertEquals(1, directories());
        assertEquals("1", space.get("a"));
        for (Runnable call : List.<Runnable>of(
                () -> writer.put("a", "3"), () -> writer.delete("a"), writer::clear, writer::publish, writer::keys)) {
            InvalidException error = assertThrows(InvalidException.class, call::run);
            assertTrue(error.remedy().orElseThrow().contains("`writer`"));
        }
    }

    @Test
    void aWriterOutlivesItsSpace() {
        Writer<String, String> writer = space.writer();
        space.close();
        writer.put("a", "1");
        assertEquals(1, writer.publish());
        try (Space<String, String> again = Space.open(scratch)) {
            assertEquals("1", again.get("a"));
        }
    }

    @Test
    void whatCannotBePublishedIsPendingStill() throws IOException {
        Writer<String, String> writer = space.writer();
        writer.put("a", "1");
        Path blocked = scratch.resolve("current");
        Files.createDirectory(blocked);
        assertThrows(HammerspaceException.class, writer::publish);
        Files.delete(blocked);
        assertEquals(1, writer.publish());
        assertEquals("1", space.get("a"));
    }

    private long directories() throws IOException {
        try (Stream<Path> entries = Files.list(scratch)) {
            return entries.filter(each -> Files.isDirectory(each) && !Files.isSymbolicLink(each)).count();
        }
    }
}
