//! The owner: the one process that changes a region, from any number of threads.
//!
//! Here is what all changes share: seats to write from, segments for their heads, pieces for the index, and the count of what is
//! live. How one record changes is in `update.rs`.
//!
//! Locks are taken in this order, and nobody waits for an earlier one: large, seat, splits, purging, expirers, cleaner, pool, passes, home. Splitting
//! locks all homes of a piece; who holds one waits for nothing.

use std::fmt::Write;

use hammerspace_error::{Error, Kind, Result};

use crate::change::Old;
use crate::cleaner::Cleaner;
use crate::expiries::Expirers;
use crate::geometry::WORD;
use crate::head::Head;
use crate::holes::uncounted_max;
use crate::home::RegionFile;
use crate::index::bucket::{Locked, Patience, stuck};
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::index::split::{self, Unsplit};
use crate::large::{Orphan, noted};
use crate::options::{Options, segments_of};
use crate::passes::{Passes, SoFar};
use crate::pool::{Backing, FOR_SUCCESSORS, For, Pool, heads};
use crate::purge::Dropped;
use crate::record::{Head as RecordHead, Record};
use crate::region::{CLOCK, INCARNATION, LIMIT, Region, SEGMENTS_FRESH};
use crate::seat::Seat;
use crate::segment::{Segment, Stream};
use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU64, Mutex, MutexGuard, lock, thread_number, try_lock};
use crate::threads::Bell;
use crate::victims::gain_min;

/// The live bytes of a full store, as a share of what its segments hold.
pub(crate) const LIVE_MAX_PERCENT: u64 = 95;
/// The same while a long value and the one that it replaces both exist. With a fiftieth dead nothing is worth a pass any more.
const SUCCESSOR_MAX_PERCENT: u64 = 96;
/// Memory is scarce where less than this part of what may be live is left.
const SCARCE: u64 = 16;
/// How often what has expired is looked for, where that gave something, but no segment.
const LOOKS: u32 = 16;
/// Passes of each cleaner without a segment more, after which there is nothing to gain: a pass gains a fiftieth of one at least.
const VAIN_PASSES: usize = 128;

/// Seats for so many writers.
pub(crate) fn seats(writers: usize) -> usize {
    writers.max(1).next_power_of_two()
}

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
    /// Held by whoever appends to a value in parts.
    pub(crate) large: Mutex<()>,
    /// Held by whoever begins to write parts, and by who lets nobody begin.
    pub(crate) beginning: Mutex<()>,
    pub(crate) seats: Box<[Mutex<Seat>]>,
    splits: Mutex<()>,
    pub(crate) file: RegionFile,
    pub(crate) bell: Bell,
    /// Whether threads clean, rather than writers alone.
    has_threads: bool,
    passes: Passes,
    pub(crate) expirers: Expirers,
    /// Segments that no cleaner can give back, since damage hides what is in them.
    pub(crate) damaged: AtomicU64,
}

impl Owner {
    pub(crate) fn new(region: Region, mut pool: Pool, live: u64, options: &Options, file: RegionFile) -> Self {
        let Options { writers, cleaners, least_hole, .. } = *options;
        (pool.cleaners, pool.heads) = (cleaners.max(1), heads(seats(writers), cleaners.max(1)));
        Self {
            incarnation: region.load(INCARNATION),
            region,
            pool: Mutex::new(pool),
            cleaners: (0..cleaners.max(1)).map(|_| Mutex::new(Cleaner::new())).collect(),
            lifetime: AtomicU64::new(u64::MAX),
            live: AtomicU64::new(live),
            growth_live_max: AtomicU64::new(0),
            dropped: Dropped::new(),
            seats: (0..seats(writers)).map(|_| Mutex::new(Seat::new(least_hole))).collect(),
            large: Mutex::new(()),
            beginning: Mutex::new(()),
            splits: Mutex::new(()),
            file,
            bell: Bell::default(),
            has_threads: cleaners > 0,
            passes: Passes::default(),
            expirers: Expirers::default(),
            damaged: AtomicU64::new(0),
        }
    }

