//! The handle: the current version, and when to look for the next.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use hammerspace_error::{Kind, Result};
use hammerspace_os::clock;

use crate::layout::{CURRENT, uid_of};
use crate::lock::Page;
use crate::snapshot::{Snapshot, State, Value};
use crate::space_dir::SpaceDir;
use crate::space_path::SpacePath;
use crate::version::Version;
use crate::writer::Writer;
use crate::{Collected, Options, history, publish, sweep};

/// A hash map in a directory, shared by every process that opens it.
///
/// A handle reads one version until [`refresh`](Self::refresh) swaps in a newer one; writers build the next version in
/// private and [`publish`](Writer::publish) it as a whole. All methods take `&self`; share one handle between threads, or
/// open one in each: it is the same memory either way. A handle may be used on both sides of a `fork`.
///
/// It is a handle of the path. Where that leads to another directory one day, because one was moved there or a link on the
/// way was turned, writers begin in that one, and `refresh` moves on to it within the [poll interval](Options::poll), as soon
/// as there is a version. While the path leads to none, what was read stays.
pub struct Space {
    path: Arc<SpacePath>,
    state: ArcSwap<State>,
    watch: Watch,
}

/// The generation of a state that may not be the current one, so that every refresh looks again.
const NO_GENERATION: u64 = u64::MAX;

/// What is seen of the first page from when the handle has left that directory: no generation of any page.
const AWAY: u64 = u64::MAX - 1;

/// When a newer version may be there.
struct Watch {
    /// The page of the directory that the handle was opened with. That of one it moved to hangs on the state, and takes longer
    /// to get at.
    first: Arc<Page>,
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

    pub(crate) fn new(space_dir: SpaceDir) -> Result<Self> {
        space_dir.page.find(&space_dir.dir)?;
        let space_dir = Arc::new(space_dir);
        let watch = Watch::new(&space_dir);
        let state = match State::open(&space_dir) {
            Err(error) if space_dir.options.mend && error.kind() == Kind::Corrupt => State::stale(&space_dir, None),
            opened => opened?,
        };
        watch.saw(&state);
        Ok(Self { path: Arc::clone(&space_dir.path), state: ArcSwap::from_pointee(state), watch })
    }

    pub(crate) fn options(&self) -> Options {
        self.state.load().space_dir.options.clone()
    }

    /// The directory it was opened by.
    pub fn path(&self) -> &Path {
        self.path.path()
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
        !((self.watch.is_quiet() || self.is_quiet_elsewhere()) && self.watch.is_early())
    }

    /// Whether nothing was announced in the directory that this handle has moved to.
    #[cold]
    fn is_quiet_elsewhere(&self) -> bool {
        self.watch.is_away() && self.state.load().is_latest()
    }

    #[cold]
    fn look(&self) -> Result<bool> {
        self.watch.put_off();
        loop {
            let held = self.state.load_full();
            let Some(found) = self.newer_than(&held)? else {
                self.watch.saw(&held);
                return Ok(false);
            };
            let found = Arc::new(found.sharing(&held));
            // Whoever swaps has looked after the swap before, so time does not run backwards. Should another thread have
            // swapped meanwhile, we do not know who looked last, and look again.
            let before = self.state.compare_and_swap(&held, Arc::clone(&found));
            if Arc::ptr_eq(&before, &held) {
                self.watch.saw(&found);
                return Ok(found.uid() != held.uid());
            }
        }
    }

    /// What is to be read from now on; `None` where that is what is held.
    fn newer_than(&self, held: &State) -> Result<Option<State>> {
        if held.space_dir.is_in_place() {
            return held.newer();
        }
        // Until the path leads to a version, each refresh looks.
        self.watch.hurry();
        if let Some(space_dir) = held.space_dir.successor()? {
            let found = State::open(&Arc::new(space_dir))?;
            if found.version.is_some() {
                self.watch.put_off();
                return Ok(Some(found));
            }
        }
        // A directory that was removed says that it is empty. One that was moved may still be published to, by who began before.
        Ok(held.newer()?.filter(|found| found.version.is_some()))
    }

    /// The directory that the path leads to, to be changed: what is written to another would be lost.
    pub(crate) fn space_dir(&self) -> Result<Arc<SpaceDir>> {
        let space_dir = Arc::clone(&self.state.load().space_dir);
        if space_dir.is_in_place() {
            return Ok(space_dir);
        }
        // Of what is published there, nobody tells us where we are.
        self.watch.hurry();
        space_dir.successor_to_write().map(Arc::new)
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
        let space_dir = Arc::clone(&self.state.load().space_dir);
        let versions = history::list(&space_dir.dir)?;
        let Some(found) = versions.into_iter().find(|version| version.number == Some(number)) else { return Ok(false) };
        let Some(state) = State::of(&space_dir, &found.uid)? else { return Ok(false) };
        self.go(state);
        Ok(true)
    }

    /// Reads this from now on.
    fn go(&self, state: State) {
        let state = Arc::new(state);
        self.state.store(Arc::clone(&state));
        self.watch.saw(&state);
    }

    /// A writer that starts from the current version. Its changes are private until [`Writer::publish`],
    /// which replaces whatever is current by then; [`update`](Self::update) does not.
    pub fn writer(&self) -> Result<Writer> {
        self.begin(Writer::update)
    }

    /// A writer that starts empty, and replaces everything when it publishes.
    pub fn replace(&self) -> Result<Writer> {
        self.begin(Writer::replace)
    }

    fn begin(&self, how: impl FnOnce(Arc<SpaceDir>) -> Result<Writer>) -> Result<Writer> {
        Self::begin_in(&self.space_dir()?, how)
    }

