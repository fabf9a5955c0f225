//! A store's log: what the commit point tells it, and when it is written anew.
//!
//! ```text
//! commit point ── Hook ──► disklog::Log        after a restart: Recovery ──► Memory::restore
//! ```
//!
//! What always holds:
//! 1. **The log is bound before any thread of the store runs.** So it sees every number that is drawn from
//!    then on.
//! 2. **The region is right where log and region differ.** An owner that was killed may have died with
//!    changes in its buffer, or with one in the log that the region does not show. So its successor writes
//!    the log anew, from the region, before anybody has the store.
//! 3. **No number that may have been seen is drawn again.** After a restart numbers go on beyond all that the
//!    lost owner can have drawn without syncing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use hammerspace_disklog::{Change, Durability, Key, Log, Manifest, Record, Recovery};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_memory::{CommitHook, Committed, Effect, Memory, Old, OwnedKey, Restored, Watermark};
use hammerspace_os::Dir;

/// More changes than an owner can have made that are not in the log: its buffer would not hold them.
const UNSYNCED_MAX: u64 = 1 << 26;
/// A log with fewer bytes is not worth being written anew.
const LEAST: u64 = 16 << 20;
/// How often somebody looks whether it is.
const PAUSE: Duration = Duration::from_secs(1);

/// Told of bytes that are replayed, of how many.
pub(crate) type Progress<'p> = &'p dyn Fn(u64, u64);

/// Tells a log of every change, from when it is bound.
#[derive(Debug)]
pub(crate) struct Hook {
    log: OnceLock<Arc<Log>>,
    also: Option<Arc<dyn CommitHook>>,
}

impl Hook {
    /// One that tells `also` as well.
    pub(crate) fn new(also: Option<Arc<dyn CommitHook>>) -> Arc<Self> {
        Arc::new(Self { log: OnceLock::new(), also })
    }

    /// The log, once it is bound.
    pub(crate) fn log(&self) -> Option<Arc<Log>> {
        self.log.get().cloned()
    }

    fn bind(&self, log: Log) -> &Log {
        self.log.get_or_init(|| Arc::new(log))
    }

    fn tell(&self, changes: &[Committed<'_>]) {
        let Some(log) = self.log.get() else { return };
        let told: Vec<_> = changes.iter().map(Told::of).collect();
        let records: Vec<_> = told.iter().map(|told| told.record(changes.len() > 1)).collect();
        log.append(&records);
    }
}

impl CommitHook for Hook {
    fn commit(&self, change: &Committed<'_>) {
        self.tell(std::slice::from_ref(change));
        self.also.iter().for_each(|also| also.commit(change));
    }

    fn group(&self, changes: &[Committed<'_>]) {
        self.tell(changes);
        self.also.iter().for_each(|also| also.group(changes));
    }
}

/// A change, copied out of the region.
struct Told {
    sequence: u64,
    kept: Option<u64>,
    table: u16,
    key: OwnedKey,
    effect: Copied,
}

enum Copied {
    Removed,
    Written { kind: u8, value: Vec<u8>, is_large: bool, expiry: Option<u64> },
    Grown(u64, Vec<u8>),
    Number(u64),
}

impl Told {
    fn of(change: &Committed<'_>) -> Self {
        let old = || change.old.as_ref().expect("what goes or changes in place is there");
        match &change.effect {
            Effect::Removed => Self::about(old(), change.sequence, Copied::Removed),
            Effect::Written(new) => Self::whole(new, change.sequence),
            Effect::Grown(new, from) => {
                let bytes = new.value_in_record().split_off(*from as usize);
                Self::about(new, change.sequence, Copied::Grown(*from, bytes))
            }
            Effect::Number(word) => Self::about(old(), change.sequence, Copied::Number(*word)),
        }
    }

    fn about(record: &Old<'_>, sequence: u64, effect: Copied) -> Self {
        Self { sequence, kept: record.sequence(), table: record.table(), key: record.key(), effect }
    }

    /// A record as it is.
    fn whole(record: &Old<'_>, sequence: u64) -> Self {
        let (kind, value, is_large) = (record.kind(), record.value_in_record(), record.is_large());
        let written = Copied::Written { kind, value, is_large, expiry: record.meta().expiry };
        Self::about(record, sequence, written)
    }

