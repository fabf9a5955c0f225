package hammerspace;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * A version on disk.
 *
 * @param number rises with each publication; empty for a version that Airbnb's gem wrote
 * @param uid the name of its directory
 * @param isCurrent whether it is the one that readers open
 * @param entries keys in it; empty where the index is damaged
 * @param bytes length of its files
 * @param published when it was published
 */
public record Version(
        OptionalLong number, String uid, boolean isCurrent, OptionalLong entries, long bytes, Instant published) {
    /** Called by the library; -1 stands for nothing. */
    static Version of(
            long number, String uid, boolean isCurrent, long entries, long bytes, long seconds, int nanoseconds) {
        Instant published = Instant.ofEpochSecond(seconds, nanoseconds);
        return new Version(some(number), uid, isCurrent, some(entries), bytes, published);
    }

    private static OptionalLong some(long number) {
        return number < 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }
}
