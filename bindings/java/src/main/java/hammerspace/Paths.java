package hammerspace;

import java.io.ByteArrayOutputStream;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;

/** Paths as the operating system has them. */
final class Paths {
    private Paths() {}

    /**
     * The bytes of an absolute path. A path has them, but shows them through its URI only: as text they depend on the locale, which
     * may have no letters for them.
     */
    static byte[] bytes(Path path) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new InvalidException(path + " is in no file system of this machine", "give a path of the default file system");
        }
        String escaped = path.toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int at = 0; at < escaped.length(); at++) {
            if (escaped.charAt(at) == '%') {
                bytes.write(Integer.parseInt(escaped, at + 1, at + 3, 16));
                at += 2;
            } else {
                bytes.write(escaped.charAt(at));
            }
        }
        return withoutSlash(bytes.toByteArray());
    }

    /** The URI of a directory ends with a slash. */
    private static byte[] withoutSlash(byte[] path) {
        boolean ends = path.length > 1 && path[path.length - 1] == '/';
        return ends ? Arrays.copyOf(path, path.length - 1) : path;
    }
}
