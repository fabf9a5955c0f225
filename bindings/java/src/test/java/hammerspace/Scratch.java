package hammerspace;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What tests do with spaces of their own. */
final class Scratch {
    /** Nothing here must survive a power cut. */
    static final Options FAST = new Options().durability(Durability.NONE);

    /** The root of the repository. */
    static final Path ROOT = Path.of("").toAbsolutePath().resolve("../..").normalize();

    private Scratch() {}

    static Space<String, String> space(Path path) {
        return FAST.create(path);
    }

    /** So many pairs. */
    static Map<String, String> pairs(int count) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int n = 0; n < count; n++) {
            pairs.put("key " + n, "value " + n);
        }
        return pairs;
    }
}
