//! The owner: the one process that changes a region, from any number of threads.
//!
//! Here is what all changes share: seats to write from, segments for their heads, pieces for the index, and the count of what is
//! live. How one record changes is in `update.rs`.
//!
//! Locks are taken in this order, and nobody waits for an earlier one: large, seat, splits, cleaner, pool, home. Splitting locks all homes
//! of a piece; who holds one waits for nothing.

use std::fmt::Write;
use std::time::Duration;

use hammerspace_error::{Error, Kind, Result};

use crate::change::Old;
use crate::cleaner::Cleaner;
use crate::geometry::{LEDGER_ENTRY, WORD};
use crate::head::Head;
use crate::index::bucket::{Locked, stuck};
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::index::split::{self, Unsplit};
use crate::large::Orphan;
use crate::pool::{Backing, FOR_SUCCESSORS, For, Pool, READY};
use crate::purge::Dropped;
use crate::record::{Head as RecordHead, Record};
use crate::region::{CLOCK, INCARNATION, LIMIT, Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Stream};
use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, lock, thread_number, wait_while};
use crate::threads::Bell;

/// Where one thread at a time writes.
pub(crate) struct Seat {
    heads: [Head; 2],
    /// What its writes added to the live bytes, not yet counted.
    live: i64,
}

impl Seat {
    fn new() -> Self {
        Self { heads: [Head::new(Stream::SHORT), Head::new(Stream::LONG)], live: 0 }
    }

    #[inline]
    pub(crate) fn head(&mut self, stream: Stream) -> &mut Head {
        &mut self.heads[usize::from(stream.0)]
    }

    /// Counts a record that was written.
    #[inline]
    pub(crate) fn enliven(&mut self, record: RecordHead) {
        self.live += record.size().cast_signed();
    }

    /// Counts a record as dead.
    #[inline]
    pub(crate) fn bury(&mut self, region: &Region, record: Record) {
        self.live -= record.head.size().cast_signed();
        Segment::bury_record(region, record);
    }
}

/// The live bytes of a full store, as a share of what its segments hold.
const LIVE_MAX_PERCENT: u64 = 95;
/// The same while a long value and the one that it replaces both exist. With a fiftieth dead nothing is worth a pass any more.
const SUCCESSOR_MAX_PERCENT: u64 = 96;
/// Segments beyond the reserve that cleaners keep free.
const AHEAD: u64 = 4;
/// What a pass takes at most, where nothing delays it.
const PASS: Duration = Duration::from_millis(20);
/// Passes without a segment more, after which there is nothing to gain: a pass gains a fiftieth of one at least.
const VAIN_PASSES: u32 = 128;

/// The passes of cleaners so far.
#[derive(Default)]
struct Passes {
    count: u64,
    /// Whether the last one made a segment free.
    has_gained: bool,
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
    /// The tables that were dropped, until nothing is left of them.
    pub(crate) dropped: Dropped,
    /// Held by whoever appends to a value in parts.
    pub(crate) large: Mutex<()>,
    seats: Box<[Mutex<Seat>]>,
    splits: Mutex<()>,
    backing: Box<dyn Backing + Send + Sync>,
    pub(crate) bell: Bell,
    /// Whether threads clean, rather than writers alone.
    has_threads: bool,
    passes: Mutex<Passes>,
    passed: Condvar,
    /// Segments that no cleaner can give back, since damage hides what is in them.
    pub(crate) damaged: AtomicU64,
}

impl Owner {
    pub(crate) fn new(
        region: Region,
        pool: Pool,
        live: u64,
        writers: usize,
        cleaners: usize,
        backing: Box<dyn Backing + Send + Sync>,
    ) -> Self {
        Self {
            incarnation: region.load(INCARNATION),
            region,
            pool: Mutex::new(pool),
            cleaners: (0..cleaners.max(1)).map(|_| Mutex::new(Cleaner::new())).collect(),
            lifetime: AtomicU64::new(u64::MAX),
            live: AtomicU64::new(live),
            dropped: Dropped::new(),
            seats: (0..writers.max(1).next_power_of_two()).map(|_| Mutex::new(Seat::new())).collect(),
            large: Mutex::new(()),
            splits: Mutex::new(()),
            backing,
            bell: Bell::default(),
            has_threads: cleaners > 0,
            passes: Mutex::default(),
            passed: Condvar::new(),
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
        match self.seats[first].try_lock() {
            Ok(seat) => seat,
            Err(_) => self.take_other_seat(first),
        }
    }

    #[cold]
    fn take_other_seat(&self, first: usize) -> MutexGuard<'_, Seat> {
        self.seats.iter().find_map(|seat| seat.try_lock().ok()).unwrap_or_else(|| lock(&self.seats[first]))
    }

