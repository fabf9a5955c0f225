package hammerspace;

import java.nio.ByteBuffer;

/** What a space or a snapshot is in Rust. Keys and values are bytes; null stands for a value that is not there. */
final class NativeReader extends Handle {
    /** What {@link #copy} gives where there is no value. */
    static final int ABSENT = -1;

    NativeReader(long address) {
        super(address, NativeReader::free);
    }

    /** Gives the address of a space. */
    static native long open(byte[] path, boolean create, String options);

    /** Gives the address of a Sparkey table, by the name of its log or index. */
    static native long openTable(byte[] file);

    private static native void free(long address);

    /** Empties it: what is called later throws. What is under way ends as it began. */
    native void close();

    /** Gives the address of a snapshot. */
    native long snapshot();

    native byte[] get(byte[] key);

    /** Gives the length of the value, which is copied if it is no more than there is room for. */
    native int copy(byte[] key, byte[] into, int at, int room);

    /** The same, into a direct buffer. */
    native int copyDirect(byte[] key, ByteBuffer into, int at, int room);

    /** Takes and gives {@link Packed} bytes. */
    native byte[] getMany(byte[] keys);

    native boolean contains(byte[] key);

    native long size();

    /** Zero where the version has none. */
    native long number();

    native boolean refresh();

    native void clear();

    /** Zero for the version before the current one. */
    native long rollback(long number);

    native Version[] versions();

    /** Gives the address of a {@link NativeWriter} that starts from the current version. */
    native long writer();

    /** Gives the address of one that starts empty. */
    native long replace();

    /** Gives the address of one that has waited for its turn. */
    native long updater();

    /** Gives the address of {@link NativePairs}. */
    native long pairs();

    /** Gives the address for a {@link NativeView}; zero where there is no value. */
    native long pin(byte[] key);
}
