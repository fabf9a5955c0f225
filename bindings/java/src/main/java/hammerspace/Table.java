package hammerspace;

/**
 * A Sparkey log and its index, in files of any name: see {@link Sparkey#open}. It stays what it was when it was opened, whatever takes
 * the place of the files.
 *
 * @param <K> what keys are in Java
 * @param <V> what values are in Java
 */
public final class Table<K, V> extends SpaceReader<K, V> {
    Table(NativeReader reader, Codec<K> keys, Codec<V> values) {
        super(reader, keys, values);
    }

    /**
     * The same table with keys and values that are something else in Java. Where one is closed the other is.
     *
     * @param <A> what keys are in Java
     * @param <B> what values are in Java
     * @param keys how they are converted
     * @param values how they are converted
     * @return this table, seen otherwise
     */
    public <A, B> Table<A, B> withCodecs(Codec<A> keys, Codec<B> values) {
        return new Table<>(reader, keys, values);
    }
}
