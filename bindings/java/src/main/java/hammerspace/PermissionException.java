package hammerspace;

/** The operating system denies access: change the rights or the user. */
public final class PermissionException extends HammerspaceException {
    private static final long serialVersionUID = 1;

    PermissionException(String message, String finding, String file, long offset, String remedy) {
        super(message, finding, file, offset, remedy);
    }
}
