package hammerspace;

/** A walk through one version. */
final class NativePairs extends Handle {
    NativePairs(long address) {
        super(address, NativePairs::free);
    }

    private static native void free(long address);

    /** The next keys and values in turn, {@link Packed}; no bytes at the end. */
    native byte[] next();
}
