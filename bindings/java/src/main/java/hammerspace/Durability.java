package hammerspace;

/** What a power cut may take. */
public enum Durability {
    /** Nothing that was published. */
    FULL,
    /** What the kernel has not written yet. For data that can be loaded again. */
    NONE
}
