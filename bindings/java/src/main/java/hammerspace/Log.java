package hammerspace;

import java.util.Objects;

/**
 * A Sparkey log that is written: see {@link Sparkey#createNew} and {@link Sparkey#append}. Nothing of it is seen before {@link #writeHash}
 * or {@link #finish}; one that is closed before that leaves what was there. Threads may share one, and take turns.
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public final class Log<K, V> implements AutoCloseable {
    private final NativeLog log;
    private final byte[] file;
    private final Codec<K> keys;
    private final Codec<V> values;

    Log(NativeLog log, byte[] file, Codec<K> keys, Codec<V> values) {
        this.log = log;
        this.file = file;
        this.keys = Objects.requireNonNull(keys, "the codec of keys");
        this.values = Objects.requireNonNull(values, "the codec of values");
    }

    /**
     * The same log with keys and values that are something else in Java.
     *
     * @param <A> what keys are in Java
     * @param <B> what values are in Java
     * @param keys how they are converted
     * @param values how they are converted
     * @return this log, seen otherwise
     */
    public <A, B> Log<A, B> withCodecs(Codec<A> keys, Codec<B> values) {
        return new Log<>(log, file, keys, values);
    }

    private byte[] bytesOf(K key) {
        return keys.encode(Objects.requireNonNull(key, "the key"));
    }

    /**
     * Gives a key this value from here on.
     *
     * @param key shorter than 2 GiB
     * @param value of any length
     */
    public void put(K key, V value) {
        log.put(bytesOf(key), values.encode(Objects.requireNonNull(value, "the value")));
    }

    /**
     * Ends the life of a key, which need not have one.
     *
     * @param key what to remove
     */
    public void delete(K key) {
        log.delete(bytesOf(key));
    }

    /** Ends the log: it is durable, and visible under its name. Its index does not know the new entries. */
    public void finish() {
        log.finish();
    }

    /**
     * Ends the log, and builds its index.
     *
     * @return how many keys there are
     */
    public long writeHash() {
        log.finish();
        return NativeLog.writeHash(file);
    }

    /** Gives up what is not finished. */
    @Override
    public void close() {
        log.close();
    }
}
