//! The owner: the one process that changes a region, from any number of threads.
//!
//! Here is what all changes share: writer slots to write from, cleaners, pages for the index. Segments for
//! their heads, and the count of what is live, are in `admission.rs`; how one record changes is in
//! `update.rs`.
//!
//! Locks are taken in this order, and nobody waits for an earlier one: batches, large, beginning, writer
//! slot, splits, purging, expiry reaper, cleaner, pool, passes, home. Splitting locks all homes of a page;
//! a thread that holds one waits for nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::budget::Priority;
use crate::alloc::pool::{Backing, Pool};
use crate::clean::cleaner::Cleaner;
use crate::clean::expiries::ExpiryReaper;
use crate::clean::passes::Passes;
use crate::clean::purge::Dropped;
use crate::clean::threads::Wakeup;
use crate::index::bucket::{Locked, Patience, stuck};
use crate::index::directory::{NOWHERE, Place};
use crate::index::slot::Slot;
use crate::index::split::{self, Unsplit};
use crate::options::Options;
use crate::parts::large::{Orphan, noted};
use crate::region::geometry::WORD;
use crate::region::region_file::RegionFile;
use crate::region::segment::{Segment, Stream};
use crate::region::{CLOCK, INCARNATION, Region};
use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU64, Mutex, MutexGuard, lock, thread_number, try_lock};
use crate::write::commit::{CommitHook, New};
use crate::write::update::Found;
use crate::write::writer_slot::WriterSlot;

/// A region and all that its owner keeps beside it.
pub(crate) struct Owner {
    pub(crate) region: Region,
    pub(crate) incarnation: u64,
    pub(crate) pool: Mutex<Pool>,
    pub(crate) cleaners: Box<[Mutex<Cleaner>]>,
    /// How long records live that do not live long, by the region's clock.
    pub(crate) lifetime: AtomicU64,
    /// Bytes of records that something names, as counted so far.
    pub(crate) live: AtomicU64,
    /// How many there may be where a record goes to a hole that takes more than it gives back.
    pub(crate) growth_live_max: AtomicU64,
    /// The tables that were dropped, until nothing is left of them.
    pub(crate) dropped: Dropped,
    /// Held while a value in parts is appended to.
    pub(crate) large: Mutex<()>,
    /// Held while a write of parts begins, and by a pause, which lets none begin.
    pub(crate) beginning: Mutex<()>,
    pub(crate) writer_slots: Box<[Mutex<WriterSlot>]>,
    splits: Mutex<()>,
    /// Held while a batch is made.
    pub(crate) batches: Mutex<()>,
    pub(crate) file: RegionFile,
    pub(crate) wakeup: Wakeup,
    /// Whether threads clean, rather than writers alone.
    pub(crate) has_threads: bool,
    pub(crate) passes: Passes,
    pub(crate) expiry_reaper: ExpiryReaper,
    /// Segments that no cleaner can give back, since damage hides what is in them.
    pub(crate) damaged: AtomicU64,
    /// Whether somebody has deleted the region's file.
    pub(crate) is_deleted: AtomicBool,
    /// What sees every change, if anything does.
    pub(crate) hook: Option<Arc<dyn CommitHook>>,
}

impl Owner {
    pub(crate) fn new(region: Region, mut pool: Pool, live: u64, options: &Options, file: RegionFile) -> Self {
        let Options { cleaners, least_hole, .. } = *options;
        let budget = options.budget();
        pool.budget = budget;
        Self {
            incarnation: region.load(INCARNATION),
            region,
            pool: Mutex::new(pool),
            cleaners: (0..budget.cleaners).map(|_| Mutex::new(Cleaner::new())).collect(),
            lifetime: AtomicU64::new(u64::MAX),
            live: AtomicU64::new(live),
            growth_live_max: AtomicU64::new(0),
            dropped: Dropped::new(),
            writer_slots: (0..budget.writer_slots as usize)
                .map(|number| Mutex::new(WriterSlot::new(number, least_hole)))
                .collect(),
            large: Mutex::new(()),
            beginning: Mutex::new(()),
            splits: Mutex::new(()),
            batches: Mutex::new(()),
            file,
            wakeup: Wakeup::default(),
            has_threads: cleaners > 0,
            passes: Passes::default(),
            expiry_reaper: ExpiryReaper::default(),
            damaged: AtomicU64::new(0),
            is_deleted: AtomicBool::new(false),
            hook: options.hook.clone(),
        }
    }