    fn record(&self, is_of_batch: bool) -> Record<'_> {
        let Self { sequence, kept, table, key, effect } = self;
        let key = match key {
            OwnedKey::Integer(key) => Key::Integer(*key),
            OwnedKey::Bytes(key) => Key::Bytes(key),
        };
        let change = match effect {
            Copied::Removed => Change::Removed,
            Copied::Written { kind, value, is_large, expiry } => {
                Change::Written { kind: *kind, value, is_large: *is_large, expiry: *expiry }
            }
            Copied::Grown(from, bytes) => Change::Grown(*from, bytes),
            Copied::Number(word) => Change::Number(*word),
        };
        Record { sequence: *sequence, kept: *kept, table: *table, key, change, is_of_batch }
    }
}

/// Makes a change that the log tells of.
fn restore(memory: &Memory, record: &Record<'_>) -> Result<()> {
    let key = match record.key {
        Key::Integer(key) => hammerspace_memory::Key::Integer(key),
        Key::Bytes(key) => hammerspace_memory::Key::Bytes(key),
    };
    let change = match record.change {
        Change::Removed => Restored::Removed,
        Change::Written { kind, value, is_large, expiry } => Restored::Written { kind, value, is_large, expiry },
        Change::Grown(from, bytes) => Restored::Grown(from, bytes),
        Change::Number(word) => Restored::Number(word),
    };
    memory.restore(record.table, key, record.kept, change)
}

/// What a log tells of how far it is durable.
fn publish(watermark: Watermark) -> Box<dyn Fn(u64) + Send + Sync> {
    Box::new(move |number| watermark.set(number))
}

/// Threads that replay.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Which level a store in this directory is made with, where nobody says.
pub(crate) fn default_level(dir: &Dir) -> Result<Durability> {
    Ok(if dir.is_in_memory()? { Durability::None } else { Durability::default() })
}

/// Refuses to promise what the file system cannot keep.
pub(crate) fn check_level(dir: &Dir, level: Durability) -> Result<()> {
    if level == Durability::None || !dir.is_in_memory()? {
        return Ok(());
    }
    let finding = format!("durability {level} in a directory that is in memory, which does not outlive a restart");
    let error = Error::new(Kind::Invalid, finding).file(dir.path());
    Err(error.remedy("put the store's directory on a disk, or choose durability none"))
}

/// Says of a store whose region is missing how it comes back, if it has a log.
pub(crate) fn how_to_recover(path: &Path, error: Error) -> Error {
    let has_log = || Dir::open(path).and_then(|dir| dir.open_file("manifest")).is_ok_and(|manifest| manifest.is_some());
    if error.kind() != Kind::Missing || !has_log() {
        return error;
    }
    let error = Error::new(Kind::Missing, "the store is not in memory since the machine was restarted").file(path);
    error.remedy("recover it from its log: start the process that owns it, or run `hammerspace store sync`")
}

/// Refuses to make a store where there is the log of another.
pub(crate) fn check_no_log(dir: &Dir) -> Result<()> {
    if dir.open_file("manifest")?.is_none() {
        return Ok(());
    }
    let error = Error::new(Kind::Invalid, "there is a store already, whose log outlived the restart of the machine");
    Err(error.file(dir.path()).remedy("open it, which recovers it; or remove it with `hammerspace store remove`"))
}

/// Begins the log of a store from what is in its memory.
pub(crate) fn begin(hook: &Hook, memory: &Memory, dir: Dir, level: Durability, limit: u64, mode: u32) -> Result<()> {
    let next = memory.view().sequence() + 1;
    let log = Log::create(dir, level, limit, mode, next, publish(memory.watermark()))?;
    let log = hook.bind(log);
    write_all(memory, log, || Ok(()))?;
    log.keep()
}

/// Goes on with the log of a store whose region is there.
pub(crate) fn resume(hook: &Hook, memory: &Memory, dir: Dir, manifest: Manifest) -> Result<()> {
    let (next, is_closed) = (memory.view().sequence() + 1, memory.is_log_closed());
    let log = Log::open(dir, manifest, is_closed, next, publish(memory.watermark()))?;
    let log = hook.bind(log);
    if !is_closed {
        write_anew(memory, log, || Ok(()))?;
    }
    memory.watermark().set(next - 1);
    Ok(())
}

/// Fills a memory with what the log of a store says whose region is gone.
pub(crate) fn recover(
    hook: &Hook,
    memory: &Memory,
    dir: Dir,
    recovery: &Recovery,
    progress: Progress<'_>,
) -> Result<()> {
    let recovered = recovery.replay(threads(), &|record| restore(memory, record), progress)?;
    let last = recovered.last + UNSYNCED_MAX;
    memory.end_restoration(last)?;
    let log = Log::open(dir, recovery.manifest(), false, last + 1, publish(memory.watermark()))?;
    hook.bind(log);
    memory.watermark().set(last);
    Ok(())
}

/// Fills a memory with what can be read of a damaged log, and begins another one. Gives what is lost.
pub(crate) fn salvage(
    hook: &Hook,
    memory: &Memory,
    dir: Dir,
    (level, limit, mode): (Durability, u64, u32),
    plant: impl FnOnce(&Memory) -> Result<()>,
) -> Result<Vec<String>> {
    let salvage = Recovery::salvage(&dir, &|record| restore(memory, record))?;
    memory.end_restoration(salvage.last + UNSYNCED_MAX)?;
    plant(memory)?;
    begin(hook, memory, dir, level, limit, mode)?;
    Ok(salvage.lost)
}

/// Appends every record to the log once more.
fn write_all(memory: &Memory, log: &Log, mut check: impl FnMut() -> Result<()>) -> Result<()> {
    let last = memory.view().sequence();
    let pause = || {
        check()?;
        log.admit()
    };
    memory.look_at_all(pause, |old| log.append_again(&Told::whole(old, last).record(false)))
}

/// Writes the log anew: as long as that takes, it is longer.
fn write_anew(memory: &Memory, log: &Log, check: impl FnMut() -> Result<()>) -> Result<()> {
    let number = log.roll()?;
    write_all(memory, log, check)?;
    log.keep_from(number)
}

/// The log of a store that is in use, and the thread that writes it anew.
pub(crate) struct Durable {
    pub(crate) log: Arc<Log>,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Durable {
    pub(crate) fn start(memory: &Arc<Memory>, log: Arc<Log>) -> Result<Self> {
        let is_ending = Arc::new(AtomicBool::new(false));
        let ours = (memory.clone(), log.clone(), is_ending.clone());
        let thread = std::thread::Builder::new().name("disk cleaner".into()).spawn(move || keep_short(&ours));
        Ok(Self { log, is_ending, thread: Some(thread.doing("start the thread that cleans the log")?) })
    }

    /// Waits until the last change that was drawn is durable, if the level says so.
    #[inline]
    pub(crate) fn settle(&self, memory: &Memory, level: Durability) -> Result<()> {
        if level.waits() { self.log.wait(memory.view().sequence()) } else { Ok(()) }
    }

    /// Ends the thread: then nobody but the store has its memory.
    pub(crate) fn stop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().ok();
        }
    }

