//! Sparkey tables as files: `sparkey` reads and writes bytes, and here the bytes get names.
//!
//! ```text
//! NAME.spl   the log       LogFile::create, append ──▶ put, delete ──▶ finish
//! NAME.spi   its index     Pair::build_index
//!                          Pair::open ──▶ Table over two mappings
//! DIR/part-00000-of-00008.spl, .spi …     write_shards, open_shards ──▶ Shards of such tables
//! ```
//! What always holds:
//! 1. A file is written under a name of its own and synced before it gets the name it is for: whoever opens that name
//!    sees the old file or the new one, whole, and whoever has the old one open keeps it. A link stays and leads to
//!    the new file, which keeps the old one's rights; a pipe or a device stays and is written into.
//! 2. The one exception is a log that is appended to, by one writer at a time; its header, written last, says how far
//!    readers may look.
//! 3. Only the process that began a file writes or removes it; a forked child's drop leaves it alone.
//!
//! ```
//! # let scratch = tempfile::tempdir()?;
//! # let dir = scratch.path();
//! use hammerspace_tables::{LogFile, Pair};
//!
//! let pair = Pair::of_log(&dir.join("fruits.spl"))?;
//! let mut log = LogFile::create(&pair.log, &Default::default())?;
//! log.put(b"apple", b"red")?;
//! log.finish()?;
//! pair.build_index()?;
//!
//! let table = pair.open()?;
//! assert_eq!(table.get(b"apple")?.as_deref(), Some(&b"red"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod fresh;
mod log_file;
mod output;
mod pair;
mod parallel;
mod shards;

pub use fresh::abandon_outputs;
pub use log_file::LogFile;
pub use output::{replace, scratch, stream};
pub use pair::{Pair, open, open_log};
pub use shards::{Sharding, open_shards, write_shards};