    /// Gives a head a new segment, and cleans one if that is what it takes.
    pub(crate) fn make_room(&self, seat: &mut Seat, stream: Stream, size: u64, who: For) -> Result<()> {
        let region = &self.region;
        if size > region.layout.segment_size {
            let finding = format!("a record of {size} bytes; segments have {}", region.layout.segment_size);
            return Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key or value"));
        }
        self.live.fetch_add(std::mem::take(&mut seat.live).cast_unsigned(), Relaxed);
        let mut vain = 0;
        let segment = loop {
            let is_over = || self.live_max(who).is_some_and(|most| self.live() + size > most);
            // Once more: somebody else may have purged meanwhile.
            if is_over() && !self.purge() && is_over() {
                return Err(self.full());
            }
            let before = self.passes();
            let available = {
                let mut pool = lock(&self.pool);
                if let Some(segment) = pool.take_for(region, &*self.backing, who, stream)? {
                    break segment;
                }
                pool.available(region)
            };
            let has_gained = self.gain(before)?;
            vain = if lock(&self.pool).available(region) > available { 0 } else { vain + 1 };
            if !has_gained || vain > VAIN_PASSES {
                return Err(self.full());
            }
        };
        let clock = region.word(CLOCK);
        let written = seat.head(stream).renew(region, segment, clock.load(Relaxed));
        clock.fetch_add(written, Relaxed);
        if self.is_short() || lock(&self.pool).is_unready(region) {
            self.bell.ring();
        }
        Ok(())
    }

    /// Gives a segment its memory, ahead of whoever will need it. `false` where enough are ready.
    pub(crate) fn prepare(&self) -> Result<bool> {
        let region = &self.region;
        let segment = {
            let mut pool = lock(&self.pool);
            if !pool.is_unready(region) {
                return Ok(false);
            }
            pool.claim(region)
        };
        let backed = self.backing.back(region, region.layout.segment(segment), region.layout.segment_size);
        lock(&self.pool).settle(segment, backed).map(|()| true)
    }

    /// Gives the last segments that may have been about to get memory when a former owner died theirs.
    pub(crate) fn back_last(&self) -> Result<()> {
        let region = &self.region;
        let fresh = region.load(SEGMENTS_FRESH);
        let first = fresh.saturating_sub(READY);
        self.backing.back(region, region.layout.segment(first), (fresh - first) * region.layout.segment_size)
    }

    /// Removes a record that its slot in this home names.
    pub(crate) fn remove(&self, home: &Locked<'_>, at: u64, slot: Slot, record: Record) {
        home.0.remove(at, slot);
        Segment::bury_record(&self.region, record);
        self.live.fetch_sub(record.head.size(), Relaxed);
    }

    /// Removes a record that its slot in this home names, and the parts of its value.
    pub(crate) fn forget(&self, home: Locked<'_>, at: u64, slot: Slot, record: Record, hash: u64) {
        let orphan = Orphan::of(&Old { region: &self.region, record }, hash);
        self.remove(&home, at, slot, record);
        drop(home);
        if let Some(orphan) = orphan {
            orphan.remove(self);
        }
    }

    /// Lets one cleaner make one pass, or waits for one that is under way.
    pub(crate) fn clean(&self) -> Result<bool> {
        if self.purge() {
            return Ok(true);
        }
        let before = self.passes();
        match self.cleaners.iter().find_map(|cleaner| cleaner.try_lock().ok()) {
            Some(cleaner) => self.pass(cleaner),
            None => Ok(self.wait_for_pass(before).is_none_or(|has_gained| has_gained)),
        }
    }

    /// Has a segment made free, if there was none after so many passes: by the threads whose work that is, where there are any. To make
    /// passes takes a writer many milliseconds of the processor's time when the store is nearly full, and gains nothing: one cleaner
    /// makes one pass at a time, whoever asks it to. `false` if no segment is worth it.
    fn gain(&self, before: u64) -> Result<bool> {
        if self.has_threads {
            self.bell.ring();
            if self.wait_for_pass(before) == Some(true) {
                return Ok(true);
            }
        }
        self.clean()
    }

    /// How many passes there were.
    fn passes(&self) -> u64 {
        lock(&self.passes).count
    }

    /// Lets this cleaner make a pass.
    pub(crate) fn pass(&self, mut cleaner: MutexGuard<'_, Cleaner>) -> Result<bool> {
        let has_gained = cleaner.pass(self);
        drop(cleaner);
        let mut passes = lock(&self.passes);
        *passes = Passes { count: passes.count + 1, has_gained: matches!(has_gained, Ok(true)) };
        drop(passes);
        self.passed.notify_all();
        has_gained
    }

    /// Waits for somebody's pass to end, not for a turn to make one: what is needed may be there by then, and a cleaner's thread that
    /// takes its lock again at once would let nobody else have it.
    ///
    /// Whether it gained a segment; `None` if none ended in time.
    fn wait_for_pass(&self, before: u64) -> Option<bool> {
        let passes = wait_while(&self.passes, &self.passed, PASS, |passes| passes.count == before);
        (passes.count != before).then_some(passes.has_gained)
    }

