//! Spaces: one copy of a hash map per machine, in a directory, replaced as a whole while everybody reads.
//!
//! ```text
//!            writer ──put, delete──▶ PATH/<uid>/ (private) ──publish──┐
//!                                                                     ▼
//! PATH/current ─────────────────────────────────────────────▶ PATH/<uid>/hammerspace.spl, .spi
//!      ▲                                                              ▲
//!      └─ looked up on open and refresh                               └─ mapped by every reader, shared by all of them
//! ```
//!
//! The directory is that of Airbnb's gem of the same name, so its processes and ours can share one
//! (`docs/format/space.md`). What always holds:
//!
//! 1. `current` changes by one rename, under the lock. No reader ever sees a space half-published, or empty in between.
//! 2. A version's files never change once `current` has pointed to it ("Published means frozen" in the design notes).
//! 3. A version loses its name only after another is durably current, so a power cut leaves one of the two.
//! 4. Only its own writer, in its own process, writes or publishes a version; anybody may remove what a dead one left.
//!
//! ```
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path();
//! use hammerspace_space::Space;
//!
//! let space = Space::create(path)?;
//! let mut writer = space.writer()?;
//! writer.put("cartoons", "mallets")?;
//! writer.publish()?;
//!
//! assert!(space.get("cartoons")?.is_none(), "pinned to the version it opened");
//! space.refresh()?;
//! assert_eq!(space.get("cartoons")?.unwrap(), b"mallets");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod adopt;
mod changes;
mod dir_scan;
mod draft;
mod history;
mod layout;
mod lock;
mod options;
mod publish;
mod recognize;
mod snapshot;
mod space;
mod space_dir;
mod space_path;
mod stamp;
mod sweep;
mod turn;
mod update;
mod version;
mod writer;

pub use adopt::{INDEX_FILE, LOG_FILE};
pub use history::VersionInfo;
pub use layout::{lock_page, stamp as stamp_file};
pub use options::{Durability, Options};
pub use snapshot::{Pair, Pairs, Snapshot, Value};
pub use space::Space;
pub use sweep::Collected;
pub use update::Updated;
pub use writer::{Unpublished, Writer};

pub use hammerspace_error::{Error, Kind, Result};
pub use hammerspace_os::Paging;
pub use hammerspace_sparkey::{Address, Compression, Effort, IndexHeader, LogHeader, Report};
