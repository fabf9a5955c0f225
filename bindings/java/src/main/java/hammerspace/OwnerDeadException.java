package hammerspace;

/** The process that owns the data died: adopt the data, or restart the owner. */
public final class OwnerDeadException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    OwnerDeadException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
