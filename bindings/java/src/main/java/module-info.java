/** Spaces: one copy of a map per machine, off every heap, shared by all processes, replaced while they read. */
module hammerspace {
    exports hammerspace;
}
