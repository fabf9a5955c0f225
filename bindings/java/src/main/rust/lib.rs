//! Hammerspace for Java: the native methods of the package `hammerspace`.
//!
//! ```text
//! NativeReader ── get, copy, getMany ──▶ byte[]
//!   │  │  └── pin ──▶ NativeView: memory of a ByteBuffer
//!   │  └── pairs ──▶ NativePairs ── next ──▶ byte[], packed
//!   └── writer ──▶ NativeWriter ── publish ──▶ the next version
//! ```
//! Storage logic lives in the crate `hammerspace`, and idiom in Java. Three invariants hold:
//!
//! 1. A native object lives as long as the Java object that holds its address, whether or not that was closed. Closing empties the
//!    native object; a call that comes later finds nothing and throws. See `handle`.
//! 2. A panic arrives as `java.lang.InternalError`, an error as the exception of its kind. See `errors`.
//! 3. Bytes of the heap are copied before a lookup begins: no array is held while a page of a file may have to be read.

mod errors;
mod handle;
mod jvm;
mod options;
mod packed;
mod pairs;
mod pinned;
mod reader;
mod sparkey;
mod versions;
mod view;
mod writer;
