package hammerspace;

/** Anything else that the operating system reports: read the message. */
public final class IoException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    IoException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }

    /** An error that Java finds. */
    IoException(String finding, String remedy, Throwable cause) {
        this(finding + "; " + remedy, finding, null, -1, remedy);
        initCause(cause);
    }
}
