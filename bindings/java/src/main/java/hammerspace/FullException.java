package hammerspace;

/** A full disk, a memory limit, or a limit of a format: make room. */
public final class FullException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    FullException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
