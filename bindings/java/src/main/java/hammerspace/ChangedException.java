package hammerspace;

/** The data changed since it was read, so a change to it was not made: read again, and make the change again. */
public final class ChangedException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    ChangedException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
