package hammerspace;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Why something failed: what was found, where, and what to do. The message says all of it.
 *
 * <p>There is one subclass for each kind of error. A kind is what to do about it; the list is closed, and the same in every
 * language.
 */
public abstract sealed class HammerspaceException extends RuntimeException
        permits CorruptException,
                UnsupportedException,
                BusyException,
                FullException,
                InvalidException,
                PermissionException,
                MissingException,
                OwnerDeadException,
                IoException,
                ChangedException {
    private static final long serialVersionUID = 1;

    /** What was found, without place and remedy. */
    private final String finding;

    /** The file it was found in, or null. */
    private final String file;

    /** In bytes from the start of the file, or -1. */
    private final long offset;

    /** What to do about it, or null. */
    private final String remedy;

    HammerspaceException(String message, String finding, String file, long offset, String remedy) {
        super(message);
        this.finding = finding;
        this.file = file;
        this.offset = offset;
        this.remedy = remedy;
    }

    /**
     * What was found.
     *
     * @return a sentence without place and remedy
     */
    public final String finding() {
        return finding;
    }

    /**
     * The file or directory it was found in.
     *
     * @return its path, where the error is about one; as text, since not every path is a {@code Path} in every locale
     */
    public final Optional<String> file() {
        return Optional.ofNullable(file);
    }

    /**
     * Where in the file it was found.
     *
     * @return bytes from the start of the file, where the error is about some
     */
    public final OptionalLong offset() {
        return offset < 0 ? OptionalLong.empty() : OptionalLong.of(offset);
    }

    /**
     * What to do about it.
     *
     * @return advice, where there is some beyond that of the kind
     */
    public final Optional<String> remedy() {
        return Optional.ofNullable(remedy);
    }
}
