package hammerspace;

/** Something that must be there is not: create it, or correct the path. (A missing key is null.) */
public final class MissingException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    MissingException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
