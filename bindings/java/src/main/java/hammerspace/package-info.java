/**
 * Maps in directories, shared by every process of a machine.
 *
 * <p>{@link hammerspace.Space#open} opens one. It is read like a map, one version at a time, and replaced as a whole by a
 * {@link hammerspace.Writer}. Keys and values are bytes in files; a {@link hammerspace.Codec} says what they are in Java.
 *
 * <p>Errors are {@link hammerspace.HammerspaceException}s of ten kinds, none of them checked. All classes may be shared by
 * threads; to close something that another thread reads is safe, and the other thread gets an {@link hammerspace.InvalidException}.
 */
package hammerspace;
