//! The log's handle.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use hammerspace_error::{Doing, Result};
use hammerspace_os::Dir;

use crate::files::{self, Files};
use crate::flush::{Flusher, Published};
use crate::manifest::{Durability, Manifest};
use crate::record::Record;

/// A log that this process appends to.
///
/// Dropped, it makes everything durable that was appended, if that is possible.
pub struct Log {
    flusher: Arc<Flusher>,
    thread: Mutex<Option<JoinHandle<()>>>,
    durability: Durability,
}

/// How long a log is, and how far it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of its segments.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes that were appended since it was opened.
    pub appended: u64,
    /// Every change up to this number is durable.
    pub durable: u64,
    /// When it was last synced.
    pub synced: Option<SystemTime>,
    /// When changes are durable.
    pub durability: Durability,
}

impl Log {
    /// Begins a log in a store's directory, which has none. It counts once [`keep`](Self::keep) has returned.
    /// The next change has the number `next`; `publish` is told up to which number changes are durable.
    pub fn create(
        store: Dir,
        durability: Durability,
        limit: u64,
        mode: u32,
        next: u64,
        publish: Published,
    ) -> Result<Self> {
        Self::start(Files::create(store, durability, limit, mode)?, next, publish)
    }

    /// Goes on with a log. Its last segment is read only if the log was not closed.
    pub fn open(store: Dir, manifest: Manifest, is_closed: bool, next: u64, publish: Published) -> Result<Self> {
        Self::start(Files::open(store, manifest, is_closed)?, next, publish)
    }

    fn start(files: Files, next: u64, publish: Published) -> Result<Self> {
        let durability = files.manifest.durability;
        let flusher = Arc::new(Flusher::new(files, next, publish));
        let runner = flusher.clone();
        let thread = std::thread::Builder::new().name("disk log".into()).spawn(move || runner.run());
        let thread = Mutex::new(Some(thread.doing("start the thread of the log")?));
        Ok(Self { flusher, thread, durability })
    }

    /// Removes the log of a store's directory, if there is one.
    pub fn remove(store: &Dir) -> Result<()> {
        files::remove(store)
    }

    /// When changes are durable.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Waits until there is room for more. An error if there cannot be:
    /// [`Kind::Full`](hammerspace_error::Kind::Full) while the disk is full, and what a write or a sync
    /// failed with, for good.
    #[inline]
    pub fn admit(&self) -> Result<()> {
        self.flusher.admit()
    }

    /// Appends changes, to be replayed all or none. Each of their numbers is drawn once, and appended once.
    /// Never waits for the disk. After a failure the changes are dropped, and the threads that wait
    /// for them are told.
    pub fn append(&self, changes: &[Record<'_>]) {
        let mut bytes = Vec::new();
        for change in changes {
            change.append_to(&mut bytes);
        }
        self.flusher.append(&bytes, changes.iter().map(|change| change.sequence));
    }

    /// Appends a record as it is: this is no change.
    pub fn append_again(&self, record: &Record<'_>) {
        let mut bytes = Vec::new();
        record.append_to(&mut bytes);
        self.flusher.append(&bytes, []);
    }

    /// Every change up to this number is durable.
    pub fn durable(&self) -> u64 {
        self.flusher.durable()
    }

    /// Waits until every change up to this number is durable.
    pub fn wait(&self, number: u64) -> Result<()> {
        self.flusher.wait(number)
    }

    /// Calls `then` when every change up to this number is durable, or cannot become so. It is called by the
    /// log's thread, or at once, and must be quick.
    pub fn when_durable(&self, number: u64, then: impl FnOnce(Result<()>) + Send + 'static) {
        self.flusher.when_durable(number, Box::new(then));
    }

    /// Makes durable whatever was appended, changes or not.
    pub fn sync(&self) -> Result<()> {
        self.flusher.sync()
    }

    /// Begins another segment, for everything that is appended from now on. Gives its number.
    pub fn roll(&self) -> Result<u64> {
        self.flusher.with_files(Files::roll)
    }

    /// Lets the log begin with this segment, once everything that counts was appended from there on.
    pub fn keep_from(&self, number: u64) -> Result<()> {
        self.sync()?;
        self.flusher.with_files(|files| files.keep_from(number))
    }

    /// Lets the manifest name a log that was begun.
    pub fn keep(&self) -> Result<()> {
        self.sync()?;
        self.flusher.with_files(|files| {
            let first = files.manifest.first;
            files.keep_from(first)
        })
    }

    /// Keeps another memory limit, for the store's next recovery.
    pub fn set_limit(&self, limit: u64) -> Result<()> {
        self.flusher.with_files(|files| {
            files.manifest.limit = limit;
            files.write_manifest()
        })
    }

    /// Whether so much was appended since the log was last written anew that it is time to do it again.
    pub fn is_overgrown(&self, least: u64) -> bool {
        self.flusher.with_files(|files| Ok(files.bytes() > least.max(2 * files.manifest.live))).unwrap_or(false)
    }

    /// How long it is, and how far it is durable.
    pub fn extent(&self) -> Extent {
        let (bytes, segments) = self
            .flusher
            .with_files(|files| Ok((files.bytes(), files.manifest.last + 1 - files.manifest.first)))
            .unwrap_or_default();
        let (appended, synced) = self.flusher.seen();
        Extent { bytes, segments, appended, durable: self.durable(), synced, durability: self.durability }
    }

    /// Makes everything durable and seals it. Nothing may be appended any more.
    pub fn close(&self) -> Result<()> {
        let closed = self.flusher.close();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            thread.join().ok();
        }
        closed
    }

    /// Removes the log, which is closed for that.
    pub fn end(&self) -> Result<()> {
        self.close().ok();
        self.flusher.with_files(|files| files.remove())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close().ok();
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Log({}, durable to {})", self.durability, self.durable())
    }
}

/// A number that grows, for all threads.
#[derive(Default)]
pub(crate) struct Mark(AtomicU64);

impl Mark {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Acquire)
    }

    pub(crate) fn raise(&self, to: u64) {
        self.0.fetch_max(to, std::sync::atomic::Ordering::Release);
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }
}
