package hammerspace;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;

/** Walks through the pairs of a version. Each is for one thread. */
final class Entries<K, V> implements Iterator<Map.Entry<K, V>> {
    private final NativePairs pairs;
    private final Codec<K> keys;
    private final Codec<V> values;

    /** Those that have crossed and were not given yet; null at the end. */
    private Packed packed = new Packed(new byte[0]);

    Entries(NativePairs pairs, Codec<K> keys, Codec<V> values) {
        this.pairs = pairs;
        this.keys = keys;
        this.values = values;
    }

    @Override
    public boolean hasNext() {
        if (packed != null && !packed.hasNext()) {
            Packed more = new Packed(pairs.next());
            packed = more.hasNext() ? more : null;
        }
        return packed != null;
    }

    @Override
    public Map.Entry<K, V> next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return new SimpleImmutableEntry<>(packed.next(keys), packed.next(values));
    }
}
