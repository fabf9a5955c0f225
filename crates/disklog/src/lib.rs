//! A store's log on disk: changes are appended in groups, and replayed after the machine restarts.
//!
//! ```text
//! append ──► buffer ──► flusher: one block, one write, one sync ──► log/00000002
//!                                                          durable ──► threads that wait for a number
//! store/manifest   which D-segments there are        store/log/00000001   | header | block | block | …
//! ```
//!
//! What always holds:
//! 1. **The log is in the order of the changes of each key.** The caller appends under the key's lock.
//! 2. **A block counts as a whole or not at all.** A batch lies in one block.
//! 3. **A change is durable when the block that holds it is synced**, and so is every change with a lesser
//!    number.
//! 4. **The manifest decides.** A segment that it names is there, or the log is damaged; a segment that it
//!    does not name does not count. A segment is durable before the manifest names it, and what replaces an
//!    old segment is durable before the manifest drops it.
//! 5. **Nothing is written after a sync has failed**, since nobody knows what it left behind.
//!
//! [`Log::append`] never waits for the disk. [`Log::admit`] does, where the disk is behind: callers ask it
//! before they lock anything. The bytes: `docs/format/disk-log.md`, which a test reads.
#![forbid(unsafe_code)]

mod block;
mod files;
mod flush;
mod log;
mod manifest;
mod record;
mod replay;
mod segment;

pub use log::{Extent, Log};
pub use manifest::{Durability, Manifest};
pub use record::{Change, Key, Record};
pub use replay::{Recovered, Recovery, Salvage};

/// The segments' directory, in that of the store.
const SEGMENTS: &str = "log";
