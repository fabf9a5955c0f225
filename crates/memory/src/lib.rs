//! Log-structured memory in a region that its owner changes and any process reads.
//!
//! ```text
//! key ── hash ──► index: pieces of buckets of slots ── address ──► segment: | record | record | … |
//!                 grows a piece at a time                          filled by a head, emptied by the cleaner
//! ```
//!
//! What always holds:
//! 1. **One process changes a region, any process reads it.** Readers write nothing, wait for nobody, and may die at any instant.
//! 2. **A reader may look at any instant.** Every store leaves the region such that a read gives what was true, or begins anew.
//!    So a dead owner leaves a region that the next one has little to do about (`adopt.rs`).
//! 3. **Nothing in a region is a pointer**, and nothing in it is believed: an address outside reads as zeros.
//! 4. **Everything shared is an atomic word**, so there is no unsafe code here: the mapping is `os`'s business.
//!
//! The layouts are on pages that the tests read: `docs/format/region.md`, `docs/format/store.md`. Why it is so: `docs/design/memory.md`.
#![forbid(unsafe_code)]

mod adopt;
mod batch;
mod batch_parts;
mod batch_room;
mod change;
mod cleaner;
mod commit;
mod counters;
mod description;
mod expiries;
mod features;
#[cfg(test)]
mod fixture;
mod flaw;
mod flight;
mod geometry;
mod head;
mod header;
mod holes;
mod home;
mod index;
mod intent;
mod key;
mod large;
mod memory;
mod options;
mod owner;
mod parts;
mod passes;
mod plan;
mod pool;
mod purge;
mod read;
mod reader;
mod record;
mod region;
mod region_file;
mod regions;
mod room;
mod scan;
mod seat;
mod segment;
mod staged;
mod sync;
mod threads;
mod update;
mod verify;
mod victims;
mod view;
mod walk;
mod words;

// The tests of modules look at a memory in the end as all others do, and those of schedules play as those of threads and processes do.
#[cfg(test)]
extern crate self as hammerspace_memory;
#[cfg(test)]
#[path = "../tests/it/caller.rs"]
mod caller;
#[cfg(test)]
mod schedules;
#[cfg(test)]
#[expect(dead_code, reason = "here they have no stores with a name")]
#[path = "../tests/it/sound.rs"]
mod sound;

pub use change::{Change, Decision, Large, Old, Updated, Value};
pub use cleaner::Stats;
pub use commit::{CommitHook, Committed, Effect};
pub use counters::{Counted, INTERNAL_TABLES};
pub use geometry::Geometry;
pub use key::{KEY_LEN_MAX, Key, OwnedKey};
pub use large::VALUE_LEN_MAX;
pub use memory::Memory;
pub use options::Options;
pub use read::Meta;
pub use reader::Reader;
pub use regions::{RegionInfo, RegionState, regions};
pub use scan::{Cursor, Item};
pub use staged::Present;
pub use update::TableId;
pub use verify::Report;
pub use view::{CATALOGUE_MAX, Usage, View};
