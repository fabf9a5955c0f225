package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Closing, collecting and refreshing, each while other threads read. */
@Timeout(120)
class ThreadsTest {
    private static final int READERS = 3;

    @TempDir Path scratch;

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    /** Every way to read, over and over, until one of them throws. */
    private static InvalidException readUntilClosed(Space<String, String> space, CountDownLatch begun) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(100);
        for (int n = 0; ; n = (n + 1) % 1000) {
            String key = "key " + n;
            String value = "value " + n;
            try {
                assertEquals(value, space.get(key));
                assertEquals(value.length(), space.read(key, buffer.clear()));
                assertEquals(List.of(value), space.getMany(List.of(key)));
                assertEquals(value, Codec.TEXT.decode(Codec.BUFFER.encode(space.view(key))));
                assertEquals("key 0", space.asMap().keySet().iterator().next());
            } catch (InvalidException closed) {
                return closed;
            }
            begun.countDown();
        }
    }

    @Test
    void aSpaceIsClosedUnderItsReaders() throws Exception {
        Scratch.space(scratch).load(Scratch.pairs(1000));
        for (int round = 0; round < 30; round++) {
            Space<String, String> space = Space.open(scratch);
            CountDownLatch begun = new CountDownLatch(READERS);
            List<Future<InvalidException>> readers = IntStream.range(0, READERS)
                    .mapToObj(n -> threads.submit(() -> readUntilClosed(space, begun)))
                    .toList();
            begun.await();
            space.close();
            for (Future<InvalidException> reader : readers) {
                assertTrue(reader.get().getMessage().contains("is closed"));
            }
            space.close();
        }
    }

    @Test
    void everyCallOnWhatIsClosedIsAnException() {
        Space<String, String> space = Scratch.space(scratch);
        space.load(Map.of("a", "1"));
        Snapshot<String, String> snapshot = space.snapshot();
        space.close();
        assertEquals("1", snapshot.get("a"), "a snapshot outlives its space");
        snapshot.close();
        List<Callable<?>> calls = new ArrayList<>(List.of(
                space::refresh, space::snapshot, space::writer, space::replace, space::versions, space::rollback,
                () -> space.load(Map.of())));
        for (SpaceReader<String, String> reader : List.of(space, snapshot)) {
            calls.addAll(List.of(
                    () -> reader.get("a"), () -> reader.contains("a"), () -> reader.view("a"), reader::size,
                    () -> reader.getMany(List.of("a")), () -> reader.read("a", ByteBuffer.allocate(1)), reader::version,
                    () -> reader.asMap().entrySet().iterator()));
        }
        for (Callable<?> call : calls) {
            assertThrows(InvalidException.class, call::call);
        }
        assertThrows(InvalidException.class, space::clear);
    }

    @Test
    void aWriterIsClosedUnderThreadsThatPut() throws Exception {
        try (Space<String, String> space = Scratch.space(scratch)) {
            for (int round = 0; round < 10; round++) {
                Writer<String, String> writer = space.replace();
                CountDownLatch begun = new CountDownLatch(READERS);
                List<Future<?>> putting = IntStream.range(0, READERS).<Future<?>>mapToObj(n -> threads.submit(() -> {
                    assertThrows(InvalidException.class, () -> {
                        for (int at = 0; ; at++) {
                            writer.put("key " + at, "value " + n);
                            begun.countDown();
                        }
                    });
                })).toList();
                begun.await();
                if (round % 2 == 0) {
                    writer.close();
                } else {
                    writer.publish();
                }
                for (Future<?> each : putting) {
                    each.get();
                }
            }
        }
    }

    @Test
    void eachCallIsOfOneVersionWhileOthersPublish() throws Exception {
        Space<String, String> space = Scratch.space(scratch);
        space.load(Map.of("a", "0", "b", "0"));
        AtomicBoolean done = new AtomicBoolean();
        List<Future<?>> readers = IntStream.range(0, READERS).<Future<?>>mapToObj(n -> threads.submit(() -> {
            while (!done.get()) {
                space.refresh();
                List<String> both = space.getMany(List.of("a", "b"));
                assertEquals(both.get(0), both.get(1));
                var values = space.asMap().values().iterator();
                assertEquals(values.next(), values.next());
            }
        })).toList();
        try (Space<String, String> other = Scratch.FAST.open(scratch)) {
            for (int n = 1; n <= 100; n++) {
                other.load(Map.of("a", "" + n, "b", "" + n));
            }
        } finally {
            done.set(true);
        }
        for (Future<?> reader : readers) {
            reader.get();
        }
        space.refresh();
        assertEquals("100", space.get("a"));
        space.close();
    }

    @Test
    void aBufferThatAnotherThreadMovesIsNeverOverrun() throws Exception {
        Space<String, String> space = Scratch.space(scratch);
        space.load(Map.of("key", "x".repeat(64)));
        ByteBuffer memory = ByteBuffer.allocateDirect(128);
        ByteBuffer shared = memory.slice(0, 64);
        AtomicBoolean done = new AtomicBoolean();
        Future<?> mover = threads.submit(() -> {
            for (int n = 0; !done.get(); n++) {
                try {
                    shared.position(n % 65);
                } catch (IllegalArgumentException moved) {
                    // It is in use.
                }
            }
        });
        for (int n = 0; n < 100_000; n++) {
            try {
                space.read("key", shared);
            } catch (IllegalArgumentException moved) {
                // Its position lies elsewhere by now.
            }
        }
        done.set(true);
        mover.get();
        for (int at = 64; at < 128; at++) {
            assertEquals(0, memory.get(at));
        }
        space.close();
    }

    @Test
    void aViewKeepsItsMemoryAndLetsItGo() throws Exception {
        Space<String, String> space = Scratch.space(scratch);
        space.load(Map.of("key", "held in place"));
        Object log = log();
        ByteBuffer part = space.view("key").slice(5, 2).duplicate();
        space.clear();
        space.close();
        System.gc();
        assertTrue(isMapped(log), "by the slice of the view");
        assertEquals("in", Codec.TEXT.decode(Codec.BUFFER.encode(part)));
        assertTrue(part.isReadOnly() && part.isDirect());
        part = null;
        awaitLetGo(log);
    }

    @Test
    void anIteratorKeepsItsVersionUntilItEnds() throws Exception {
        Space<String, String> space = Scratch.space(scratch);
        space.load(Map.of("key", "value"));
        Object log = log();
        Iterator<String> keys = space.asMap().keySet().iterator();
        space.clear();
        space.close();
        assertTrue(isMapped(log));
        assertEquals("key", keys.next());
        assertFalse(keys.hasNext());
        assertFalse(isMapped(log));
    }

    @Test
    void whatNobodyClosesIsLetGo() throws Exception {
        Scratch.space(scratch).load(Map.of("key", "value"));
        Object log = log();
        assertNotNull(Space.open(scratch).snapshot().asMap().entrySet().iterator().next());
        awaitLetGo(log);
    }

    /** The number of the log of the current version. */
    private Object log() throws IOException {
        return Files.getAttribute(scratch.resolve("current/hammerspace.spl"), "unix:ino");
    }

    /** Whether this process maps the file of this number, whose name may be gone. */
    private static boolean isMapped(Object file) throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.anyMatch(line -> line.split(" +")[4].equals(file.toString()) && line.contains(".spl"));
        }
    }

    /** Has the collector run until the file is let go. When it does so is its own affair; that it does is the promise. */
    private static void awaitLetGo(Object file) throws Exception {
        for (int tries = 0; isMapped(file) && tries < 1000; tries++) {
            System.gc();
            Thread.sleep(5);
        }
        assertFalse(isMapped(file));
    }
}
