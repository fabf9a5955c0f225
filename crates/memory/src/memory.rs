//! The owner's handle.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Dir;
use hammerspace_os::process::ForkDetector;

use crate::alloc::budget::Priority;
use crate::alloc::pool::{Backing, Pool};
use crate::batch;
use crate::batch::staged::Present;
use crate::clean::cleaner::Stats;
use crate::index::split;
use crate::options::Options;
use crate::owner::Owner;
use crate::parts::large;
use crate::read::prefetched::for_each_prefetched;
use crate::read::view::View;
use crate::record::key::Key;
use crate::recover::adopt;
use crate::recover::verify::{Report, verify};
use crate::region::region_file::RegionFile;
use crate::region::{CATALOGUE, INCARNATION, LIMIT, OWNER, Region};
use crate::store_dir::{self, Held, Lock};
use crate::sync::Ordering::{Relaxed, Release};
use crate::sync::lock;
use crate::write::change::{Change, Decision, Old, Updated};
use crate::write::update::{TableId, Target, update, update_at};

/// A region that this process owns: it alone changes it. All verbs take `&self`, from any thread.
///
/// Belongs to the process that opened it: a child forked from it gets [`Kind::Invalid`] from every change.
pub struct Memory {
    owner: Arc<Owner>,
    threads: Vec<JoinHandle<()>>,
    fork_detector: ForkDetector,
    /// Of a store that has a name.
    lock: Option<Lock>,
}

impl Memory {
    /// Makes a store at `path` and owns it.
    pub fn create(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::create_with(path, options, |_| Ok(()))
    }

    /// The same with what `begin` puts into it: before that is done there is no store, also should its maker
    /// die.
    pub fn create_with(
        path: impl AsRef<Path>,
        options: &Options,
        begin: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Self> {
        let (mut memory, lock) = store_dir::create(path.as_ref(), options, |region, file| {
            let memory = Self::make(region, file, options)?;
            begin(&memory)?;
            Ok(memory)
        })?;
        memory.lock = Some(lock);
        memory.start(options)
    }

    /// Owns a store that nobody owns, with every completed change of its last owner. [`Kind::Busy`] where
    /// somebody does.
    ///
    /// Of the options threads and `least_hole` count, as far as the store is large enough for so many.
    /// O(segments + entries of the directory), and 16,000 lookups for each value beyond 64 KiB that the last
    /// owner died over.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::open_with(path, options, |_| Ok(()))
    }

