package hammerspace;

/** Well-formed, but newer than this build, or an option that it does not have: use a newer build. */
public final class UnsupportedException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    UnsupportedException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }

    /** An error that Java finds. */
    UnsupportedException(String finding, String remedy) {
        this(finding + "; " + remedy, finding, null, -1, remedy);
    }
}
