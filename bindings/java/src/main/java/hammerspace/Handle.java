package hammerspace;

import java.lang.ref.Cleaner;
import java.util.function.LongConsumer;

/**
 * A Java object with a native one, which lives until no thread can reach the Java object.
 *
 * <p>Native methods are methods of the handle itself, never static ones with an address: the JVM keeps the receiver of a native
 * method alive until it returns, so no cleaner frees what it works on.
 */
abstract class Handle {
    /** Frees native objects, in a thread of its own. */
    static final Cleaner CLEANER = Cleaner.create();

    static {
        Library.load();
        register();
    }

    /** Of the native object. Native methods read it. */
    private final long address;

    /** Takes ownership of a native object; {@code free} gets its address, once. */
    Handle(long address, LongConsumer free) {
        this.address = address;
        CLEANER.register(this, () -> free.accept(address));
    }

    /** Tells the library where the address is. */
    private static native void register();
}
