package hammerspace;

import java.nio.ByteBuffer;

/**
 * A value where it lies, as a buffer.
 *
 * <p>A buffer that is made from a direct buffer keeps that one alive, else memory of {@link ByteBuffer#allocateDirect} would be
 * freed under its slices. So the native view is freed once the first buffer cannot be reached.
 */
final class NativeView {
    private NativeView() {}

    /** Takes ownership of the view at an address. */
    static ByteBuffer of(long address) {
        ByteBuffer first;
        try {
            first = buffer(address);
            Handle.CLEANER.register(first, () -> free(address));
        } catch (Throwable failure) {
            free(address);
            throw failure;
        }
        return first.asReadOnlyBuffer();
    }

    private static native ByteBuffer buffer(long address);

    private static native void free(long address);
}
