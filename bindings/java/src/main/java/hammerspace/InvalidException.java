package hammerspace;

/** The caller asked for something that cannot be: change the call. */
public final class InvalidException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    InvalidException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }

    /** An error that Java finds. */
    InvalidException(String finding, String remedy) {
        this(finding + "; " + remedy, finding, null, -1, remedy);
    }
}
