package hammerspace;

/** A Sparkey log that is written. */
final class NativeLog extends Handle {
    NativeLog(long address) {
        super(address, NativeLog::free);
    }

    /** Gives the address of a new log. */
    static native long create(byte[] file, String compression, int blockSize);

    /** Gives the address of a log that goes on. */
    static native long append(byte[] file);

    /** Gives the number of entries. */
    static native long writeHash(byte[] file);

    private static native void free(long address);

    native void put(byte[] key, byte[] value);

    native void delete(byte[] key);

    native void finish();

    native boolean close();
}
