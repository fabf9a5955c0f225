package hammerspace;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A map in a directory, shared by every process that opens it.
 *
 * <p>A space reads one version until {@link #refresh}; publishing through it, clearing it and rolling it back refresh it, too. One is
 * enough for all threads of a program; more of them cost little, since all share the memory of the files.
 *
 * <pre>{@code
 * try (Space<String, String> words = Space.create(Path.of("words"))) {
 *     try (Writer<String, String> writer = words.writer()) {
 *         writer.put("fr.greeting", "Bonjour");
 *         writer.publish();
 *     }
 *     words.get("fr.greeting"); // Bonjour
 * }
 * }</pre>
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public final class Space<K, V> extends SpaceReader<K, V> {
    /** How often an update runs, where others publish each time. */
    private static final int UPDATE_RUNS = 100;

    private final Path path;

    private Space(Path path, NativeReader reader, Codec<K> keys, Codec<V> values) {
        super(reader, keys, values);
        this.path = path;
    }

    static Space<String, String> of(Path path, boolean create, Options options) {
        Library.load();
        NativeReader reader = new NativeReader(NativeReader.open(Paths.bytes(path), create, options.toString()));
        return new Space<>(path, reader, Codec.TEXT, Codec.TEXT);
    }

    /**
     * Opens the space in a directory, with the default {@link Options}.
     *
     * @param path a directory
     * @return the space, of text
     * @throws MissingException where there is no such directory
     */
    public static Space<String, String> open(Path path) {
        return new Options().open(path);
    }

    /**
     * Opens the space in a directory, which is made where it is missing, with the default {@link Options}.
     *
     * @param path a directory
     * @return the space, of text
     */
    public static Space<String, String> create(Path path) {
        return new Options().create(path);
    }

    /**
     * The same space with keys and values that are something else in Java. It is one handle: both read the same version, and where
     * one is closed the other is.
     *
     * @param <A> what keys are in Java
     * @param <B> what values are in Java
     * @param keys how they are converted
     * @param values how they are converted
     * @return this space, seen otherwise
     */
    public <A, B> Space<A, B> withCodecs(Codec<A> keys, Codec<B> values) {
        return new Space<>(path, reader, keys, values);
    }

    /**
     * The directory.
     *
     * @return the path by which it was opened
     */
    public Path path() {
        return path;
    }

    /**
     * Moves on to the current version, if it is another one. Meant to be called once per request: where nothing was published it
     * costs nanoseconds. Snapshots, views and iterators that there are stay in their version.
     *
     * @return whether there was another one
     */
    public boolean refresh() {
        return reader.refresh();
    }

    /**
     * The version that is read now, held.
     *
     * @return a snapshot, which outlives this space
     */
    public Snapshot<K, V> snapshot() {
        return new Snapshot<>(new NativeReader(reader.snapshot()), keys, values);
    }

    /**
     * Begins a version that starts from the current one. It is private until it is published.
     *
     * @return a writer, to be closed
     */
    public Writer<K, V> writer() {
        return new Writer<>(new NativeWriter(reader.writer()), keys, values);
    }

    /**
     * Begins a version that starts empty, and replaces everything when it is published.
     *
     * @return a writer, to be closed
     */
    public Writer<K, V> replace() {
        return new Writer<>(new NativeWriter(reader.replace()), keys, values);
    }

    /**
     * Begins a version that starts from the current one, in turn: updates of all threads and processes queue for {@link #updater} and
     * {@link #update}, so that none loses what another wrote. The turn ends when the writer has published or is closed.
     *
     * @return a writer, to be closed. Its {@link Writer#publish} throws {@link ChangedException} where a writer that does not queue has
     *     published meanwhile
     * @throws BusyException where the turn does not come {@linkplain Options#updateTimeout in time}
     */
    public Writer<K, V> updater() {
        return new Writer<>(new NativeWriter(reader.updater()), keys, values);
    }

    /**
     * Changes the space in turn, so that no update loses what another wrote, and publishes what {@code change} wrote. Where it writes
     * nothing, or throws, nothing is published.
     *
     * <p>A writer that does not queue ({@link #writer}, {@link #replace}, a rollback) may publish meanwhile. Then {@code change} runs
     * again, on what was published; so it must be repeatable.
     *
     * @param change puts and deletes; it neither publishes nor closes the writer
     * @throws BusyException where the turn does not come {@linkplain Options#updateTimeout in time}
     * @throws ChangedException where others published each of the hundred times that it ran
     */
    public void update(Consumer<? super Writer<K, V>> change) {
        try (Writer<K, V> writer = updater()) {
            for (int run = 1; !writer.attempt(change, run == UPDATE_RUNS); run++) {
                writer.restart();
            }
        }
    }

    /**
     * Replaces everything by the pairs of a map.
     *
     * @param pairs all that is to be in the space
     * @return the number of the new version
     */
    public long load(Map<? extends K, ? extends V> pairs) {
        try (Writer<K, V> writer = replace()) {
            writer.putAll(pairs);
            return writer.publish();
        }
    }

    /** Empties the space in one step, and drops every version of it. Other handles keep what they read until they refresh. */
    public void clear() {
        reader.clear();
    }

    /**
     * The versions on disk.
     *
     * @return them, newest first
     */
    public List<Version> versions() {
        return List.of(reader.versions());
    }

    /**
     * Makes the version before the current one current again. Needs versions that were {@linkplain Options#keep kept}.
     *
     * @return its number
     * @throws MissingException where there is none on disk
     */
    public long rollback() {
        return reader.rollback(0);
    }

    /**
     * Makes an older version current again, in one step.
     *
     * @param number that of a version on disk, from 1 on
     * @return the number
     * @throws MissingException where it is not on disk
     */
    public long rollback(long number) {
        if (number < 1) {
            throw new InvalidException("there is no version " + number, "`versions` lists them; numbers begin with 1");
        }
        return reader.rollback(number);
    }

    @Override
    public String toString() {
        return "Space[" + path + "]";
    }
}
