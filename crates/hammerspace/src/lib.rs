//! One copy of your data per machine: off every heap, shared by every process, read at memory speed, replaced while they
//! read.
//!
//! A [`Space`] is a hash map in a directory. Load it once; open it in every process; all of them read the same physical
//! memory. A new version is built in private and published in one step; each reader moves on when it says so. A [`Store`]
//! changes all the time, key by key, and its readers see each change at once.
//!
//! | | [`Space`] | [`Store`] ([`store`]) |
//! |---|---|---|
//! | for | translations, features, reference data | counters, sessions, events, caches |
//! | changes | as a whole, version by version; old ones can be kept | key by key: put, merge, expire, delete |
//! | who writes | any process, one at a time | the process that owns it, from all its threads |
//! | where it lies | in files on disk | in shared memory, as long as the machine is up |
//! | values | slices of the mapped files | copies, with version and expiry |
//!
//! ```
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path();
//! use hammerspace::Space;
//!
//! let space = Space::create(path)?;
//! let mut writer = space.writer()?; // starts from what is current; `replace` starts empty
//! writer.put("de.greeting", "Guten Tag")?;
//! writer.put("fr.greeting", "Bonjour")?;
//! writer.publish()?;
//!
//! // In any other process of this machine:
//! let space = Space::open(path)?;
//! assert_eq!(space.len(), 2);
//! assert_eq!(space.get("fr.greeting")?.unwrap(), b"Bonjour");
//! assert!(!space.contains("it.greeting")?);
//!
//! // Once per request. Costs nanoseconds when nothing changed.
//! space.refresh()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading
//!
//! | call | gives | cost |
//! |---|---|---|
//! | [`Space::get`] | a [`Value`] that keeps its version alive | a lookup, and a few nanoseconds to hold the version |
//! | [`Space::snapshot`], then [`Snapshot::get`] | a slice of the mapped file | a lookup: one or two cache misses |
//! | [`Snapshot::get_many`] | slices, in the order of the keys | as many lookups |
//! | [`Space::get_with`], [`Snapshot::get_with`] | what you make of the value, shown where it lies | a lookup, and no allocation |
//! | [`Snapshot::iter`] | all pairs, in the order they were last written | sequential |
//! | [`Space::refresh`] | whether there was a newer version | an atomic load and a coarse clock read |
//!
//! In a compressed version a lookup decodes a block: some 2 µs for 4 KiB of snappy, 10 µs for zstd. [`Options::cache_bytes`]
//! keeps decoded blocks for those who come again. [`Space::get_with`] then copies nothing; [`Snapshot::get`] copies the value.
//!
//! Several reads that must agree with each other belong on one snapshot:
//!
//! ```
//! # let scratch = tempfile::tempdir()?;
//! # let space = hammerspace::Space::create(scratch.path())?;
//! # let mut writer = space.writer()?;
//! # writer.put("price", "10")?;
//! # writer.put("currency", "EUR")?;
//! # writer.publish()?;
//! # space.refresh()?;
//! let snapshot = space.snapshot();
//! let (price, currency) = (snapshot.get("price")?, snapshot.get("currency")?);
//! assert_eq!((price.as_deref(), currency.as_deref()), (Some(&b"10"[..]), Some(&b"EUR"[..])));
//!
//! for pair in &space.snapshot() {
//!     let (key, value) = pair?;
//!     println!("{} = {}", key.escape_ascii(), value.escape_ascii());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads, forks, crashes
//!
//! Handles, snapshots and values are `Send` and `Sync`; nothing that reads takes a lock. A process may fork with handles
//! open; a forked child cannot publish or harm what its parent has pending. A writer that dies leaves nothing that readers
//! see, and what it left on disk goes with the next publication. With the default [`Durability`] a power cut leaves the old
//! version or the new one, never a mix.
//!
//! # Limits
//!
//! Keys and values are bytes. Keys are shorter than 2 GiB. All data is on a local file system, where `flock` and `rename`
//! mean what they say. Nobody may shorten published files: as with every mapped file, reading past the new end would end
//! the process (SIGBUS). Errors are of ten [`Kind`]s and say what to do.
//!
//! The files are Spotify's Sparkey format in the directory layout of Airbnb's Ruby gem; processes of that gem can read and
//! write the same directory.
#![forbid(unsafe_code)]

pub use hammerspace_space::{
    Collected, Compression, Durability, Effort, Error, IndexHeader, Kind, LogHeader, Options, Paging, Pair, Pairs,
    Report, Result, Snapshot, Space, Unpublished, Updated, Value, VersionInfo, Writer,
};

pub use hammerspace_store::Store;

/// What goes with a [`Store`]: tables, kinds of values, conditions, expiry.
///
/// A store changes all the time, key by key. One process owns it; any other reads it, straight from shared memory and without locks.
///
/// ```
/// # let scratch = tempfile::tempdir()?;
/// # let path = scratch.path().join("store");
/// use hammerspace::Store;
/// use hammerspace::store::{Condition, Options, Put};
///
/// let store = Store::create(&path, &Options::with_limit(64 << 20))?; // in /dev/shm, at most 64 MiB
/// let users = store.default_table();
/// users.put("ada", "countess")?;
/// users.append("ada.log", "login;")?;
/// assert_eq!(users.add("visits", 1)?, 1);
///
/// // In any other process of this machine:
/// let reader = Store::attach(&path)?;
/// let users = reader.default_table();
/// assert_eq!(users.get("ada")?.unwrap().bytes, b"countess");
/// assert_eq!(users.get("visits")?.unwrap().number(), Some(1));
///
/// // Only if nobody was faster:
/// let version = users.get("ada")?.unwrap().meta.version.unwrap();
/// let put = Put::when(Condition::Version(version));
/// assert!(store.default_table().put_with("ada", "lady", &put)?.is_done());
/// # assert!(store.verify()?.findings.is_empty());
/// # drop((store, reader));
/// # Store::remove(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod store {
    pub use hammerspace_store::{
        Batch, BatchOutcome, Condition, Cursor, DEFAULT_TABLE, Durability, Entry, Extent, KEY_LEN_MAX, Key, LogInfo,
        Merged, Meta, Operation, Options, Outcome, OwnedKey, Put, RegionInfo, RegionState, Reply, Report, Request,
        Scan, Sets, Table, TableInfo, TableOptions, Universe, Usage, VALUE_LEN_MAX, Value, ValueKind, hll, log_info,
        regions, set,
    };
}

/// Sparkey tables without a space around them: a log and its index in files of any name, or a directory of shards.
///
/// ```
/// # let scratch = tempfile::tempdir()?;
/// # let dir = scratch.path();
/// use hammerspace::sparkey::{LogFile, LogOptions, Pair};
///
/// let fruits = Pair::of_log(&dir.join("fruits.spl"))?;
/// let mut log = LogFile::create(&fruits.log, &LogOptions::default())?;
/// log.put(b"apple", b"red")?;
/// log.finish()?;
/// fruits.build_index()?;
///
/// assert_eq!(fruits.open()?.get(b"apple")?.unwrap(), &b"red"[..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod sparkey {
    pub use hammerspace_sparkey::{BlockCache, Entry, Live, LogOptions, ShardKeys, Shards, Table};
    pub use hammerspace_tables::{LogFile, Pair, Sharding, open_shards, scratch, write_shards};
}

/// The guides' programs, run as tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/rust.md")]
    struct Spaces;

    #[doc = include_str!("../../../docs/guide/store.md")]
    struct Stores;

    #[doc = include_str!("../../../docs/guide/counting.md")]
    struct Counts;
}
