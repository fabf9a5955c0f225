//! The handle: the current version, and when to look for the next.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use hammerspace_error::{Kind, Result};
use hammerspace_os::{Dir, Word, clock};

use crate::home::Home;
use crate::layout::{CURRENT, uid_of};
use crate::snapshot::{Snapshot, State, Value};
use crate::version::Version;
use crate::writer::Writer;
use crate::{Options, history, lock, publish};

/// A hash map in a directory, shared by every process that opens it.
///
/// A handle reads one version until [`refresh`](Self::refresh) swaps in a newer one; writers build the next version in
/// private and [`publish`](Writer::publish) it as a whole. All methods take `&self`; share one handle between threads, or
/// open one in each: it is the same memory either way. A handle may be used on both sides of a `fork`.
pub struct Space {
    pub(crate) home: Arc<Home>,
    state: ArcSwap<State>,
    watch: Watch,
}

/// The generation of a state that may not be the current one, so that every refresh looks again.
const NO_GENERATION: u64 = u64::MAX;

/// When a newer version may be there.
struct Watch {
    /// The generation in the lock file, once there is one.
    generation: OnceLock<Word>,
    /// The generation of a state that we hold or held.
    seen: AtomicU64,
    /// When to look at the directory itself again, on the coarse clock, in nanoseconds.
    next_look: AtomicU64,
    every: Duration,
}

impl Space {
    /// Opens the space in an existing directory, with default [`Options`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Options::new().open(path)
    }

    /// Opens the space in a directory, making the directory first where it is missing, with default [`Options`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Options::new().create(path)
    }

    pub(crate) fn new(dir: Dir, options: Options) -> Result<Self> {
        let watch = Watch::new(&dir, options.poll)?;
        let home = Home::new(dir, options);
        let state = match State::open(&home, &watch) {
            Err(error) if home.options.mend && error.kind() == Kind::Corrupt => {
                State { generation: NO_GENERATION, version: None }
            }
            opened => opened?,
        };
        watch.seen.store(state.generation, Ordering::Relaxed);
        Ok(Self { home: Arc::new(home), state: ArcSwap::from_pointee(state), watch })
    }

    /// The directory it was opened by.
    pub fn path(&self) -> &Path {
        self.home.dir.path()
    }

    /// The version this handle reads, held: for several reads that must agree, and for the fastest ones.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.state.load_full())
    }

    /// The value of `key`, which keeps its version for as long as it lives. O(1).
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Value>> {
        Value::find(self.state.load(), key.as_ref())
    }

    /// Shows the value of `key` to `show`, and gives what that gives. As [`Snapshot::get_with`].
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// # let mut writer = space.writer()?;
    /// # writer.put("cartoons", "mallets")?;
    /// # writer.publish()?;
    /// # space.refresh()?;
    /// assert_eq!(space.get_with("cartoons", <[u8]>::len)?, Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn get_with<T>(&self, key: impl AsRef<[u8]>, show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.state.load().get_with(key.as_ref(), show)
    }

    /// The values of many keys, all of one version, in the order of the keys.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Value>>> {
        let state = self.state.load_full();
        keys.iter().map(|key| Value::find(Guard::from_inner(Arc::clone(&state)), key.as_ref())).collect()
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.state.load().contains(key.as_ref())
    }

    /// How many keys there are. O(1).
    pub fn len(&self) -> u64 {
        self.snapshot().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Swaps in the current version, if it is another one; says whether it is. Meant to be called once per request: when
    /// nothing changed it costs a load from shared memory and a look at the coarse clock.
    ///
    /// Publications of Hammerspace are seen at once. Those of the original gem, those of writers that may not write the lock
    /// file, and the first one to a directory that had no lock page when it was opened, within the
    /// [poll interval](Options::poll).
    #[inline]
    pub fn refresh(&self) -> Result<bool> {
        if self.may_be_behind() { self.look() } else { Ok(false) }
    }

    /// Whether [`refresh`](Self::refresh) would look at the directory; where it would not, it says no and has done nothing. For
    /// who has to prepare for what may take long, as by giving up an interpreter's lock.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Options::new().poll(std::time::Duration::MAX).create(scratch.path())?;
    /// # let writer = space.writer()?;
    /// assert!(!space.may_be_behind());
    /// writer.publish()?;
    /// assert!(space.may_be_behind() && space.refresh()? && !space.may_be_behind());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn may_be_behind(&self) -> bool {
        !self.watch.is_quiet()
    }

    #[cold]
    fn look(&self) -> Result<bool> {
        self.watch.put_off();
        self.watch.find_page(&self.home.dir)?;
        loop {
            let held = self.state.load_full();
            if held.generation == self.watch.generation() && held.is_current(&self.home.dir)? {
                self.watch.seen.store(held.generation, Ordering::Relaxed);
                return Ok(false);
            }
            let found = Arc::new(State::open(&self.home, &self.watch)?.sharing(&held));
            // Whoever swaps has looked after the swap before, so time does not run backwards. Should another thread have
            // swapped meanwhile, we do not know who looked last, and look again.
            let before = self.state.compare_and_swap(&held, Arc::clone(&found));
            if Arc::ptr_eq(&before, &held) {
                self.watch.seen.store(found.generation, Ordering::Relaxed);
                return Ok(found.uid() != held.uid());
            }
        }
    }

    /// Goes to the version of this number, if it is still on disk, and says whether it is. The next
    /// [`refresh`](Self::refresh) moves on to the current one. For a handle that is passed to another process, and is to read
    /// there what it reads here.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Options::new().keep(2).create(scratch.path())?;
    /// for color in ["red", "blue"] {
    ///     let mut writer = space.writer()?;
    ///     writer.put("color", color)?;
    ///     writer.publish()?;
    /// }
    /// assert!(space.go_to(1)?);
    /// assert_eq!(space.get("color")?.unwrap(), b"red");
    /// assert!(space.refresh()?);
    /// assert_eq!(space.get("color")?.unwrap(), b"blue");
    /// assert!(!space.go_to(3)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn go_to(&self, number: u64) -> Result<bool> {
        let versions = history::list(&self.home.dir)?;
        let Some(found) = versions.into_iter().find(|version| version.number == Some(number)) else { return Ok(false) };
        let Some(state) = State::of(&self.home, &found.uid)? else { return Ok(false) };
        self.state.store(Arc::new(state));
        self.watch.seen.store(NO_GENERATION, Ordering::Relaxed);
        Ok(true)
    }

    /// A writer that starts from the current version. Its changes are private until [`Writer::publish`].
    pub fn writer(&self) -> Result<Writer> {
        self.watch_after(Writer::update(Arc::clone(&self.home)))
    }

    /// A writer that starts empty, and replaces everything when it publishes.
    pub fn replace(&self) -> Result<Writer> {
        self.watch_after(Writer::replace(Arc::clone(&self.home)))
    }

    /// The first writer of a space of the original gem gives it a page to watch.
    fn watch_after(&self, writer: Result<Writer>) -> Result<Writer> {
        self.watch.find_page(&self.home.dir).and(writer)
    }

    /// Empties the space in one step, and drops every version of it. Handles keep what they read until they refresh.
    pub fn clear(&self) -> Result<()> {
        publish::clear(&self.home)
    }

    /// The versions on disk, newest first.
    pub fn versions(&self) -> Result<Vec<history::VersionInfo>> {
        history::list(&self.home.dir)
    }

    /// Makes an older version current again, in one step: the one of this number, or else the newest before the current
    /// one. Gives its number. Needs versions that were [kept](Options::keep); those it leaves behind stay until the next
    /// publication, so that it can be taken back.
    pub fn rollback(&self, number: Option<u64>) -> Result<u64> {
        history::rollback(&self.home, number)
    }
}