    /// The same, and `begin` before any thread of the store changes anything.
    pub fn open_with(
        path: impl AsRef<Path>,
        options: &Options,
        begin: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Self> {
        options.check_threads()?;
        let Held { file, region, lock } = store_dir::open(path.as_ref())?;
        let memory = Self::adopt(region, file, Some(lock), options)?;
        begin(&memory)?;
        memory.start(options)
    }

    /// Owns a region whose last owner is gone.
    fn adopt(region: Region, file: RegionFile, lock: Option<Lock>, options: &Options) -> Result<Self> {
        let (mut pool, live, left) = adopt::adopt(&region).map_err(|error| error.file(file.path()))?;
        // What has no memory gets it when it is needed, or says so then.
        pool.back_reserve(&region, &file).ok();
        region.back_counters(&file);
        let options = &options.within(&region, &pool, live);
        let memory = Self::own(region, pool, live, file, lock, options)?;
        large::remove_pending(&memory.owner);
        left.finish(&memory.owner);
        Ok(memory)
    }

    /// Owns a region that another owner has left, as if it had died.
    #[cfg(test)]
    pub(crate) fn after(region: Region, options: &Options) -> Result<Self> {
        Self::adopt(region, store_dir::anonymous(options)?.0, None, options)
    }

    /// Deletes a store that nobody owns. [`Kind::Busy`] where somebody does; who reads it goes on with what
    /// was there.
    pub fn remove(path: impl AsRef<Path>) -> Result<()> {
        Self::remove_with(path, |_| Ok(()))
    }

    /// The same, and first what else lies in its directory.
    pub fn remove_with(path: impl AsRef<Path>, others: impl FnOnce(&Dir) -> Result<()>) -> Result<()> {
        store_dir::remove(path.as_ref(), others)
    }

    /// The directory that the region of a store lies in, or lay before the machine's restart.
    pub fn place_of_region(path: impl AsRef<Path>) -> Option<PathBuf> {
        store_dir::place_of_region(path.as_ref())
    }

    /// Stops the threads that change the region by themselves.
    pub fn stop(&mut self) {
        if self.fork_detector.is_same_process() {
            self.owner.stop();
            for thread in self.threads.drain(..) {
                thread.join().ok();
            }
        }
    }

    /// Whether this is the process that opened the store, and none that was forked from it.
    pub fn is_here(&self) -> bool {
        self.fork_detector.is_same_process()
    }

    /// A region that has no name, and ends with the last process that has the handle: this one, and those
    /// forked from it, which read.
    pub fn anonymous(options: &Options) -> Result<Self> {
        let (file, region) = store_dir::anonymous(options)?;
        Self::make(region, file, options)?.start(options)
    }

    /// Makes what threads keep ready later, too: to wait for memory is for who makes a store, and not for who
    /// first writes to it.
    fn make(region: Region, file: RegionFile, options: &Options) -> Result<Self> {
        let pool = initialize(&region, &file)?;
        let memory = Self::own(region, pool, 0, file, None, options)?;
        while options.cleaners > 0 && memory.owner.prepare()? {}
        Ok(memory)
    }

    fn own(
        region: Region,
        pool: Pool,
        live: u64,
        file: RegionFile,
        lock: Option<Lock>,
        options: &Options,
    ) -> Result<Self> {
        region.store(OWNER, u64::from(std::process::id()));
        let owner = Arc::new(Owner::new(region, pool, live, options, file));
        Ok(Self { owner, threads: Vec::new(), fork_detector: ForkDetector::new()?, lock })
    }

    /// Begins to clean. Should a thread fail to start, those that did end with the handle, and before its
    /// lock.
    fn start(mut self, options: &Options) -> Result<Self> {
        for number in 0..options.cleaners {
            self.threads.push(self.owner.clone().spawn_cleaner(number)?);
        }
        if self.lock.is_some() {
            self.threads.push(self.owner.clone().spawn_watcher()?);
        }
        Ok(self)
    }

    /// What there is to read.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { region: &self.owner.region }
    }

