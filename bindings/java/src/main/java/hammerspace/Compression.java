package hammerspace;

/** How the blocks of a version are packed. */
public enum Compression {
    /** Not at all: values are read where they lie. */
    NONE,
    /** Snappy, at 2 µs for a block of 4 KiB. */
    SNAPPY,
    /** Zstandard, smaller, at 10 µs for a block of 4 KiB. */
    ZSTD
}
