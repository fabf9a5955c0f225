//! Sparkey's pair of files, over any bytes: the **log** (`.spl`, every put and delete in order) and the **index**
//! (`.spi`, an open-addressing hash table of addresses into the log).
//!
//! ```text
//! key ── hash ──► index: | header 112 B | slot | slot | … |        slot = (hash, address); address 0 = empty
//!                                           │ address
//!                                           ▼
//!                   log: | header 84 B | put k v | delete k | … |  back to back, or in compressed blocks
//! ```
//!
//! What always holds here:
//! 1. **No file is ever opened.** Readers take anything that gives `&[u8]`, writers anything that writes and seeks.
//! 2. **No length is believed before the bytes are seen.** Damaged or hostile bytes give an [`Error`], or what they plainly
//!    say; never a panic, an endless loop, or memory that the bytes do not justify.
//! 3. **Readers are `Send + Sync`** and need `&self` only. An uncompressed value is a slice of the bytes given.
//!    A lookup looks to about its entry, and need not see what is broken behind it; [`Table::verify`] looks at everything.
//! 4. **The log is the truth.** An index can be rebuilt from it at any time, and says nothing that the log does not.
//!
//! [`Shards`] are tables that divide the keys among them, as Scio writes them.
//!
//! The layouts are on pages that the tests read: `docs/format/sparkey-log.md`, `docs/format/sparkey-index.md`,
//! `docs/format/sparkey-shards.md`.
//!
//! ```
//! use hammerspace_sparkey::{IndexOptions, Log, LogOptions, LogWriter, Table, build_index};
//! use std::io::Cursor;
//!
//! let mut writer = LogWriter::create(Cursor::new(Vec::new()), &LogOptions::default())?;
//! writer.put(b"apple", b"red")?;
//! writer.put(b"lemon", b"yellow")?;
//! writer.put(b"apple", b"green")?;
//! let (sink, header) = writer.finish()?;
//! assert_eq!(header.num_puts, 3);
//!
//! let log = Log::open(sink.into_inner())?;
//! let index = build_index(&log, &IndexOptions::default())?;
//! let table = Table::open(log.into_inner(), index)?;
//! assert_eq!(table.len(), 2);
//! assert_eq!(table.get(b"apple")?.as_deref(), Some(&b"green"[..]));
//! assert_eq!(table.get(b"pear")?, None);
//! # Ok::<(), hammerspace_error::Error>(())
//! ```
//!
//! [`Error`]: hammerspace_error::Error
#![forbid(unsafe_code)]

mod aligned;
mod cache;
mod codec;
mod fast_path;
mod fault;
mod index;
mod live;
mod log;
mod report;
mod shards;
mod table;

pub use cache::{BlockCache, CachedValue};
pub use codec::Compression;
pub use index::Index;
pub use index::as_c::build_index_as_c;
pub use index::builder::IndexOptions;
pub use index::bulk::{Effort, build_index, write_index};
pub use index::header::{HashSize, IndexHeader};
pub use index::update::update_index;
pub use live::Live;
pub use log::Log;
pub use log::cursor::{Cursor, CursorState};
pub use log::entries::Entries;
pub use log::entry::{Address, Entry, EntryKind, KEY_LEN_MAX};
pub use log::header::LogHeader;
pub use log::writer::{BLOCK_SIZE_MIN, LogOptions, LogWriter};
pub use report::Report;
pub use shards::{ShardKeys, Shards};
pub use table::{Found, Table};
