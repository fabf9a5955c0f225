package hammerspace;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How a space is opened and written. Every option has a default that suits most.
 *
 * <pre>{@code
 * Space<String, String> words = new Options().keep(3).compression(Compression.ZSTD).create(Path.of("words"));
 * }</pre>
 *
 * <p>Options do not change: each method gives new ones.
 */
public final class Options {
    /** By the names that they have in all languages. */
    private final Map<String, String> given;

    /** The defaults. */
    public Options() {
        this(Map.of());
    }

    private Options(Map<String, String> given) {
        this.given = given;
    }

    private Options with(String name, Object value) {
        Map<String, String> more = new TreeMap<>(given);
        more.put(name, value.toString());
        return new Options(more);
    }

    private Options with(String name, Enum<?> value) {
        return with(name, value.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }

    /**
     * How many versions stay on disk after publishing, the current one included: 1 by default. More than one makes {@link
     * Space#rollback} possible.
     *
     * @param versions a number from 1 on
     * @return these options and that
     */
    public Options keep(int versions) {
        return with("keep", versions);
    }

    /**
     * How new versions are packed: by default as the version they start from, and new spaces not at all.
     *
     * @param compression how
     * @return these options and that
     */
    public Options compression(Compression compression) {
        return with("compression", compression);
    }

    /**
     * The size of a block of packed versions: by default as in the version they start from, else 4096.
     *
     * @param bytes before packing
     * @return these options and that
     */
    public Options blockSize(int bytes) {
        return with("block_size", bytes);
    }

    /**
     * Memory of this process for blocks that were unpacked, outside of Java's heap: none by default.
     *
     * @param bytes at most
     * @return these options and that
     */
    public Options cacheBytes(long bytes) {
        return with("cache_bytes", bytes);
    }

    /**
     * What a power cut may take of what is published: nothing by default.
     *
     * @param durability what
     * @return these options and that
     */
    public Options durability(Durability durability) {
        return with("durability", durability);
    }

    /**
     * How often {@link Space#refresh} looks for publications that nobody announces, those of Airbnb's gem, and whether the path
     * leads to another directory: every 100 ms by default.
     *
     * @param every a duration; {@code ChronoUnit.FOREVER.getDuration()} for never
     * @return these options and that
     */
    public Options poll(Duration every) {
        return with("poll", every.getSeconds() + "." + every.getNano());
    }

    /**
     * How long {@link Space#update} and {@link Space#updater} wait for the updates before them: one minute by default.
     *
     * @param limit a duration; {@code ChronoUnit.FOREVER.getDuration()} for as long as it takes
     * @return these options and that
     */
    public Options updateTimeout(Duration limit) {
        return with("update_timeout", limit.getSeconds() + "." + limit.getNano());
    }

    /**
     * How pages come into memory: on demand by default.
     *
     * @param paging how
     * @return these options and that
     */
    public Options paging(Paging paging) {
        return with("paging", paging);
    }

    /**
     * Opens a space also if its current version is damaged. It then reads as empty, and {@link Space#refresh} throws what is wrong,
     * until {@link Space#replace}, {@link Space#rollback} or {@link Space#clear} has mended it.
     *
     * @return these options and that
     */
    public Options mend() {
        return with("mend", "yes");
    }

    /**
     * Opens the space in a directory. Nothing is written; a directory without a version is an empty space.
     *
     * @param path a directory
     * @return the space, of text
     * @throws MissingException where there is no such directory
     */
    public Space<String, String> open(Path path) {
        return Space.of(path, false, this);
    }

    /**
     * Opens the space in a directory, which is made where it is missing.
     *
     * @param path a directory
     * @return the space, of text
     */
    public Space<String, String> create(Path path) {
        return Space.of(path, true, this);
    }

    /** As the library reads them, {@code compression=zstd keep=3}. */
    @Override
    public String toString() {
        return given.entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(" "));
    }
}