    /// In a forked child: there are no threads, and nothing here is the child's to close.
    pub(crate) fn leave(&mut self) {
        std::mem::forget((self.log.clone(), self.thread.take()));
    }
}

/// Writes the log anew whenever it has become long.
fn keep_short((memory, log, is_ending): &(Arc<Memory>, Arc<Log>, Arc<AtomicBool>)) {
    let check = || {
        let is_ending = is_ending.load(Ordering::Relaxed);
        if is_ending { Err(Error::new(Kind::Busy, "the store is being closed")) } else { Ok(()) }
    };
    while check().is_ok() {
        if log.is_overgrown(LEAST) {
            // What fails, such as for a full disk, is tried again.
            write_anew(memory, log, check).ok();
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// What can be seen of a store's log from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogInfo {
    /// When changes are durable.
    pub durability: Durability,
    /// Bytes of the log.
    pub bytes: u64,
    /// Segments that it has.
    pub segments: u64,
    /// Bytes that it had when it was last written anew.
    pub live: u64,
}

/// What any process can see of the log of the store at `path`; `None` if it has none.
pub fn log_info(path: impl AsRef<Path>) -> Result<Option<LogInfo>> {
    let Some(recovery) = Recovery::of(&Dir::open(path)?)? else { return Ok(None) };
    let Manifest { durability, first, last, live, .. } = recovery.manifest();
    Ok(Some(LogInfo { durability, bytes: recovery.bytes()?, segments: last + 1 - first, live }))
}
