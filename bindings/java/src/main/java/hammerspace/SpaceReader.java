package hammerspace;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * What a {@link Space}, a {@link Snapshot} of it, and a Sparkey {@link Table} have in common: lookups.
 *
 * <p>Threads may share one. Lookups take no lock, and make no system call.
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public abstract sealed class SpaceReader<K, V> implements AutoCloseable permits Space, Snapshot, Table {
    final NativeReader reader;
    final Codec<K> keys;
    final Codec<V> values;

    SpaceReader(NativeReader reader, Codec<K> keys, Codec<V> values) {
        this.reader = reader;
        this.keys = Objects.requireNonNull(keys, "the codec of keys");
        this.values = Objects.requireNonNull(values, "the codec of values");
    }

    /** The bytes of a key that is looked up; null if no space can have it. */
    private byte[] bytesOf(K key) {
        Objects.requireNonNull(key, "the key");
        try {
            return keys.encode(key);
        } catch (InvalidException impossible) {
            return null;
        }
    }

    /**
     * The value of a key, copied to the heap. O(1).
     *
     * @param key what to look up
     * @return its value, or null where there is none
     */
    public final V get(K key) {
        byte[] bytes = bytesOf(key);
        byte[] found = bytes == null ? null : reader.get(bytes);
        return found == null ? null : values.decode(found);
    }

    /**
     * Copies the value of a key to a buffer, at its position, which moves past it. Where it is longer than what remains of the
     * buffer, nothing is copied. With {@link Codec#BYTES} for keys, nothing is allocated.
     *
     * @param key what to look up
     * @param into a buffer on the heap or a direct one
     * @return the length of the value in bytes, whether it was copied or not; -1 where there is none
     */
    public final int read(K key, ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        byte[] bytes = bytesOf(key);
        if (bytes == null) {
            return NativeReader.ABSENT;
        }
        // Native code writes there, so the bounds hold even if another thread moves them meanwhile.
        int limit = into.limit();
        int at = Math.min(into.position(), limit);
        int room = limit - at;
        int length = into.hasArray()
                ? reader.copy(bytes, into.array(), into.arrayOffset() + at, room)
                : reader.copyDirect(bytes, into, at, room);
        if (length > 0 && length <= room) {
            into.position(at + length);
        }
        return length;
    }

    /**
     * The value of a key where it lies: in memory that all processes share. Nothing is copied, unless the version is compressed.
     *
     * <p>The buffer and all that is made from it keep the version, however often the space is refreshed, replaced, cleared or closed.
     * Its memory is given back once the collector finds that none of them can be reached.
     *
     * @param key what to look up
     * @return a read-only direct buffer, or null where there is no value
     */
    public final ByteBuffer view(K key) {
        byte[] bytes = bytesOf(key);
        long address = bytes == null ? 0 : reader.pin(bytes);
        return address == 0 ? null : NativeView.of(address);
    }

    /**
     * The values of many keys, all of one version: the fastest way to read, since it waits for the memory of many keys at once.
     *
     * @param wanted what to look up
     * @return the values in the order of the keys, null where there is none
     */
    public final List<V> getMany(Collection<? extends K> wanted) {
        byte[][] pieces = new byte[wanted.size()][];
        int count = 0;
        for (K key : wanted) {
            pieces[count++] = bytesOf(key);
        }
        Packed packed = new Packed(reader.getMany(Packed.of(pieces)));
        List<V> found = new ArrayList<>(count);
        while (packed.hasNext()) {
            found.add(packed.next(values));
        }
        return found;
    }

    /**
     * Whether there is such a key. O(1).
     *
     * @param key what to look up
     * @return whether it has a value
     */
    public final boolean contains(K key) {
        byte[] bytes = bytesOf(key);
        return bytes != null && reader.contains(bytes);
    }

    /**
     * How many keys there are. O(1).
     *
     * @return a number of keys
     */
    public final long size() {
        return reader.size();
    }

    /**
     * Whether there are no keys.
     *
     * @return whether there are none
     */
    public final boolean isEmpty() {
        return size() == 0;
    }

    /**
     * The number of the version that is read.
     *
     * @return a number from 1 on; empty where the space is empty, or the version was written by Airbnb's gem
     */
    public final OptionalLong version() {
        long number = reader.number();
        return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    /**
     * The same as a map that cannot be changed. Iteration is in the order in which keys were last written, and in the version in
     * which it began. The map of a space moves on as the space is refreshed; that of a snapshot stays.
     *
     * @return a view, which costs nothing
     */
    public final Map<K, V> asMap() {
        return new MapView<>(this);
    }

    /** All pairs of the version as it is now. */
    final Entries<K, V> entries() {
        return new Entries<>(new NativePairs(reader.pairs()), keys, values);
    }

    /** Lets go of what is read. A later read through it throws an {@link InvalidException}; what is under way ends well. */
    @Override
    public void close() {
        reader.close();
    }
}