impl State {
    /// Opens the current version. The generation is read first: should the version change in between, we have the newer
    /// one under the older generation, and merely look once more.
    fn open(home: &Home, watch: &Watch) -> Result<Self> {
        let generation = watch.generation();
        let version = Version::current(&home.dir, home.options.paging)?;
        Ok(Self { generation, version: version.map(|version| Arc::new(version.cached_in(home.cache.as_ref()))) })
    }

    /// Opens the version of this name; `None` where it is not there.
    fn of(home: &Home, uid: &str) -> Result<Option<Self>> {
        let version = Version::open(&home.dir, uid, home.options.paging)?;
        Ok(version.map(|version| Self {
            generation: NO_GENERATION,
            version: Some(Arc::new(version.cached_in(home.cache.as_ref()))),
        }))
    }

    /// Keeps the mapping we have where the version turned out to be the same.
    fn sharing(mut self, held: &Self) -> Self {
        if self.uid() == held.uid() {
            self.version.clone_from(&held.version);
        }
        self
    }

    fn uid(&self) -> Option<&str> {
        Some(&self.version.as_ref()?.uid)
    }

    /// Whether `current` still points to the version we hold.
    fn is_current(&self, dir: &Dir) -> Result<bool> {
        let target = dir.read_link(CURRENT)?;
        Ok(target.as_deref().and_then(uid_of) == self.uid())
    }
}

impl Watch {
    fn new(dir: &Dir, every: Duration) -> Result<Self> {
        let watch = Self { generation: OnceLock::new(), seen: AtomicU64::new(0), next_look: AtomicU64::new(0), every };
        watch.put_off();
        watch.find_page(dir)?;
        Ok(watch)
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.generation() == self.seen.load(Ordering::Relaxed)
            && nanos(clock::coarse()) < self.next_look.load(Ordering::Relaxed)
    }

    /// The generation as it is now; 0 as long as there is none to watch.
    #[inline]
    fn generation(&self) -> u64 {
        self.generation.get().map_or(0, Word::load)
    }

    /// Notes that somebody looks now.
    fn put_off(&self) {
        self.next_look.store(nanos(clock::coarse().saturating_add(self.every)), Ordering::Relaxed);
    }

    /// Starts to watch the generation if it has appeared meanwhile.
    fn find_page(&self, dir: &Dir) -> Result<()> {
        if self.generation.get().is_none()
            && let Some(word) = lock::watch(dir)?
        {
            // Should another thread have been faster, its word is as good.
            drop(self.generation.set(word));
        }
        Ok(())
    }
}

/// Enough for 584 years since the machine started, and no end for the longest duration.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").field("path", &self.path()).field("snapshot", &self.snapshot()).finish()
    }
}
