package hammerspace;

/** What a writer is in Rust. */
final class NativeWriter extends Handle {
    NativeWriter(long address) {
        super(address, NativeWriter::free);
    }

    private static native void free(long address);

    native void put(byte[] key, byte[] value);

    native void delete(byte[] key);

    native byte[] get(byte[] key);

    native long size();

    native byte[][] keys();

    native void clear();

    /** Drops what is pending, and starts from the current version. */
    native void restart();

    native boolean isChanged();

    native long publish();

    native void close();
}
