//! The operating system, made safe: everyone above this crate sees slices, numbers and errors.
//!
//! - [`Dir`] and [`File`]: every change to the file system that Hammerspace makes goes through these two, and therefore
//!   through [`trace`], where a test records it, cuts the power in front of it, or makes it fail.
//! - [`Target`]: what the path of an output leads to, and [`Rights`] that its new file keeps.
//! - [`ProcessFile`]: a file that only this process writes to and has locked, and none that is forked from it.
//! - [`Map`]: a file as a slice, its pages as [`Paging`] says. [`Word`]: one 64-bit number in a file, shared between processes.
//! - [`Shared`]: memory that is written while it is read, as atomic words. [`Buffer`]: memory of one's own.
//! - [`clock`], [`process`], [`prefetch()`], [`stream()`]: small things that need a system call or an instruction.
//!
//! What always holds:
//! 1. Descriptors are close-on-exec.
//! 2. A lock ends with the process that took it, or when its [`ProcessFile`] is dropped, whatever was forked meanwhile; dropped in a forked
//!    child, it does not.
//! 3. Paths appear in messages only. Names are resolved against an open directory, so a directory that is renamed or
//!    replaced meanwhile cannot mix two versions of its files.

mod buffer;
pub mod clock;
mod close_on_fork;
mod dir;
mod file;
mod map;
mod paging;
mod prefetch;
pub mod process;
mod process_file;
mod shared;
mod stream;
mod target;
pub mod trace;
mod word;

pub use buffer::Buffer;
pub use dir::{Dir, Entry, EntryKind};
pub use file::{Capacity, File};
pub use map::Map;
pub use paging::{HUGE_PAGE, Paging};
pub use prefetch::{prefetch, prefetch_at};
pub use process_file::{Owner, ProcessFile};
pub use shared::{Access, Shared};
pub use stream::stream;
pub use target::{Rights, Target};
pub use word::Word;
