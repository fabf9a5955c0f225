package hammerspace;

import java.nio.file.Path;
import java.util.Locale;

/**
 * Sparkey tables without a space around them, by the verbs of Spotify's {@code com.spotify.sparkey.Sparkey}: the same files, read and
 * written by Hammerspace. A table is a log, {@code NAME.spl}, and its index, {@code NAME.spi}.
 *
 * <pre>{@code
 * try (Log<String, String> log = Sparkey.createNew(Path.of("fruits.spl"))) {
 *     log.put("apple", "red");
 *     log.writeHash();
 * }
 * try (Table<String, String> fruits = Sparkey.open(Path.of("fruits.spi"))) {
 *     fruits.get("apple"); // red
 * }
 * }</pre>
 *
 * <p>Other than Spotify's, a log takes the place of an older one when it is finished, not when it is begun, and one that is closed
 * before that was never there; a table may be shared by threads; and errors are {@link HammerspaceException}s.
 */
public final class Sparkey {
    /** Bytes per block, where nothing else is said. */
    private static final int BLOCK_SIZE = 4096;

    private Sparkey() {}

    /**
     * Begins a log that is not packed.
     *
     * @param log {@code NAME.spl}
     * @return the log, of text
     */
    public static Log<String, String> createNew(Path log) {
        return createNew(log, Compression.NONE, BLOCK_SIZE);
    }

    /**
     * Begins a log.
     *
     * @param log {@code NAME.spl}
     * @param compression how its blocks are packed
     * @param blockSize bytes of a block, before packing
     * @return the log, of text
     */
    public static Log<String, String> createNew(Path log, Compression compression, int blockSize) {
        Library.load();
        byte[] file = Paths.bytes(log);
        return log(NativeLog.create(file, compression.name().toLowerCase(Locale.ROOT), blockSize), file);
    }

    /**
     * Goes on with a log, if nothing else does at the moment.
     *
     * @param log {@code NAME.spl}
     * @return the log, of text
     * @throws BusyException where it is being appended to
     */
    public static Log<String, String> append(Path log) {
        Library.load();
        byte[] file = Paths.bytes(log);
        return log(NativeLog.append(file), file);
    }

    private static Log<String, String> log(long address, byte[] file) {
        return new Log<>(new NativeLog(address), file, Codec.TEXT, Codec.TEXT);
    }

    /**
     * Builds the index of a log that is finished.
     *
     * @param log {@code NAME.spl}
     * @return how many keys there are
     */
    public static long writeHash(Path log) {
        Library.load();
        return NativeLog.writeHash(Paths.bytes(log));
    }

    /**
     * Opens a table. Constant time.
     *
     * @param file its log or its index
     * @return the table, of text
     */
    public static Table<String, String> open(Path file) {
        Library.load();
        return new Table<>(new NativeReader(NativeReader.openTable(Paths.bytes(file))), Codec.TEXT, Codec.TEXT);
    }
}
