//! Log-structured memory in a region that its owner changes and any process reads.
//!
//! ```text
//! key ── hash ──► index: pages of buckets of slots ── address ──► segment: | record | record | … |
//!                 grows a page at a time                          filled by a head, emptied by the cleaner
//! ```
//!
//! What always holds:
//! 1. **One process changes a region, any process reads it.** Readers write nothing, wait for nobody, and may
//!    die at any instant.
//! 2. **A reader may look at any instant.** Every store leaves the region such that a read gives what was
//!    true, or begins anew. So a dead owner leaves a region that the next one has little to do about
//!    (`adopt.rs`).
//! 3. **Nothing in a region is a pointer**, and nothing in it is believed: an address outside reads as zeros.
//! 4. **Everything shared is an atomic word**, so there is no unsafe code here: the mapping is `os`'s
//!    business.
//!
//! The layouts are on pages that the tests read: `docs/format/region.md`, `docs/format/store.md`. Why it is
//! so: `docs/design/memory.md`.
#![forbid(unsafe_code)]

mod alloc;
mod batch;
mod clean;
mod index;
mod memory;
mod options;
mod owner;
mod parts;
mod read;
mod record;
mod recover;
mod region;
mod restore;
mod store_dir;
mod sync;
mod testing;
mod write;

// The tests of modules look at a memory in the end as all others do, and those of schedules play as those of
// threads and processes do.
#[cfg(test)]
extern crate self as hammerspace_memory;
#[cfg(test)]
#[path = "../tests/it/caller.rs"]
mod caller;
#[cfg(test)]
#[expect(dead_code, reason = "here they have no stores with a name")]
#[path = "../tests/it/sound.rs"]
mod sound;

pub use batch::staged::Present;
pub use clean::cleaner::Stats;
pub use memory::Memory;
pub use options::Options;
pub use parts::large::VALUE_LEN_MAX;
pub use read::Meta;
pub use read::reader::Reader;
pub use read::scan::{Cursor, Item};
pub use read::view::{CATALOGUE_MAX, Usage, View};
pub use record::key::{KEY_LEN_MAX, Key, OwnedKey};
pub use recover::verify::Report;
pub use region::counters::{Counted, INTERNAL_TABLES};
pub use region::geometry::Geometry;
pub use restore::{Restored, Watermark};
pub use store_dir::regions::{RegionInfo, RegionState, regions};
pub use write::change::{Change, Decision, Old, PartsRef, Updated, Value};
pub use write::commit::{CommitHook, Committed, Effect};
pub use write::update::TableId;
