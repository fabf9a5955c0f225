package hammerspace;

/** How the pages of a version come into memory, and whether they stay. */
public enum Paging {
    /** When they are touched, with a few around them. */
    ON_DEMAND,
    /** When they are touched, and alone: for files larger than memory that are read at random. */
    RANDOM,
    /** The kernel begins to read the file, in the background. */
    PREFETCH,
    /** All of them before opening returns. */
    POPULATE,
    /** All of them, and they stay in memory. Needs the right to lock so much: {@code ulimit -l}. */
    LOCK,
    /** A private copy in huge pages, which other processes do not share. */
    HUGE_PAGES
}
