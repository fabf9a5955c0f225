package hammerspace;

/** Something else holds what is needed: try again later. */
public final class BusyException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    BusyException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