    /// Where a new version goes: to those that are expected not to live long, if the old one did not.
    #[inline]
    pub(crate) fn stream_of(&self, old: Slot) -> Stream {
        let born = Segment::of(&self.region, old.address()).map_or(0, Segment::created);
        let age = self.region.word(CLOCK).load(Relaxed).saturating_sub(born);
        if age < self.lifetime.load(Relaxed) { Stream::SHORT } else { Stream::LONG }
    }

    /// A writer slot for this thread: the one it had before, if nobody is on it.
    #[inline]
    pub(crate) fn take_writer_slot(&self) -> MutexGuard<'_, WriterSlot> {
        let first = thread_number() & (self.writer_slots.len() - 1);
        match try_lock(&self.writer_slots[first]) {
            Some(writer) => writer,
            None => self.take_other_seat(first),
        }
    }

    #[cold]
    fn take_other_seat(&self, first: usize) -> MutexGuard<'_, WriterSlot> {
        self.writer_slots.iter().find_map(try_lock).unwrap_or_else(|| lock(&self.writer_slots[first]))
    }

    /// Removes a record.
    pub(crate) fn remove(&self, home: &Locked<'_>, found: &Found<'_>) {
        // First: once the slot is empty, a purge may find nothing left of the table, and free its number.
        self.discount(found.old.record);
        self.commit(home, found.becomes(New::Nothing));
        Segment::bury_record(&self.region, found.old.record);
        self.live.fetch_sub(found.old.record.size, Relaxed);
    }

    /// Removes a record whose key has this hash, and the parts of its value.
    pub(crate) fn forget(&self, home: Locked<'_>, found: &Found<'_>, hash: u64) {
        let orphan = Orphan::of(&found.old, hash);
        self.remove(&home, found);
        drop(home);
        if let Some(orphan) = orphan {
            orphan.remove(self);
        }
    }

    /// Purges a segment, and lets one cleaner make one pass, or waits for those that are under way. `false`
    /// if no segment is worth it.
    pub(crate) fn clean(&self) -> Result<bool> {
        let has_purged = self.purge();
        let before = self.passes.counts();
        match self.cleaners.iter().find_map(try_lock) {
            Some(cleaner) => {
                self.pass(cleaner)?;
            }
            None => self.passes.wait(before),
        }
        let passes = self.passes.counts();
        // Others may have what is worth it.
        Ok(has_purged || passes.gained != before.gained || passes.under_way > 0)
    }

    /// Lets this cleaner make a pass.
    pub(crate) fn pass(&self, mut cleaner: MutexGuard<'_, Cleaner>) -> Result<bool> {
        self.passes.begin();
        let has_gained = cleaner.pass(self);
        drop(cleaner);
        self.passes.end(has_gained)
    }

    /// Counts a segment that a pass could not empty.
    #[cold]
    pub(crate) fn note_damage(&self) {
        self.damaged.fetch_add(1, Relaxed);
    }

    /// Lets nobody split a page, as long as what it gives is held: the directory stays as it is.
    pub(crate) fn fix_directory(&self) -> MutexGuard<'_, ()> {
        lock(&self.splits)
    }

    /// Splits the page that `place` showed for a hash, unless somebody else did meanwhile.
    pub(crate) fn split(&self, place: Place, hash: u64) -> Result<()> {
        let region = &self.region;
        let _turn = lock(&self.splits);
        if !place.is_current(region) {
            return Ok(());
        }
        if place.entry.page(region) == NOWHERE {
            return Err(place.damaged());
        }
        if place.root.depth() == place.depth(region) && place.root.depth() < region.layout.depth_max {
            let next = region.layout.directory(place.root.which() ^ 1, 0);
            self.file.back(region, next, WORD << (place.root.depth() + 1))?;
        }
        let pages = self.take_or_gain(|pool| pool.take_index_pages(region, &self.file, Priority::Overwrite))?;
        self.bound_growth();
        self.call();
        match split::split(region, place, hash, pages, self.incarnation) {
            Ok(old) => lock(&self.pool).pages.push(old),
            Err(why) => {
                lock(&self.pool).pages.extend(pages);
                return Err(match why {
                    Unsplit::Stuck(bucket) => stuck(bucket),
                    Unsplit::TooDeep => Error::new(Kind::Full, "more keys than a home can hold have the same hash")
                        .remedy("use other keys: these were chosen to collide"),
                });
            }
        }
        Ok(())
    }

    /// Keeps writers, cleaners and purges out for as long as the guard is held. Waits until no value in
    /// parts is half written or half removed; but for notes of that which stay, as damage may leave them, no
    /// longer than half a minute.
    pub(crate) fn pause(&self) -> impl Sized {
        let beginning = lock(&self.beginning);
        let mut patience = Patience::new();
        loop {
            // A writer may purge and clean.
            let writer_slots: Vec<_> = self.writer_slots.iter().map(lock).collect();
            let cleaning = (lock(&self.dropped.purging), self.cleaners.iter().map(lock).collect::<Vec<_>>());
            if noted(&self.region).next().is_none() || patience.is_over() {
                return (beginning, writer_slots, cleaning);
            }
            drop((writer_slots, cleaning));
            patience.wait();
        }
    }

    /// Waits until every change and every pass that is under way has come to its end.
    pub(crate) fn quiesce(&self) {
        self.writer_slots.iter().for_each(|writer| drop(lock(writer)));
        self.cleaners.iter().for_each(|cleaner| drop(lock(cleaner)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::key::Key;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::change::Change;

    fn put(memory: &Memory, key: u64) -> Result<()> {
        memory.put(TABLE, Key::Integer(key), &[7; 100]).map(drop)
    }

    /// Whoever decides may panic: what the lock guards is sound at any instant.
    #[test]
    fn a_panic_under_a_seat_keeps_nobody_out() {
        let memory = memory();
        let key = Key::Integer(1);
        let decide = || memory.update(TABLE, key, |_| -> Change<'_> { panic!("while it decides") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(decide)).is_err());
        put(&memory, 1).unwrap();
        memory.owner().count();
        assert_eq!(memory.owner().live(), memory.view().usage().live);
    }

    fn memory() -> Memory {
        small(32, 4096)
    }

    /// An entry that damage has made that of a deeper directory is split as the deepest of this one.
    #[test]
    fn a_depth_that_cannot_be_is_split_all_the_same() {
        let memory = memory();
        let (owner, hash) = (memory.owner(), 0);
        let region = &owner.region;
        let root = Place::of(region, hash).root;
        region.store(root.address(region, 0), region.load(root.address(region, 0)) | 5);
        owner.split(Place::of(region, hash), hash).unwrap();
        assert_eq!((memory.verify().pages, memory.verify().findings), (2, Vec::new()));
    }

    /// Of two writers that found no slot, one splits the page; the other finds room in a half.
    #[test]
    fn a_page_is_split_once() {
        let memory = memory();
        let (owner, hash) = (memory.owner(), 0);
        let seen = Place::of(&owner.region, hash);
        for pages in [2, 2] {
            owner.split(seen, hash).unwrap();
            assert_eq!(memory.verify().pages, pages);
        }
        owner.split(Place::of(&owner.region, hash), hash).unwrap();
        assert_eq!(memory.verify().pages, 3);
    }
}
