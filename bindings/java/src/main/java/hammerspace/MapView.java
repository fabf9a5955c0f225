package hammerspace;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/** What {@link SpaceReader#asMap} gives. */
final class MapView<K, V> extends AbstractMap<K, V> {
    private final SpaceReader<K, V> reader;

    MapView(SpaceReader<K, V> reader) {
        this.reader = reader;
    }

    /** A key of another class is a {@link ClassCastException} of the codec's, as {@link Map} allows. */
    @SuppressWarnings("unchecked")
    private K keyOf(Object key) {
        return (K) key;
    }

    @Override
    public V get(Object key) {
        return reader.get(keyOf(key));
    }

    @Override
    public boolean containsKey(Object key) {
        return reader.contains(keyOf(key));
    }

    @Override
    public int size() {
        return (int) Math.min(reader.size(), Integer.MAX_VALUE);
    }

    @Override
    public V remove(Object key) {
        throw readOnly();
    }

    @Override
    public V put(K key, V value) {
        throw readOnly();
    }

    @Override
    public void clear() {
        throw readOnly();
    }

    private static UnsupportedOperationException readOnly() {
        return new UnsupportedOperationException("this map cannot be changed; take a writer of its space, and publish");
    }

    @Override
    public Set<Map.Entry<K, V>> entrySet() {
        return new EntrySet();
    }

    private final class EntrySet extends AbstractSet<Map.Entry<K, V>> {
        @Override
        public int size() {
            return MapView.this.size();
        }

        @Override
        public Iterator<Map.Entry<K, V>> iterator() {
            return reader.entries();
        }

        @Override
        public boolean contains(Object other) {
            if (!(other instanceof Map.Entry<?, ?> entry) || entry.getKey() == null) {
                return false;
            }
            V value = get(entry.getKey());
            return value != null && value.equals(entry.getValue());
        }

        @Override
        public boolean remove(Object other) {
            throw readOnly();
        }

        @Override
        public void clear() {
            throw readOnly();
        }
    }
}
