//! How a store comes to be, is opened, recovered and removed.
//!
//! ```text
//! region there       ──► open: adopt it, go on with its log
//! region gone, a log ──► recover: make a memory, fill it from the log, then give it the store's name
//! nothing there      ──► create: write the list of tables, begin a log if the store is durable
//! ```
//!
//! Whatever happens to a log happens under the lock of the store's directory, before any thread of the store
//! runs.

use std::path::Path;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use hammerspace_disklog::{Durability, Log, Manifest, Recovery};
use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Memory, Options, Reader};
use hammerspace_os::Dir;

use crate::catalogue::Catalogue;
use crate::catalogue_lock::CatalogueLock;
use crate::durable::{self, Durable, Hook, Progress};
use crate::store::{Access, DEFAULT_TABLE, Shared, Store, adopt_catalogue, write_catalogue};
use crate::table::Table;

impl Store {
    /// Makes a store at `path`, a directory that is created with it, and owns it. It ends with the machine's
    /// next restart: [`create_durable`](Self::create_durable) makes one that does not. [`Kind::Invalid`]
    /// where there is one; a directory that a restart has left without its region is none, unless there is a
    /// log in it.
    ///
    /// [`Kind::Full`] where there is not as much memory as the limit says.
    pub fn create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::create_durable(path, options, Some(Durability::None))
    }

    /// Makes a store whose changes are this durable. Where nothing is said, [`Durability::Interval`]; or
    /// none, where the directory is in memory itself. [`Kind::Invalid`] where another level is wanted there.
    pub fn create_durable(path: impl AsRef<Path>, options: &Options, level: Option<Durability>) -> Result<Self> {
        let path = path.as_ref();
        if let Ok(dir) = Dir::open(path) {
            durable::check_no_log(&dir)?;
        }
        let hook = Hook::new(options.hook.clone());
        let hooked = Options { hook: Some(hook.clone()), ..options.clone() };
        let options = if level == Some(Durability::None) { options } else { &hooked };
        let memory = Memory::create_with(path, options, |memory| {
            let dir = Dir::open(path)?;
            durable::check_no_log(&dir)?;
            let level = level.map_or_else(|| durable::default_level(&dir), Ok)?;
            durable::check_level(&dir, level)?;
            write_catalogue(memory)?;
            if level == Durability::None {
                return Ok(());
            }
            let begun = durable::begin(&hook, memory, dir, level, options.limit, options.mode);
            begun.inspect_err(|_| drop(Dir::open(path).and_then(|dir| Log::remove(&dir))))
        })?;
        Self::start_owner(memory, &hook)
    }

    /// Owns a store that nobody owns, with every completed change of its last owner. [`Kind::Busy`] where
    /// somebody does. If the machine was restarted, the store is recovered from its log, if it has one.
    ///
    /// Takes milliseconds: O(segments + entries of the index's directory). O(records) where the last owner of
    /// a durable store was killed, and O(log) after a restart.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &Options::with_limit(0))
    }

    /// As [`open`](Self::open), with as many threads as `options` says; its other fields, but `least_hole`,
    /// count when a store is made.
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::open_telling(path, options, &|_, _| {})
    }

    /// As [`open_with`](Self::open_with); `progress` is told how many bytes of a log are replayed, of how
    /// many.
    pub fn open_telling(path: impl AsRef<Path>, options: &Options, progress: &dyn Fn(u64, u64)) -> Result<Self> {
        Self::open_at_level(path.as_ref(), options, None, progress)
    }

    /// Owns a store that nobody owns, and lets its changes be this durable from now on. What is in it is
    /// written to a log first, if it had none.
    pub fn open_durable(path: impl AsRef<Path>, level: Durability) -> Result<Self> {
        Self::open_at_level(path.as_ref(), &Options::with_limit(0), Some(level), &|_, _| {})
    }

    fn open_at_level(
        path: &Path,
        options: &Options,
        level: Option<Durability>,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let hook = Hook::new(options.hook.clone());
        let is_durable = |dir: Dir| dir.open_file("manifest").map(|manifest| manifest.is_some());
        let is_hooked = level.is_some() || Dir::open(path).and_then(is_durable)?;
        let hooked = Options { hook: Some(hook.clone()), ..options.clone() };
        let options = if is_hooked { &hooked } else { options };
        let opened = Memory::open_with(path, options, |memory| {
            let dir = Dir::open(path)?;
            match (Manifest::read(&dir)?, level) {
                (Some(manifest), level) if level != Some(Durability::None) => {
                    let manifest = Manifest { durability: level.unwrap_or(manifest.durability), ..manifest };
                    durable::resume(&hook, memory, dir, manifest)?;
                    level.map_or(Ok(()), |_| hook.log().map_or(Ok(()), |log| log.set_limit(manifest.limit)))
                }
                (Some(_), _) => Log::remove(&dir),
                (None, Some(level)) if level != Durability::None => {
                    durable::check_level(&dir, level)?;
                    durable::begin(&hook, memory, dir, level, memory.view().usage().limit, 0o600)
                }
                (None, _) => Ok(()),
            }
        });
        let memory = match opened {
            Err(error) if error.kind() == Kind::Missing => Self::recover(path, options, &hook, error, progress)?,
            opened => opened?,
        };
        adopt_catalogue(&memory)?;
        Self::start_owner(memory, &hook)
    }

    /// Makes the memory anew of a store whose region is gone, from its log.
    fn recover(path: &Path, options: &Options, hook: &Hook, missing: Error, progress: Progress<'_>) -> Result<Memory> {
        let Some(recovery) = Dir::open(path).and_then(|dir| Recovery::of(&dir))? else { return Err(missing) };
        let Manifest { limit, mode, .. } = recovery.manifest();
        let limit = if options.limit == 0 { limit } else { options.limit };
        let region = options.region.clone().or_else(|| Memory::place_of_region(path));
        let options = Options { limit, mode, region, ..options.clone() };
        Memory::create_with(path, &options, |memory| {
            durable::recover(hook, memory, Dir::open(path)?, &recovery, progress)
        })
    }

    /// Recovers a store whose log is damaged, as far as it can be read: the store has another log then. Gives
    /// what is lost, in words. [`Kind::Invalid`] while the store's region is there, which has everything.
    pub fn repair(path: impl AsRef<Path>, limit: u64) -> Result<(Self, Vec<String>)> {
        let path = path.as_ref();
        let manifest = Dir::open(path).and_then(|dir| Manifest::read(&dir));
        let said = manifest.as_ref().ok().copied().flatten();
        let level = said.map_or_else(Durability::default, |manifest| manifest.durability);
        let limit = said.map_or(limit, |manifest| manifest.limit);
        let mode = said.map_or(0o600, |manifest| manifest.mode);
        let hook = Hook::new(None);
        let region = Memory::place_of_region(path);
        let options = Options { hook: Some(hook.clone()), mode, region, ..Options::with_limit(limit) };
        let mut lost = Vec::new();
        let memory = Memory::create_with(path, &options, |memory| {
            let write_catalogue = |memory: &Memory| match Catalogue::read(memory.view()) {
                Ok(_) => Ok(()),
                Err(_) => write_catalogue(memory),
            };
            lost = durable::salvage(&hook, memory, Dir::open(path)?, (level, limit, mode), write_catalogue)?;
            Ok(())
        })?;
        adopt_catalogue(&memory)?;
        Ok((Self::start_owner(memory, &hook)?, lost))
    }

    /// Owns the store at `path`, and makes it where there is none, or where it went with the machine's
    /// restart: for a service that starts, whatever was before. [`Kind::Busy`] where somebody owns it.
    ///
    /// Of `options` counts what [`open_with`](Self::open_with) says if there is a store, its limit too, which
    /// is as it was.
    pub fn open_or_create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let open = || match Self::open_with(&path, options) {
            Err(error) if error.kind() == Kind::Missing => Err(error),
            opened => Ok(opened),
        };
        // Another process may make one meanwhile, and be at its end already.
        open().or_else(|_| Self::create(&path, options).map(Ok).or_else(|refused| open().map_err(|_| refused)))?
    }

    /// Reads a store, whether somebody owns it or not. Registers nowhere, and takes no lock and makes no
    /// system call to read. (Only to ask whether there is an [owner](Self::has_owner) takes the store's lock
    /// for an instant, shared, which who opens it waits for.)
    ///
    /// What is read is what its owner wrote, up to that instant; if the owner dies, what it left. O(1).
    pub fn attach(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let reader = Reader::attach(path).map_err(|error| durable::how_to_recover(path, error))?;
        Self::start(Access::Reader(reader), None)
    }

    /// Deletes a store that nobody owns, region and directory; of a store whose directory is gone already,
    /// the region's file, which [`regions`](crate::regions) finds. [`Kind::Busy`] where a process owns it;
    /// its readers go on with what was there.
    pub fn remove(path: impl AsRef<Path>) -> Result<()> {
        // The log first: without it, what is left is no store that anybody would recover.
        Memory::remove_with(path, Log::remove)
    }

    /// A store without a name, which ends with its last handle. Processes that are forked from this one read
    /// what it writes.
    pub fn anonymous(options: &Options) -> Result<Self> {
        let memory = Memory::anonymous(options)?;
        write_catalogue(&memory)?;
        Self::start(Access::Owner(Arc::new(memory)), None)
    }

    fn start_owner(memory: Memory, hook: &Hook) -> Result<Self> {
        let memory = Arc::new(memory);
        let durable = hook.log().map(|log| Durable::start(&memory, log)).transpose()?;
        Self::start(Access::Owner(memory), durable)
    }

    fn start(access: Access, durable: Option<Durable>) -> Result<Self> {
        let catalogue = ArcSwap::from_pointee(Catalogue::read(access.view())?);
        let shared = Arc::new(Shared {
            access,
            durable,
            catalogue,
            changes: CatalogueLock::default(),
            universes: Mutex::default(),
        });
        let default = Table::open(shared.clone(), DEFAULT_TABLE)?;
        Ok(Self { shared, default })
    }
}