    pub(crate) fn shared_owner(&self) -> &Arc<Owner> {
        &self.owner
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// [`Kind::Invalid`] in a child forked from the process that opened the store; [`Kind::Missing`] within a
    /// second after somebody has deleted the region's file.
    pub fn check(&self) -> Result<()> {
        if self.fork_detector.is_same_process() {
            return if self.owner.is_deleted.load(Relaxed) { Err(self.deleted()) } else { Ok(()) };
        }
        let error = Error::new(Kind::Invalid, "the store belongs to the process that this one was forked from");
        Err(error.remedy("attach to it to read, or open the store in the child and not in its parent"))
    }

    #[cold]
    fn deleted(&self) -> Error {
        let finding = "the region's file was deleted while the store was in use, so that nobody else will ever find it";
        Error::new(Kind::Missing, finding).file(self.owner.file.path()).remedy(
            "read what is to be kept by this handle, close it, and create the store anew; where the last logout of a user \
             deletes the user's files in /dev/shm, set `RemoveIPC=no` in logind.conf or put the region \
             elsewhere",
        )
    }

    /// Whether a living process owns the store. In a child forked from the process that opened it a system
    /// call; another process may own the store by then.
    pub fn has_owner(&self) -> Result<bool> {
        match &self.lock {
            _ if self.fork_detector.is_same_process() => Ok(true),
            Some(lock) => lock.is_taken(),
            None => self.owner.file.is_claimed(),
        }
    }

    /// Changes the record of a key as `decide` says, which is given the record there is. It is asked under a
    /// lock, which it must not keep for long, and may be asked again; its last answer counts. A value may
    /// have any length up to [`VALUE_LEN_MAX`](crate::VALUE_LEN_MAX).
    ///
    /// [`Kind::Full`] if it takes more room than there is: not when it deletes, nor when the record becomes
    /// no longer, unless the file system's memory has ended before the limit. An expiry where there was none
    /// makes it 8 bytes longer. A value over 64 KiB exists beside the one that it replaces until it is there
    /// as a whole. In a full store there is room for that, for one such value at a time, where it is no
    /// longer than the old one: two segments, and a hundredth of the limit where that is more. What finds
    /// none is `Full` too, and the old value stays.
    pub fn update<'c, R, D: Into<Decision<'c, R>>>(
        &self,
        table: TableId,
        key: Key<'_>,
        mut decide: impl FnMut(Option<&Old<'_>>) -> D,
    ) -> Result<Updated<R>> {
        self.check()?;
        update(&self.owner, self.target(table, key, Priority::User), |old| decide(old).into())
    }

    /// Changes the records of many keys, one after the other, with the misses of the cache of many keys at
    /// the same time. `decide` and `each` are given the place of the key. The first error ends it.
    pub fn update_many<'k, 'c, R, D: Into<Decision<'c, R>>>(
        &self,
        table: TableId,
        count: usize,
        key: impl Fn(usize) -> Key<'k>,
        mut decide: impl FnMut(usize, Option<&Old<'_>>) -> D,
        mut each: impl FnMut(usize, Updated<R>) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        let hash = |at: usize| key(at).hash(self.owner.region.seed, table.number);
        for_each_prefetched(&self.owner.region, count, hash, |at, prefetched| {
            let target = Target { table, key: key(at), hash: prefetched.hash, priority: Priority::User };
            each(at, update_at(&self.owner, target, prefetched.place, &mut |old| decide(at, old).into())?)
        })
    }

    /// Changes the records of many keys as one, each as `decide` says, which is given the place of the
    /// operation among `operations` and the record there is, as the operations before leave it. It is asked
    /// in order, with the homes of all keys locked; it may be asked again, and its last answers count. If it
    /// gives `None` for any operation, nothing is changed. Gives for each operation the version that the
    /// record has in the end; `None` if nothing was to be changed.
    ///
    /// Other writers see all of a batch or nothing, and so does the next owner if this one dies. Readers see
    /// each key before or after, not all of them at one instant.
    ///
    /// [`Kind::Full`] as in [`update`](Self::update), but that everything that a batch writes exists beside
    /// what it replaces; nothing is changed then. O(operations), and a value over 64 KiB that is appended to
    /// is written anew.
    pub fn batch<'c>(
        &self,
        operations: &[(TableId, Key<'_>)],
        mut decide: impl FnMut(usize, Option<&dyn Present>) -> Option<Change<'c>>,
    ) -> Result<Option<Vec<Option<u64>>>> {
        self.check()?;
        batch::commit(&self.owner, operations, &mut decide)
    }

    /// Puts bytes, to stay, whatever is there.
    pub fn put(&self, table: TableId, key: Key<'_>, value: &[u8]) -> Result<Updated> {
        self.put_until(table, key, value, None)
    }

    /// The same, until this many milliseconds since 1970.
    pub fn put_until(&self, table: TableId, key: Key<'_>, value: &[u8], expiry: Option<u64>) -> Result<Updated> {
        self.update(table, key, |_| Change::Put { kind: 0, value: value.into(), expiry })
    }

    /// Puts a value that may be longer than the one before in a full store too, out of room that users leave.
    /// For what has to be written so that much more comes back.
    pub fn put_to_give_back(&self, table: TableId, key: Key<'_>, value: &[u8]) -> Result<Updated> {
        self.check()?;
        let put = |_: Option<&Old<'_>>| Change::Put { kind: 0, value: value.into(), expiry: None }.into();
        update(&self.owner, self.target(table, key, Priority::Overwrite), put)
    }

    /// Appends to a value; where there is none it begins with these bytes.
    pub fn append(&self, table: TableId, key: Key<'_>, kind: u8, bytes: &[u8]) -> Result<Updated> {
        self.update(table, key, |_| Change::Append { kind, bytes })
    }

    fn target<'k>(&self, table: TableId, key: Key<'k>, priority: Priority) -> Target<'k> {
        Target::of(&self.owner.region, table, key, priority)
    }

    /// Drops a table, which is not in the list of tables any more. Waits for each thread to end the change it
    /// is at, and each cleaner its pass: milliseconds, or tens of them where a full store is cleaned for
    /// these changes. What the table's records take comes back later. While `is_dropping` says that something
    /// is left, its number must not be used for another.
    pub fn drop_table(&self, table: u16) -> Result<()> {
        self.check()?;
        self.owner.drop_table(table);
        Ok(())
    }

    /// Whether something is left of a table that was dropped.
    pub fn is_dropping(&self, table: u16) -> bool {
        self.owner.dropped.contains(table)
    }

    /// Says that the list of tables is about to change, for whoever looks at [`View::catalogue`]. One change
    /// at a time is the caller's to see to.
    pub fn begin_catalogue(&self) -> Result<()> {
        self.check()?;
        self.owner.region.word(CATALOGUE).fetch_or(1, Release);
        Ok(())
    }

    /// Says that the list of tables has changed, by an even number that is greater than any before.
    pub fn end_catalogue(&self, stamp: u64) -> Result<()> {
        self.check()?;
        self.owner.region.word(CATALOGUE).store(stamp, Release);
        Ok(())
    }

    /// Raises or lowers the memory limit, for the owner and for whoever reads. [`Kind::Invalid`] beyond what
    /// the region was made for, and below what its writers and cleaners need; [`Kind::Full`] where the file
    /// system has no room for it.
    ///
    /// Memory that was in use once is not given back: nor is what is live left without room: a lower limit
    /// becomes that much at least, as [`View::usage`] then says. O(segments).
    pub fn set_limit(&self, limit: u64) -> Result<()> {
        self.check()?;
        self.owner.set_limit(limit)
    }

    #[cfg(test)]
    pub(crate) fn hash(&self, table: TableId, key: Key<'_>) -> u64 {
        self.target(table, key, Priority::User).hash
    }

    /// Removes what dropped tables left in one segment, and lets a cleaner make one free, now. `false` if
    /// there is neither.
    pub fn clean(&self) -> Result<bool> {
        self.check()?;
        self.owner.clean()
    }

    /// What the cleaners have done since the store was opened: nothing in a forked child, which has none.
    pub fn cleaned(&self) -> Stats {
        let cleaners = if self.fork_detector.is_same_process() { &self.owner.cleaners[..] } else { &[] };
        cleaners.iter().map(|cleaner| lock(cleaner).stats).fold(Stats::default(), Stats::plus)
    }

    /// Segments whose memory does not come back, since damage hides what is in them: as far as cleaners have
    /// met them, since the store was opened. [`verify`](Self::verify) tells where it is.
    pub fn damaged(&self) -> u64 {
        self.owner.damaged.load(Relaxed)
    }

    /// Looks at everything. Changes wait until it is done, and cleaners; in a forked child, whose parent goes
    /// on, what is being changed may be taken for faults.
    pub fn verify(&self) -> Report {
        let _paused = self.fork_detector.is_same_process().then(|| self.owner.pause());
        verify(&self.owner.region)
    }
}

/// An empty index for a new region, which then is one.
fn initialize(region: &Region, backing: &dyn Backing) -> Result<Pool> {
    let mut pool = Pool::default();
    let root = region.layout.directory(0, 0);
    backing.back(region, root, region.layout.directory(0, 1) - root)?;
    let Some([page, spare]) = pool.first_pieces(region, backing)? else {
        let finding = format!("a limit of {} segments is too small for a store", region.load(LIMIT));
        return Err(Error::new(Kind::Invalid, finding).remedy("allow it more memory"));
    };
    pool.pages.push(spare);
    split::initialize(region, page);
    pool.back_reserve(region, backing)?;
    region.store(INCARNATION, 1);
    region.finish();
    Ok(pool)
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({:?})", self.view().usage())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use hammerspace_os::process::fork::fork;

    use super::*;
    use crate::testing::fixture::small;

    /// As when it was forked while a cleaner was at work: in the child nobody opens its lock.
    #[test]
    fn a_forked_child_waits_for_nobody() {
        let memory = Arc::new(small(32, 4096));
        let _paused = memory.owner().pause();
        let child = fork(|| {
            let (end, is_over) = mpsc::channel();
            let memory = memory.clone();
            thread::spawn(move || end.send((memory.cleaned(), memory.verify().faults)).ok());
            i32::from(is_over.recv_timeout(Duration::from_secs(10)) != Ok((Stats::default(), 0)))
        });
        assert_eq!(child.wait(), Some(0));
    }
}
