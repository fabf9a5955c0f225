package hammerspace;

/** Stored bytes break a promise of their format: restore, rebuild or replace them. */
public final class CorruptException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    CorruptException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