    /// Where a new version goes: to those that are expected not to live long, if the old one did not.
    #[inline]
    pub(crate) fn stream_of(&self, old: Slot) -> Stream {
        let born = Segment::of(&self.region, old.address()).map_or(0, Segment::created);
        let age = self.region.word(CLOCK).load(Relaxed).saturating_sub(born);
        if age < self.lifetime.load(Relaxed) { Stream::SHORT } else { Stream::LONG }
    }

    /// A seat for this thread: the one it had before, if nobody is on it.
    #[inline]
    pub(crate) fn take_seat(&self) -> MutexGuard<'_, Seat> {
        let first = thread_number() & (self.seats.len() - 1);
        match try_lock(&self.seats[first]) {
            Some(seat) => seat,
            None => self.take_other_seat(first),
        }
    }

    #[cold]
    fn take_other_seat(&self, first: usize) -> MutexGuard<'_, Seat> {
        self.seats.iter().find_map(try_lock).unwrap_or_else(|| lock(&self.seats[first]))
    }

    /// Gives a head a new segment, and cleans one if that is what it takes.
    pub(crate) fn make_room(&self, seat: &mut Seat, stream: Stream, size: u64, who: For) -> Result<()> {
        let region = &self.region;
        if size > region.layout.segment_size {
            let finding = format!("a record of {size} bytes; segments have {}", region.layout.segment_size);
            return Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key or value"));
        }
        seat.count(self);
        let is_over = || self.live_max(who).is_some_and(|most| self.live() + size > most);
        while is_over() && self.purge() {}
        if is_over() {
            self.count();
            self.expire(is_over);
            if is_over() {
                return Err(self.full());
            }
        }
        let segment = self.take_or_gain(|pool| pool.take_for(region, &self.file, who, stream))?;
        let written = self.renew(seat.head(stream), segment);
        region.word(CLOCK).fetch_add(written, Relaxed);
        seat.holes.allow_short(region, self.is_scarce());
        self.call();
        Ok(())
    }

    /// Lets a head go on in another segment. Gives how many bytes the former one got.
    pub(crate) fn renew(&self, head: &mut Head, segment: u64) -> u64 {
        let region = &self.region;
        // Before it is closed, and a cleaner's.
        lock(&self.pool).tails += head.tail(region);
        head.renew(region, segment, region.word(CLOCK).load(Relaxed))
    }

    /// Whether short records go to holes too.
    fn is_scarce(&self) -> bool {
        let most = self.bound_growth();
        most.saturating_sub(self.live()) < most / SCARCE
    }

    /// Bounds what is live where records grow in holes, by what may be live, which it gives. All seats may be at it before anything of that is
    /// counted.
    fn bound_growth(&self) -> u64 {
        let most = self.live_max(For::User).unwrap_or(0);
        let uncounted = uncounted_max(&self.region) + RecordHead::SIZE_MAX.min(self.region.layout.segment_size);
        self.growth_live_max.store(most.saturating_sub(self.seats.len() as u64 * uncounted), Relaxed);
        most
    }

    /// Calls those who clean and make ready, if there is something to do for them.
    fn call(&self) {
        let pool = lock(&self.pool);
        let is_needed = pool.is_short(&self.region) || pool.is_unready(&self.region);
        drop(pool);
        if is_needed {
            self.bell.ring();
        }
    }

    /// Gives a segment its memory, ahead of whoever will need it: a pass that gains one, for those who wait. `false` where enough are ready.
    pub(crate) fn prepare(&self) -> Result<bool> {
        let region = &self.region;
        let segment = {
            let mut pool = lock(&self.pool);
            if !pool.is_unready(region) {
                return Ok(false);
            }
            // With the pool's lock: who finds no segment there finds that one is in the making.
            self.passes.begin();
            pool.making += 1;
            pool.claim(region)
        };
        let backed = self.file.back(region, region.layout.segment(segment), region.layout.segment_size);
        let mut pool = lock(&self.pool);
        pool.making -= 1;
        let prepared = pool.settle(segment, backed).map(|()| true);
        drop(pool);
        self.passes.end(prepared)
    }

    /// Makes one huge page of what a segment of the index got piece by piece, where the kernel can. `false` if there is none.
    pub(crate) fn gather(&self) -> bool {
        let scattered = lock(&self.pool).scattered.pop();
        scattered.is_some_and(|segment| {
            let region = &self.region;
            // It has its memory, so at worst it keeps its small pages.
            self.file.back(region, region.layout.segment(segment), region.layout.segment_size).ok();
            true
        })
    }

    /// Removes a record that its slot in this home names.
    pub(crate) fn remove(&self, home: &Locked<'_>, at: &AtomicU64, slot: Slot, record: Record) {
        home.0.remove(at, slot);
        Segment::bury_record(&self.region, record);
        self.live.fetch_sub(record.size, Relaxed);
    }

    /// Removes a record that its slot in this home names, and the parts of its value.
    pub(crate) fn forget(&self, home: Locked<'_>, at: &AtomicU64, slot: Slot, record: Record, hash: u64) {
        let orphan = Orphan::of(&Old { region: &self.region, record }, hash);
        self.remove(&home, at, slot, record);
        drop(home);
        if let Some(orphan) = orphan {
            orphan.remove(self);
        }
    }

    /// Purges a segment, and lets one cleaner make one pass, or waits for those that are under way. `false` if no segment is worth it.
    pub(crate) fn clean(&self) -> Result<bool> {
        let has_purged = self.purge();
        let before = self.passes.so_far();
        match self.cleaners.iter().find_map(try_lock) {
            Some(cleaner) => {
                self.pass(cleaner)?;
            }
            None => self.passes.wait(before),
        }
        let passes = self.passes.so_far();
        // Others may have what is worth it.
        Ok(has_purged || passes.gained != before.gained || passes.under_way > 0)
    }

    /// What there is in the pool to take, as soon as cleaners have gained enough for it. [`Kind::Full`] where they gain nothing any more.
    fn take_or_gain<T>(&self, mut take: impl FnMut(&mut Pool) -> Result<Option<T>>) -> Result<T> {
        let (mut vain, vain_max, mut looks) = (0, VAIN_PASSES * self.cleaners.len(), 0);
        loop {
            let (before, expired) = (self.passes.so_far(), self.expired_so_far());
            let mut pool = lock(&self.pool);
            let why = match take(&mut pool) {
                Ok(Some(taken)) => return Ok(taken),
                Ok(None) => None,
                // There may be room in the memory that the store has.
                Err(error) => Some(error),
            };
            let (available, taken) = (pool.available(&self.region), pool.taken);
            drop(pool);
            let has_gained = self.gain(before)?;
            let is_purging = self.dropped.is_purging();
            let pool = lock(&self.pool);
            // What others have got was gained as well; and what is purged makes passes worth it.
            let is_gain = pool.available(&self.region) > available || pool.taken != taken || is_purging;
            vain = if is_gain { 0 } else { vain + 1 };
            drop(pool);
            if !has_gained && !is_gain || vain > vain_max {
                let is_little = || self.expired_so_far().wrapping_sub(expired) < gain_min(&self.region);
                self.expire(is_little);
                if !is_little() && looks < LOOKS {
                    (vain, looks) = (0, looks + 1);
                    continue;
                }
                // What was in the making may be there, or have been refused.
                let again = || take(&mut lock(&self.pool))?.ok_or_else(|| self.full());
                return why.map_or_else(again, Err);
            }
        }
    }

    /// Has a segment made free, if there was none after so many passes: by the threads whose work that is, where there are any. To make
    /// passes takes a writer many milliseconds of the processor's time when the store is nearly full, and gains nothing: one cleaner
    /// makes one pass at a time, whoever asks it to. `false` if no segment is worth it.
    fn gain(&self, before: SoFar) -> Result<bool> {
        if self.has_threads {
            self.bell.ring();
            self.passes.wait(before);
        }
        Ok(self.passes.so_far().gained != before.gained || self.clean()?)
    }

    /// Lets this cleaner make a pass.
    pub(crate) fn pass(&self, mut cleaner: MutexGuard<'_, Cleaner>) -> Result<bool> {
        self.passes.begin();
        let has_gained = cleaner.pass(self);
        drop(cleaner);
        self.passes.end(has_gained)
    }

    /// Counts what the writes of all seats that nobody is on have added to the live bytes: somebody who has deleted much may not have come here since.
    pub(crate) fn count(&self) {
        self.seats.iter().filter_map(try_lock).for_each(|mut seat| seat.count(self));
    }

    /// A segment for survivors.
    pub(crate) fn survivor(&self, stream: Stream) -> Result<Option<u64>> {
        lock(&self.pool).take_for(&self.region, &self.file, For::Cleaner, stream)
    }

    /// How many bytes of records there are. Less than none for a while, where one seat has counted what another wrote as dead.
    pub(crate) fn live(&self) -> u64 {
        self.live.load(Relaxed).cast_signed().max(0).cast_unsigned()
    }

    /// Segments without which writers never find room: heads, the first of the index, what is kept back, and one to fill.
    pub(crate) fn segments_min(writers: usize, cleaners: usize) -> u64 {
        Self::kept_back(seats(writers), cleaners.max(1)) + 2
    }

    /// Segments that count for nothing when it comes to how much there may be.
    pub(crate) fn kept_back(seats: usize, cleaners: usize) -> u64 {
        Pool::reserve(For::User, cleaners) + heads(seats, cleaners) + 1
    }

    /// How many bytes of records there may be with what is asked for, if that is bounded.
    fn live_max(&self, who: For) -> Option<u64> {
        let (region, pool) = (&self.region, lock(&self.pool));
        let (percent, more, tails) = match who {
            For::Cleaner | For::Keeper => return None,
            // What it replaces had its tails.
            For::Successor => (SUCCESSOR_MAX_PERCENT, FOR_SUCCESSORS, 0),
            For::User => (LIVE_MAX_PERCENT, 0, pool.tails),
        };
        let kept_back = Self::kept_back(self.seats.len(), self.cleaners.len()) - more;
        Some(pool.live_max(region, region.load(LIMIT), kept_back, percent, tails))
    }

    /// Changes the limit in force.
    pub(crate) fn set_limit(&self, limit: u64) -> Result<()> {
        let region = &self.region;
        let segments = segments_of(limit, &region.layout, self.seats.len(), self.cleaners.len())?;
        self.count();
        let pool = lock(&self.pool);
        let fresh = region.load(SEGMENTS_FRESH);
        let layout = &region.layout;
        let tables = layout.tables_len(segments).saturating_sub(layout.tables_len(region.load(LIMIT)));
        self.file.check_room(segments.saturating_sub(fresh) * layout.segment_size + tables)?;
        self.file.back_tables(&region.layout, segments)?;
        // Or else overwrites would find no room.
        let kept_back = Self::kept_back(self.seats.len(), self.cleaners.len());
        let most = |segments| pool.live_max(region, segments, kept_back, LIVE_MAX_PERCENT, pool.tails);
        let holds = |segments: &u64| most(*segments) >= self.live();
        let least = (segments.max(fresh)..region.load(LIMIT)).find(holds).unwrap_or(region.load(LIMIT));
        region.store(LIMIT, segments.max(least));
        drop(pool);
        self.bound_growth();
        Ok(())
    }

    /// Counts a segment that a pass could not empty.
    #[cold]
    pub(crate) fn note_damage(&self) {
        self.damaged.fetch_add(1, Relaxed);
    }

    #[cold]
    fn full(&self) -> Error {
        let size = self.region.layout.segment_size;
        let mut finding =
            format!("the store is full: {} of {} bytes are live records", self.live(), self.region.load(LIMIT) * size);
        let damaged = self.damaged.load(Relaxed);
        if damaged == 0 {
            return Error::new(Kind::Full, finding).remedy("delete something, or raise the memory limit");
        }
        write!(finding, ", and {damaged} segments cannot be cleaned, as they are damaged").expect("a string takes all");
        Error::new(Kind::Full, finding).remedy("save what can be read, and create the store anew")
    }

    /// Splits the piece that `place` showed for a hash, unless somebody else did meanwhile.
    pub(crate) fn split(&self, place: Place, hash: u64) -> Result<()> {
        let region = &self.region;
        let _turn = lock(&self.splits);
        if !place.is_current(region) {
            return Ok(());
        }
        if place.root.depth() == place.depth(region) && place.root.depth() < region.layout.depth_max {
            let next = region.layout.directory(place.root.which() ^ 1, 0);
            self.file.back(region, next, WORD << (place.root.depth() + 1))?;
        }
        let pieces = self.take_or_gain(|pool| pool.take_pieces(region, &self.file, For::Keeper))?;
        self.bound_growth();
        self.call();
        match split::split(region, place, hash, pieces, self.incarnation) {
            Ok(old) => lock(&self.pool).pieces.push(old),
            Err(why) => {
                lock(&self.pool).pieces.extend(pieces);
                return Err(match why {
                    Unsplit::Stuck(bucket) => stuck(bucket),
                    Unsplit::TooDeep => Error::new(Kind::Full, "more keys than a home can hold have the same hash")
                        .remedy("use other keys: these were chosen to collide"),
                });
            }
        }
        Ok(())
    }

    /// Keeps at bay who changes, cleans and purges, as long as what it gives is held. Waits until no value in parts is half written or half
    /// removed; but for notes of that which stay, as damage may leave them, no longer than some seconds.
    pub(crate) fn pause(&self) -> impl Sized {
        let beginning = lock(&self.beginning);
        let mut patience = Patience::new();
        loop {
            // Who changes something may purge and clean for that.
            let seats: Vec<_> = self.seats.iter().map(lock).collect();
            let cleaning = (lock(&self.dropped.purging), self.cleaners.iter().map(lock).collect::<Vec<_>>());
            if noted(&self.region).next().is_none() || patience.is_over() {
                return (beginning, seats, cleaning);
            }
            drop((seats, cleaning));
            patience.wait();
        }
    }

    /// Waits until every change and every pass that is under way has come to its end.
    pub(crate) fn quiesce(&self) {
        self.seats.iter().for_each(|seat| drop(lock(seat)));
        self.cleaners.iter().for_each(|cleaner| drop(lock(cleaner)));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::change::Change;
    use crate::fixture::{TABLE, small};
    use crate::geometry::Geometry;
    use crate::read::now;
    use crate::record::Key;
    use crate::sound::Memory;

    /// A store that takes no more, and how many keys it has.
    fn full() -> (Memory, u64) {
        let geometry = Geometry { segment_size: 4096, segments_max: 64, buckets: 4 };
        let limit = 64 * geometry.segment_size;
        let options =
            Options { geometry: Some(geometry), cleaners: 0, writers: 2, seed: Some(1), ..Options::with_limit(limit) };
        let memory = Memory::anonymous(&options).unwrap();
        let keys = (0..100_000).find(|key| put(&memory, *key).is_err()).unwrap();
        (memory, keys)
    }

    fn put(memory: &Memory, key: u64) -> Result<()> {
        memory.put(TABLE, Key::Integer(key), 0, &[7; 100], None, |_| true).map(drop)
    }

    /// Whoever decides may panic: what the lock guards is sound at any instant.
    #[test]
    fn a_panic_under_a_seat_keeps_nobody_out() {
        let memory = memory();
        let key = Key::Integer(1);
        let decide = || memory.update(TABLE, key, |_| panic!("while it decides"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(decide)).is_err());
        put(&memory, 1).unwrap();
        memory.owner().count();
        assert_eq!(memory.owner().live(), memory.view().usage().live);
    }

    /// As when another thread deletes, and does nothing else.
    #[test]
    fn what_was_deleted_from_another_seat_can_be_written_again() {
        let (memory, keys) = full();
        let seat = memory.owner().take_seat();
        for key in 0..keys / 2 {
            memory.update(TABLE, Key::Integer(key), |_| Change::Delete).unwrap();
        }
        drop(seat);
        for key in 0..keys / 4 {
            put(&memory, key).unwrap();
        }
    }

    #[test]
    fn records_grow_in_holes_below_the_live_cap() {
        let (memory, keys) = full();
        let owner = memory.owner();
        let delete = |keys: std::ops::Range<u64>| {
            for key in keys {
                memory.update(TABLE, Key::Integer(key), |_| Change::Delete).unwrap();
            }
            owner.count();
        };
        delete(0..0);
        let live_max = || owner.growth_live_max.load(Relaxed);
        assert!(owner.is_scarce() && live_max() < owner.live(), "all seats may be at it");
        delete(0..keys / 20);
        assert!(owner.is_scarce());
        delete(keys / 20..keys / 10);
        assert!(!owner.is_scarce() && live_max() > owner.live());
        let memory = small(64, 4096);
        let live_max = || memory.owner().growth_live_max.load(Relaxed);
        put(&memory, 1).unwrap();
        let before = live_max();
        memory.set_limit(40 * 4096).unwrap();
        assert!(live_max() < before, "whoever takes a segment then");
    }

    /// What another cleaner is at may be all that is worth a pass.
    #[test]
    fn nothing_is_in_vain_while_a_pass_is_under_way() {
        let (memory, _) = full();
        let owner = memory.owner();
        while owner.clean().unwrap() {}
        owner.passes.begin();
        assert!(owner.clean().unwrap());
        owner.passes.end(Ok(false)).unwrap();
        assert!(!owner.clean().unwrap());
    }

    #[test]
    fn a_segment_that_is_made_ready_is_gained_by_a_pass() {
        let memory = small(64, 4096);
        let owner = memory.owner();
        let untouched = || owner.region.load(LIMIT) - owner.region.load(SEGMENTS_FRESH);
        lock(&owner.pool).heads = 64;
        for gained in 1..=untouched() {
            assert!(owner.prepare().unwrap());
            let passes = owner.passes.so_far();
            assert_eq!((passes.under_way, passes.gained), (0, gained));
        }
        assert!(!owner.prepare().unwrap() && untouched() == 0);
    }

    #[test]
    fn each_cleaner_finds_a_segment_for_survivors() {
        for cleaners in [1, 4, 16] {
            assert!(Pool::reserve(For::Keeper, cleaners) >= cleaners as u64);
        }
    }

    /// Beside much that is kept for ever, of whose segments a little is dead: by their age they are worth more than those that have
    /// something to expire.
    #[test]
    fn what_has_expired_makes_room_however_old_the_rest_is() {
        let memory = small(600, 4096);
        let put_for = |key, expiry| memory.put(TABLE, Key::Integer(key), 0, &[7; 100], expiry, |_| true);
        let keys = (0..1 << 20).find(|key| put(&memory, *key).is_err()).unwrap();
        for key in (0..keys / 4).step_by(30).chain(keys - 200..keys) {
            memory.update(TABLE, Key::Integer(key), |_| Change::Delete).unwrap();
        }
        let soon = now() + 1500;
        let more = (keys..1 << 20).find(|key| put_for(*key, (key % 2 == 0).then_some(soon)).is_err()).unwrap();
        assert!(more > keys + 100, "there was room for {}", more - keys);
        thread::sleep(Duration::from_millis(soon.saturating_sub(now()) + 1));
        // A quarter of what has come in, where it is a half that has expired.
        (more..more + (more - keys) / 4).for_each(|key| put(&memory, key).unwrap());
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
        assert_eq!((memory.verify().pieces, memory.verify().findings), (2, Vec::new()));
    }

    /// Of two writers that found no slot, one splits the piece; the other finds room in a half.
    #[test]
    fn a_piece_is_split_once() {
        let memory = memory();
        let (owner, hash) = (memory.owner(), 0);
        let seen = Place::of(&owner.region, hash);
        for pieces in [2, 2] {
            owner.split(seen, hash).unwrap();
            assert_eq!(memory.verify().pieces, pieces);
        }
        owner.split(Place::of(&owner.region, hash), hash).unwrap();
        assert_eq!(memory.verify().pieces, 3);
    }
}
