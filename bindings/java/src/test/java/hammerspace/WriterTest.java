package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
    void updatesInTurnDoNotLoseEachOther() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int n = 0; n < 4; n++) {
            threads.add(new Thread(() -> {
                try (Space<String, String> own = Scratch.FAST.open(scratch)) {
                    for (int time = 0; time < 10; time++) {
                        own.update(writer -> {
                            String before = writer.get("count");
                            writer.put("count", "" + (before == null ? 1 : Integer.parseInt(before) + 1));
                        });
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        space.refresh();
        assertEquals("40", space.get("count"));
    }

    @Test
    void anUpdateRunsAgainOnWhatOthersPublished() {
        List<String> seen = new ArrayList<>();
        space.load(Map.of("color", "red"));
        try (Space<String, String> other = Scratch.FAST.open(scratch)) {
            space.update(writer -> {
                seen.add(writer.get("color"));
                if (seen.size() == 1) {
                    other.load(Map.of("color", "blue"));
                }
                writer.put("seen", "" + seen);
            });
        }
        assertEquals(List.of("red", "blue"), seen);
        assertEquals(Map.of("color", "blue", "seen", "[red, blue]"), space.asMap());
    }

    @Test
    void anUpdateGivesUpInTheEnd() {
        try (Space<String, String> other = Scratch.FAST.open(scratch)) {
            int[] runs = {0};
            assertThrows(ChangedException.class, () -> space.update(writer -> {
                writer.put("runs", "" + ++runs[0]);
                other.load(Map.of("other", "" + runs[0]));
            }));
            assertEquals(100, runs[0]);
        }
    }

    @Test
    void anUpdateThatWritesNothingOrThrowsPublishesNothing() {
        space.load(Map.of("a", "1"));
        space.update(writer -> assertEquals("1", writer.get("a")));
        assertThrows(IllegalStateException.class, () -> space.update(writer -> {
            writer.put("a", "2");
            throw new IllegalStateException();
        }));
        assertEquals(1, space.version().orElseThrow());
        space.update(writer -> writer.put("a", "3"));
        assertEquals("3", space.get("a"), "and its turn had ended");
    }

    @Test
    void anUpdateWaitsNoLongerThanItIsTold() {
        try (Writer<String, String> first = space.updater();
                Space<String, String> impatient = Scratch.FAST.updateTimeout(Duration.ofMillis(20)).open(scratch)) {
            first.put("a", "1");
            assertThrows(BusyException.class, impatient::updater);
        }
        space.updater().close();
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