    /// Whether free segments have become so few that it is time to clean.
    pub(crate) fn is_short(&self) -> bool {
        lock(&self.pool).available(&self.region) < Pool::reserve(For::User) + AHEAD
    }

    /// A segment for survivors.
    pub(crate) fn survivor(&self, stream: Stream) -> Result<Option<u64>> {
        lock(&self.pool).take_for(&self.region, &*self.backing, For::Cleaner, stream)
    }

    /// How many bytes of records there are. Less than none for a while, where one seat has counted what another wrote as dead.
    fn live(&self) -> u64 {
        self.live.load(Relaxed).cast_signed().max(0).cast_unsigned()
    }

    /// Segments without which writers never find room: heads, the first of the index, what is kept back, and one to fill.
    pub(crate) fn segments_min(writers: usize, cleaners: usize) -> u64 {
        let seats = writers.max(1).next_power_of_two();
        Self::kept_back(seats, cleaners.max(1)) + 2
    }

    /// Segments that count for nothing when it comes to how much there may be.
    fn kept_back(seats: usize, cleaners: usize) -> u64 {
        Pool::reserve(For::User) + 2 * seats as u64 + 4 * cleaners as u64 + 1
    }

    /// How many bytes of records there may be with what is asked for, if that is bounded.
    fn live_max(&self, who: For) -> Option<u64> {
        let (percent, more) = match who {
            For::Cleaner | For::Keeper => return None,
            For::Successor => (SUCCESSOR_MAX_PERCENT, FOR_SUCCESSORS),
            For::User => (LIVE_MAX_PERCENT, 0),
        };
        let region = &self.region;
        let segments = region.load(LIMIT).saturating_sub(lock(&self.pool).index_segments());
        let kept_back = Self::kept_back(self.seats.len(), self.cleaners.len()) - more;
        let size = region.layout.segment_size;
        Some((segments * size / 100 * percent).min(segments.saturating_sub(kept_back) * size))
    }

    /// Changes the limit in force.
    pub(crate) fn set_limit(&self, limit: u64) -> Result<()> {
        let region = &self.region;
        let segments = limit / region.layout.segment_size;
        if segments > region.layout.segments_max {
            let most = region.layout.segments_max * region.layout.segment_size;
            let error = Error::new(Kind::Invalid, format!("a limit of {limit} bytes; this region can have {most}"));
            return Err(error.remedy("create a store with a higher limit and copy the data over"));
        }
        let _pool = lock(&self.pool);
        self.backing.back(region, region.layout.generation(0), segments * WORD)?;
        self.backing.back(region, region.layout.ledger(0), segments * LEDGER_ENTRY)?;
        region.store(LIMIT, segments.max(region.load(SEGMENTS_FRESH)));
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

    /// Splits the piece of a hash.
    pub(crate) fn split(&self, hash: u64) -> Result<()> {
        let region = &self.region;
        let turn = lock(&self.splits);
        let place = Place::of(region, hash);
        if place.root.depth() == place.entry.depth() && place.root.depth() < region.layout.depth_max {
            let next = region.layout.directory(place.root.which() ^ 1, 0);
            self.backing.back(region, next, WORD << (place.root.depth() + 1))?;
        }
        let Some(pieces) = self.pieces_for_split()? else { return Err(self.full()) };
        match split::split(region, place, hash, pieces, self.incarnation) {
            Ok(old) => lock(&self.pool).give_piece(old),
            Err(why) => {
                for piece in pieces {
                    lock(&self.pool).give_piece(piece);
                }
                match why {
                    Unsplit::Stale => {}
                    Unsplit::Stuck(bucket) => return Err(stuck(bucket)),
                    Unsplit::TooDeep => {
                        let error = Error::new(Kind::Full, "more keys than a home can hold have the same hash");
                        return Err(error.remedy("use other keys: these were chosen to collide"));
                    }
                }
            }
        }
        drop(turn);
        Ok(())
    }

    fn pieces_for_split(&self) -> Result<Option<[u64; 2]>> {
        for _ in 0..=VAIN_PASSES {
            let before = self.passes();
            let pieces = lock(&self.pool).take_pieces(&self.region, &*self.backing, For::Keeper)?;
            if pieces.is_some() {
                return Ok(pieces);
            }
            if !self.gain(before)? {
                break;
            }
        }
        Ok(None)
    }

    /// Waits until every change and every pass that is under way has come to its end.
    pub(crate) fn quiesce(&self) {
        self.seats.iter().for_each(|seat| drop(lock(seat)));
        self.cleaners.iter().for_each(|cleaner| drop(lock(cleaner)));
    }
}
