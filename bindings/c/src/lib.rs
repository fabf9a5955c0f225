//! Hammerspace for C: `libhammerspace`, and `hammerspace.h`, which cbindgen writes from these files.
//!
//! ```text
//! space ──snapshot──▶ table ──get, get_many──▶ value
//!   │      log, index ──▶ │
//!   └──writer──▶ publish  └──cursor──▶ key, value
//! ```
//! The documentation of an item is its documentation in the header; what holds for all is at the head of `cbindgen.toml`.
//! No logic lives here. What always holds:
//!
//! 1. A handle is a `Box` that its `_free` takes back. As arguments they are references, as results they are boxes: so the
//!    compiler sees who owns what, and a NULL is a `None`. That a pointer is one of ours, alive, and not used by two threads
//!    at once where it is mutable, is the caller's promise, given by the rules of the header.
//! 2. Results are written to memory that may be uninitialised (`MaybeUninit`), on failure as "nothing".
//! 3. Every function that can fail runs in [`error::answer`] or [`error::fill`]: a panic becomes an error, and goes no
//!    further. The others do nothing that could panic; if one did, `extern "C"` would end the process.
//! 4. A function that takes a raw pointer is `unsafe`: it reads or writes memory that the caller promises is valid.

#![expect(clippy::missing_safety_doc, reason = "one contract holds for all exports: the head of the header")]

pub mod bytes;
pub mod cursor;
pub mod error;
pub mod findings;
pub mod log;
pub mod options;
pub mod plural;
pub mod shards;
pub mod space;
pub mod table;
pub mod versions;
pub mod writer;

use std::ffi::c_char;

/// The version of this library, such as "0.1.0". Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
