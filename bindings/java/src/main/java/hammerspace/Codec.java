package hammerspace;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What keys or values are in Java, and in files: there they are bytes.
 *
 * <p>Equal keys must have equal bytes, since it is bytes that a space compares. Codecs are used by all threads that use a space.
 *
 * @param <T> what they are in Java
 */
public interface Codec<T> {
    /** Bytes as they are. Arrays are equal to themselves only, so maps of them cannot be searched for a value. */
    Codec<byte[]> BYTES = new Codec<>() {
        @Override
        public byte[] encode(byte[] bytes) {
            return bytes;
        }

        @Override
        public byte[] decode(byte[] bytes) {
            return bytes;
        }
    };

    /**
     * Text as UTF-8. Text that has no UTF-8, lone surrogates, is an {@link InvalidException} where one writes it and found nowhere;
     * so are bytes that are no UTF-8 where they are read.
     */
    Codec<String> TEXT = new Text();

    /** The remaining bytes of a buffer, whose position stays. What comes back is read-only. */
    Codec<ByteBuffer> BUFFER = new Codec<>() {
        @Override
        public byte[] encode(ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(buffer.position(), bytes);
            return bytes;
        }

        @Override
        public ByteBuffer decode(byte[] bytes) {
            return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
        }
    };

    /**
     * The bytes of a key or value. They are not kept, so an array may be given again.
     *
     * @param value what was given, never null
     * @return its bytes, never null
     */
    byte[] encode(T value);

    /**
     * What bytes stand for.
     *
     * @param bytes a key or value of a file, in an array of its own
     * @return what it is in Java
     */
    T decode(byte[] bytes);

    /**
     * What a part of an array stands for. Reading many at once calls this; it copies the part, unless a codec knows better.
     *
     * @param bytes an array, of which nothing may be kept
     * @param from where the part begins
     * @param to where it ends
     * @return what it is in Java
     */
    default T decode(byte[] bytes, int from, int to) {
        return decode(Arrays.copyOfRange(bytes, from, to));
    }
}

/** See {@link Codec#TEXT}. Java's own conversions replace what they cannot convert, which would make one key of several. */
final class Text implements Codec<String> {
    private static final char REPLACED = '\uFFFD';

    @Override
    public byte[] encode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return mayHaveReplaced(bytes) ? encodeStrictly(text) : bytes;
    }

    @Override
    public String decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length);
    }

    @Override
    public String decode(byte[] bytes, int from, int to) {
        String text = new String(bytes, from, to - from, StandardCharsets.UTF_8);
        return text.indexOf(REPLACED) < 0 ? text : decodeStrictly(ByteBuffer.wrap(bytes, from, to - from));
    }

    private static boolean mayHaveReplaced(byte[] bytes) {
        for (byte each : bytes) {
            if (each == '?') {
                return true;
            }
        }
        return false;
    }

    private static byte[] encodeStrictly(String text) {
        try {
            return Codec.BUFFER.encode(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)));
        } catch (CharacterCodingException failure) {
            throw new InvalidException("the text has a surrogate without its other half", "give text, or bytes: Codec.BYTES");
        }
    }

    private static String decodeStrictly(ByteBuffer bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException failure) {
            throw new InvalidException("the bytes are no UTF-8", "read them as bytes: withCodecs and Codec.BYTES");
        }
    }
}
