package hammerspace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Loads the native library: the file that the property {@value #PROPERTY} names, else the one in the jar.
 *
 * <p>That one is copied to a new directory that only the user may enter, and removed as soon as it is loaded: the process keeps what
 * it has mapped.
 */
final class Library {
    static final String PROPERTY = "hammerspace.library";

    private static final String FILE = "libhammerspace_java.so";

    private static boolean loaded;

    private Library() {}

    /** Nothing happens from the second time on. What went wrong goes wrong again. */
    static synchronized void load() {
        if (loaded) {
            return;
        }
        String named = System.getProperty(PROPERTY);
        if (named == null) {
            loadFromJar();
        } else {
            link(Path.of(named).toAbsolutePath());
        }
        loaded = true;
    }

    private static void loadFromJar() {
        String platform = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
        try (InputStream library = Library.class.getResourceAsStream("native/" + platform + "/" + FILE)) {
            if (library == null) {
                throw new UnsupportedException("this jar has no library for " + platform, remedy());
            }
            linkCopy(library);
        } catch (IOException failure) {
            String finding = "the library cannot be copied out of its jar: " + failure;
            throw new IoException(finding, "make room in java.io.tmpdir, or " + remedy(), failure);
        }
    }

    private static void linkCopy(InputStream library) throws IOException {
        Path directory = privateDirectory();
        Path copy = directory.resolve(FILE);
        try {
            Files.copy(library, copy);
            link(copy);
        } finally {
            Files.deleteIfExists(copy);
            Files.delete(directory);
        }
    }

    static Path privateDirectory() throws IOException {
        var onlyUs = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        return Files.createTempDirectory("hammerspace-", onlyUs);
    }

    private static void link(Path library) {
        try {
            System.load(library.toString());
        } catch (UnsatisfiedLinkError failure) {
            String finding = library + " cannot be loaded: " + failure.getMessage();
            throw new IoException(finding, "if its file system forbids it, set java.io.tmpdir, or " + remedy(), failure);
        }
    }

    private static String remedy() {
        return "name a library with -D" + PROPERTY + "=FILE";
    }
}