    pub(crate) fn begin_in(
        space_dir: &Arc<SpaceDir>,
        how: impl FnOnce(Arc<SpaceDir>) -> Result<Writer>,
    ) -> Result<Writer> {
        let writer = how(Arc::clone(space_dir));
        // The first writer of a space of the original gem gives it a page to watch.
        space_dir.page.find(&space_dir.dir).and(writer)
    }

    /// Empties the space in one step, and drops every version of it. Handles keep what they read until they refresh.
    pub fn clear(&self) -> Result<()> {
        let space_dir = self.space_dir()?;
        publish::clear(&space_dir)?;
        let held = self.state.load_full();
        if !Arc::ptr_eq(&held.space_dir, &space_dir) {
            // There is no version to wait for, so we move on without.
            self.go(State::stale(&space_dir, held.version.clone()));
        }
        Ok(())
    }

    /// Removes what writers left that died, and versions beyond those that are [kept](Options::keep), as the
    /// next publication would; says what that came to.
    pub fn gc(&self) -> Result<Collected> {
        sweep::gc(&*self.space_dir()?)
    }

    /// The versions on disk, newest first: those beside the one that this handle reads.
    pub fn versions(&self) -> Result<Vec<history::VersionInfo>> {
        history::list(&self.state.load().space_dir.dir)
    }

    /// Makes an older version current again, in one step: the one of this number, or else the newest before the current
    /// one. Gives its number. Needs versions that were [kept](Options::keep); those it leaves behind stay until the next
    /// publication, so that it can be taken back.
    pub fn rollback(&self, number: Option<u64>) -> Result<u64> {
        history::rollback(&*self.space_dir()?, number)
    }
}

impl State {
    /// Opens the current version. The generation is read first: should the version change in between, we have the newer
    /// one under the older generation, and merely look once more.
    fn open(space_dir: &Arc<SpaceDir>) -> Result<Self> {
        space_dir.page.find(&space_dir.dir)?;
        let generation = space_dir.page.generation();
        let version = Version::current(&space_dir.dir, space_dir.options.paging)?;
        let version = version.map(|version| Arc::new(version.cached_in(space_dir.cache.as_ref())));
        Ok(Self { generation, version, space_dir: Arc::clone(space_dir) })
    }

    /// Opens the version of this name; `None` where it is not there.
    fn of(space_dir: &Arc<SpaceDir>, uid: &str) -> Result<Option<Self>> {
        let version = Version::open(&space_dir.dir, uid, space_dir.options.paging)?;
        Ok(version.map(|version| Self::stale(space_dir, Some(Arc::new(version.cached_in(space_dir.cache.as_ref()))))))
    }

    /// One that the next refresh leaves.
    fn stale(space_dir: &Arc<SpaceDir>, version: Option<Arc<Version>>) -> Self {
        Self { generation: NO_GENERATION, version, space_dir: Arc::clone(space_dir) }
    }

    /// What is current in its directory; `None` where that is this one.
    fn newer(&self) -> Result<Option<Self>> {
        self.space_dir.page.find(&self.space_dir.dir)?;
        if self.is_latest() && self.is_current()? { Ok(None) } else { Self::open(&self.space_dir).map(Some) }
    }

    /// Whether nothing was announced since.
    fn is_latest(&self) -> bool {
        self.generation == self.space_dir.page.generation()
    }

    /// Keeps the mapping we have where the version turned out to be the same.
    fn sharing(mut self, held: &Self) -> Self {
        if Arc::ptr_eq(&self.space_dir, &held.space_dir) && self.uid() == held.uid() {
            self.version.clone_from(&held.version);
        }
        self
    }

    fn uid(&self) -> Option<&str> {
        Some(&self.version.as_ref()?.uid)
    }

    /// Whether `current` still points to the version we hold.
    fn is_current(&self) -> Result<bool> {
        let target = self.space_dir.dir.read_link(CURRENT)?;
        Ok(target.as_deref().and_then(uid_of) == self.uid())
    }
}

impl Watch {
    fn new(space_dir: &SpaceDir) -> Self {
        let watch = Self {
            first: Arc::clone(&space_dir.page),
            seen: AtomicU64::new(NO_GENERATION),
            next_look: AtomicU64::new(0),
            every: space_dir.options.poll,
        };
        watch.put_off();
        watch
    }

    /// Whether nothing was announced on the page of the first directory, and we read that one.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.first.generation() == self.seen.load(Ordering::Relaxed)
    }

    #[inline]
    fn is_early(&self) -> bool {
        nanos(clock::coarse()) < self.next_look.load(Ordering::Relaxed)
    }

    /// Whether the page of the first directory is none of ours any more.
    #[inline]
    fn is_away(&self) -> bool {
        self.seen.load(Ordering::Relaxed) == AWAY
    }

    /// Notes what we hold. A handle that was away stays so: who comes late with a state of before is not to turn it back.
    fn saw(&self, state: &State) {
        let seen = if Arc::ptr_eq(&state.space_dir.page, &self.first) { state.generation } else { AWAY };
        let note = |before| (before != AWAY).then_some(seen);
        // It does not change where it is away.
        let _ = self.seen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, note);
    }

    /// Notes that somebody looks now.
    fn put_off(&self) {
        self.next_look.store(nanos(clock::coarse().saturating_add(self.every)), Ordering::Relaxed);
    }

    /// Has the next refresh look.
    fn hurry(&self) {
        self.next_look.store(0, Ordering::Relaxed);
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
