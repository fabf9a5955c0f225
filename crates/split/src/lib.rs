//! One file per value of a field: `2011-06-20.csv`, `2011-06-21.csv` and so on, in one directory.
//!
//! ```text
//! record ─▶ By ─▶ value ─▶ Name ─▶ Split ── a private file for each name ── commit ─▶ DIR/NAME.EXTENSION
//!                                                                  └─ under the lock of the directory
//! ```
//! A run writes to files of its own, whatever other runs do meanwhile. When all are complete it takes the lock of the
//! directory and gives them their names: alone, in place of what is there, or together with it.
//!
//! What always holds:
//! 1. A visible file is complete and durable. It changes by one rename.
//! 2. All files of a run become visible or none, also if the process is killed: a journal is written before the first
//!    rename, and the next run finishes what it lists.
//! 3. Two values never share a file, but for those that cannot name one; a report says where each went.
//! 4. At most so many files are open as the options say.
//!
//! ```
//! use hammerspace_split::{By, Options, Split};
//!
//! let dir = tempfile::tempdir()?;
//! let by: By = "day(ts)".parse()?;
//! let mut split = Split::begin(dir.path(), Options::new("ndjson"))?;
//! for line in ["{\"ts\":\"2011-06-21T00:10:00Z\"}\n", "{\"ts\":\"2011-06-20T23:00:00Z\"}\n"] {
//!     split.append(&by.of_json(line.as_bytes()), line.as_bytes())?;
//! }
//! split.commit()?;
//! assert!(dir.path().join("2011-06-20.ndjson").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod by;
mod directory;
mod journal;
mod name;
mod pool;
mod split;

pub use by::{By, Value, instant};
pub use hammerspace_error::{Error, Kind, Result};
pub use name::Name;
pub use pool::Staged;
pub use split::{Committed, Merge, OnExisting, Options, Split, Written};
