package hammerspace;

/**
 * One version of a space, as it was and stays: for reads that must agree while other threads refresh.
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public final class Snapshot<K, V> extends SpaceReader<K, V> {
    Snapshot(NativeReader reader, Codec<K> keys, Codec<V> values) {
        super(reader, keys, values);
    }
}
