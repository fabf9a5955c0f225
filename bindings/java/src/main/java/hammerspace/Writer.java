package hammerspace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The next version of a space, in the making.
 *
 * <p>Any number of writers may be at work, in any processes; the last to publish wins as a whole, unless it is an {@linkplain
 * Space#updater update}, which replaces only the version that it started from. A writer that is closed before it has published leaves
 * nothing behind. As long as one only puts, changes go to disk; from the first time that one calls {@link #get},
 * {@link #size} or {@link #keys}, they are kept in memory, too, outside of Java's heap. Threads may share one, and take turns.
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public final class Writer<K, V> implements AutoCloseable {
    private final NativeWriter writer;
    private final Codec<K> keys;
    private final Codec<V> values;

    Writer(NativeWriter writer, Codec<K> keys, Codec<V> values) {
        this.writer = writer;
        this.keys = keys;
        this.values = values;
    }

    private byte[] bytesOf(K key) {
        return keys.encode(Objects.requireNonNull(key, "the key"));
    }

    /**
     * Sets the value of a key, whatever it was.
     *
     * @param key shorter than 2 GiB
     * @param value of any length
     */
    public void put(K key, V value) {
        writer.put(bytesOf(key), values.encode(Objects.requireNonNull(value, "the value")));
    }

    /**
     * Puts all pairs of a map, in its order.
     *
     * @param pairs keys and their values
     */
    public void putAll(Map<? extends K, ? extends V> pairs) {
        pairs.forEach(this::put);
    }

    /**
     * Removes a key, if it is there.
     *
     * @param key what to remove
     */
    public void delete(K key) {
        writer.delete(bytesOf(key));
    }

    /**
     * The value that a key would have if this were published now.
     *
     * @param key what to look up
     * @return its value, or null where there would be none
     */
    public V get(K key) {
        byte[] found = writer.get(bytesOf(key));
        return found == null ? null : values.decode(found);
    }

    /**
     * How many keys there would be if this were published now. Linear in the changes.
     *
     * @return a number of keys
     */
    public long size() {
        return writer.size();
    }

    /**
     * The keys that there would be if this were published now. Reads all there is.
     *
     * @return them, in the order in which they were last written
     */
    public List<K> keys() {
        byte[][] found = writer.keys();
        List<K> decoded = new ArrayList<>(found.length);
        for (byte[] key : found) {
            decoded.add(keys.decode(key));
        }
        return decoded;
    }

    /** Starts again, from nothing. */
    public void clear() {
        writer.clear();
    }

    /**
     * Makes this the current version, in one step. The space it was begun on moves on to it.
     *
     * <p>Where that fails nothing is lost: publish again once the cause is gone, as after making room.
     *
     * @return the number of the version
     */
    public long publish() {
        return writer.publish();
    }

    /** One run of an update: whether there is nothing left to do. Where others published, the last run throws. */
    boolean attempt(Consumer<? super Writer<K, V>> change, boolean isLast) {
        change.accept(this);
        try {
            if (writer.isChanged()) {
                writer.publish();
            }
            return true;
        } catch (ChangedException outrun) {
            if (isLast) {
                throw outrun;
            }
            return false;
        }
    }

    /** Drops what is pending, and starts from the version that is current by now. */
    void restart() {
        writer.restart();
    }

    /** Gives up what has not been published: nothing is left behind. */
    @Override
    public void close() {
        writer.close();
    }
}
