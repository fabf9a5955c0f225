package hammerspace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Many keys or values in one array, so that they cross to Rust and back in one call.
 *
 * <pre>
 * | length | bytes | length | bytes | …      length: 4 bytes, little-endian; -1 where there is none
 * </pre>
 */
final class Packed {
    private static final VarHandle LENGTH =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[] bytes;
    private int at;

    /** Reads what was packed. */
    Packed(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Packs pieces, some of which may be null. */
    static byte[] of(byte[][] pieces) {
        byte[] packed = new byte[size(pieces)];
        int at = 0;
        for (byte[] piece : pieces) {
            LENGTH.set(packed, at, piece == null ? -1 : piece.length);
            at += Integer.BYTES;
            if (piece != null) {
                System.arraycopy(piece, 0, packed, at, piece.length);
                at += piece.length;
            }
        }
        return packed;
    }

    private static int size(byte[][] pieces) {
        long size = 0;
        for (byte[] piece : pieces) {
            size += Integer.BYTES + (piece == null ? 0 : piece.length);
        }
        if (size > Integer.MAX_VALUE - 8) {
            throw new InvalidException("the keys have " + size + " bytes in all", "ask for fewer at once");
        }
        return (int) size;
    }

    boolean hasNext() {
        return at < bytes.length;
    }

    /** The next piece, decoded; null where there is none. */
    <T> T next(Codec<T> codec) {
        int length = (int) LENGTH.get(bytes, at);
        int from = at + Integer.BYTES;
        at = from + Math.max(length, 0);
        return length < 0 ? null : codec.decode(bytes, from, at);
    }
}
