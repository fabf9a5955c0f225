//! Buckets: a key's home and what lies right of it, with and without its lock.
//!
//! ```text
//! | header 8 B | slot | slot | slot | slot | slot | slot | slot |      header, from its lowest bit on: | lock 32 | reach 4 |
//! ```
//!
//! `reach` is how far right of this bucket keys lie that have their home here. The lock is the incarnation of
//! the owner that holds it: whoever opens the region after an owner's death has another, and so all locks of
//! the dead are open.

use std::time::{Duration, Instant};

use hammerspace_error::{Error, Kind, Result};

use crate::index::REACH_MAX;
use crate::index::directory::{NOWHERE, Place};
use crate::index::slot::Slot;
use crate::region::Region;
use crate::region::geometry::{BUCKET, SLOTS, WORD};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU64, spin_loop, yield_now};

const LOCK: u64 = (1 << 32) - 1;
const REACH_SHIFT: u32 = 32;

/// How far right the keys of a home lie, by its header; no further than may be, whatever damage says.
#[inline]
fn reach_of(header: u64) -> u64 {
    (header >> REACH_SHIFT).min(REACH_MAX)
}

/// Where a key's slots may lie.
#[derive(Clone, Copy)]
pub(crate) struct HomeBucket<'r> {
    region: &'r Region,
    page: u64,
    bucket: u64,
    hash: u64,
}

impl<'r> HomeBucket<'r> {
    #[inline]
    pub(crate) fn new(region: &'r Region, place: Place, hash: u64) -> Self {
        Self::at(region, place.entry.page(region), hash & (region.layout.bucket_mask), hash)
    }

    /// The home with this number in a page, for keys that start like `hash`.
    pub(crate) fn at(region: &'r Region, page: u64, bucket: u64, hash: u64) -> Self {
        Self { region, page, bucket, hash }
    }

    /// The bucket `displacement` to the right; the last is followed by the first.
    #[inline]
    fn bucket(self, displacement: u64) -> u64 {
        self.page.wrapping_add(((self.bucket + displacement) & self.region.layout.bucket_mask) * BUCKET)
    }

    /// Where the header lies, and with it most of what a lookup needs.
    #[inline]
    pub(crate) fn address(self) -> u64 {
        self.bucket(0)
    }

    #[inline]
    fn slots(self, displacement: u64) -> impl Iterator<Item = u64> {
        let bucket = self.bucket(displacement);
        (1..=SLOTS).map(move |slot| bucket.wrapping_add(slot * WORD))
    }

    /// How far right its keys lie.
    #[inline]
    pub(crate) fn reach(self) -> u64 {
        reach_of(self.region.load(self.address()))
    }

    /// The slots that may be the key's, each with the word it stands in, until `found` gives something for
    /// one.
    #[expect(clippy::inline_always, reason = "see `read::read_prefetched`")]
    #[inline(always)]
    pub(crate) fn find<T>(self, mut found: impl FnMut(&'r AtomicU64, Slot) -> Option<T>) -> Option<T> {
        let home = self.region.line(self.address());
        if let Some(found) = self.find_in(home, 0, &mut found) {
            return Some(found);
        }
        // Asked last: a key that is there all the time never lies beyond it.
        for displacement in 1..=reach_of(home[0].load(Acquire)) {
            let line = self.region.line(self.bucket(displacement));
            if let Some(found) = self.find_in(line, displacement, &mut found) {
                return Some(found);
            }
        }
        None
    }

    /// The same, in one bucket.
    #[inline]
    fn find_in<T>(
        self,
        line: &'r [AtomicU64; 8],
        displacement: u64,
        found: &mut impl FnMut(&'r AtomicU64, Slot) -> Option<T>,
    ) -> Option<T> {
        line[1..].iter().find_map(|at| {
            let slot = Slot(at.load(Acquire));
            if slot.may_be(self.hash, displacement) { found(at, slot) } else { None }
        })
    }

    /// All slots of keys that have their home here, whatever their hash.
    pub(crate) fn for_each(self, mut each: impl FnMut(u64, Slot)) {
        for displacement in 0..=self.reach() {
            for address in self.slots(displacement) {
                let slot = Slot(self.region.load(address));
                if !slot.is_empty() && slot.displacement() == displacement {
                    each(address, slot);
                }
            }
        }
    }

    /// Locks it, if the directory still shows its page and nobody else has it.
    #[inline]
    fn try_lock(self, place: Place, incarnation: u64) -> bool {
        let header = self.region.word(self.address());
        let seen = header.load(Relaxed);
        if seen & LOCK == incarnation
            || header.compare_exchange(seen, seen & !LOCK | incarnation, Acquire, Relaxed).is_err()
        {
            return false;
        }
        let is_current = place.is_current(self.region);
        if !is_current {
            self.unlock();
        }
        is_current
    }

    /// Opens the lock, which is ours.
    #[inline]
    pub(crate) fn unlock(self) {
        let header = self.region.word(self.address());
        header.store(header.load(Relaxed) & !LOCK, Release);
    }

    /// Waits for the lock, which the splitter never gives back while the directory shows something else.
    /// `false` if nobody opens it.
    pub(crate) fn wait_for_lock(self, incarnation: u64) -> bool {
        let header = self.region.word(self.address());
        let mut patience = Patience::new();
        loop {
            let seen = header.load(Relaxed);
            if seen & LOCK != incarnation
                && header.compare_exchange(seen, seen & !LOCK | incarnation, Acquire, Relaxed).is_ok()
            {
                return true;
            }
            if !patience.wait() {
                return false;
            }
        }
    }

    /// Reserves an empty slot for a key of this hash: its word, and what stands there now. `None` where there
    /// is none near enough. The home is locked.
    #[inline]
    pub(crate) fn reserve(self, hash: u64) -> Option<(&'r AtomicU64, Slot)> {
        (0..=REACH_MAX.min(self.region.layout.bucket_mask)).find_map(|displacement| {
            self.slots(displacement).find_map(|address| {
                let word = self.region.word(address);
                if word.load(Relaxed) != Slot::EMPTY.0 {
                    return None;
                }
                // First the reach: a slot beyond it would not be found.
                if displacement > self.reach() {
                    self.set_reach(displacement);
                }
                let slot = Slot::reserved(hash, displacement);
                let is_taken = word.compare_exchange(Slot::EMPTY.0, slot.0, Release, Relaxed).is_ok();
                is_taken.then_some((word, slot))
            })
        })
    }

    /// Writes a slot this far right of home, as the `nth` of that bucket from 1 on, in a page that is not
    /// shown.
    #[inline]
    pub(crate) fn place(self, displacement: u64, nth: u64, slot: Slot) {
        if displacement > self.reach() {
            self.set_reach(displacement);
        }
        self.region.store(self.bucket(displacement) + nth * WORD, slot.displaced(displacement).0);
    }

    fn set_reach(self, reach: u64) {
        let header = self.region.word(self.address());
        header.store(header.load(Relaxed) & LOCK | reach << REACH_SHIFT, Release);
    }

    /// Empties a slot of the locked home, and pulls the reach back where it was the farthest.
    pub(crate) fn remove(self, at: &AtomicU64, slot: Slot) {
        at.store(Slot::EMPTY.0, Release);
        let reach = self.reach();
        if reach == 0 || slot.displacement() < reach {
            return;
        }
        let mut farthest = 0;
        self.for_each(|_, slot| farthest = slot.displacement().max(farthest));
        self.set_reach(farthest);
    }
}

/// A home whose keys nobody else changes, until it is dropped.
pub(crate) struct Locked<'r>(pub(crate) HomeBucket<'r>);

impl<'r> Locked<'r> {
    /// Locks the home of a hash, wherever it is by then. [`Kind::Busy`] if nobody opens it.
    #[inline]
    pub(crate) fn of(region: &'r Region, hash: u64, incarnation: u64) -> Result<Self> {
        Self::at(region, Place::of(region, hash), hash, incarnation)
    }

    /// The same where the directory was looked at before.
    #[expect(clippy::inline_always, reason = "every change begins with it, and as a rule finds the home open")]
    #[inline(always)]
    pub(crate) fn at(region: &'r Region, place: Place, hash: u64, incarnation: u64) -> Result<Self> {
        let home = HomeBucket::new(region, place, hash);
        if home.page != NOWHERE && home.try_lock(place, incarnation) {
            return Ok(Self(home));
        }
        Self::wait(region, place, hash, incarnation)
    }

    #[cold]
    fn wait(region: &'r Region, mut place: Place, hash: u64, incarnation: u64) -> Result<Self> {
        let mut patience = Patience::new();
        loop {
            let home = HomeBucket::new(region, place, hash);
            if home.page == NOWHERE {
                return Err(place.damaged());
            }
            if home.try_lock(place, incarnation) {
                return Ok(Self(home));
            }
            if !patience.wait() {
                return Err(stuck(home.address()));
            }
            place = Place::of(region, hash);
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

#[cold]
pub(crate) fn stuck(address: u64) -> Error {
    let finding = format!("the lock of a bucket stayed closed for {} seconds", PATIENCE.as_secs());
    Error::new(Kind::Busy, finding)
        .at(address)
        .remedy("try again; if it stays so, the region is damaged: open the store anew, which opens all locks")
}

/// After so long a lock is taken for one that nobody holds, but damage has closed: those who hold one wait
/// for nothing, so they need some hundred nanoseconds, and as long again as they are without a processor.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });

/// Waiting for somebody who needs some hundred nanoseconds, or has lost the processor.
pub(crate) struct Patience {
    turns: u32,
    since: Option<Instant>,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { turns: 0, since: None }
    }

    /// Waits a little. `false` once it has been too long.
    pub(crate) fn wait(&mut self) -> bool {
        self.turns += 1;
        if !self.turns.is_multiple_of(64) {
            spin_loop();
            return true;
        }
        yield_now();
        self.since.get_or_insert_with(Instant::now);
        !self.is_over()
    }

    /// Whether it has been too long.
    pub(crate) fn is_over(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::key::Key;
    use crate::testing::fixture::{TABLE, small};

    /// Or else a writer would lock a word that all regions of the process have in common.
    #[test]
    fn an_entry_that_names_no_page_is_refused_to_writers_and_hides_keys_from_readers() {
        let memory = small(32, 4096);
        let key = Key::Integer(1);
        memory.put(TABLE, key, b"value").unwrap();
        let region = memory.view().region;
        let place = Place::of(region, memory.hash(TABLE, key));
        let at = place.root.address(region, place.root.index(memory.hash(TABLE, key)));
        for entry in [u64::MAX, 0, place.entry.0 | 1 << 40] {
            region.store(at, entry);
            let refused = memory.put(TABLE, key, b"other").unwrap_err();
            assert_eq!(refused.kind(), Kind::Corrupt, "{refused}");
            assert!(memory.view().get(TABLE.number, key, &mut Vec::new()).unwrap().is_none());
        }
        region.store(at, place.entry.0);
        assert!(memory.put(TABLE, key, b"other").unwrap().before().is_some());
    }

    /// A lock that nobody will open, as damage can close it: an owner finds out, and goes on with other keys.
    #[test]
    fn a_lock_that_nobody_holds_is_not_waited_for_for_ever() {
        let memory = small(32, 4096);
        let put = |key: u64| memory.put(TABLE, Key::Integer(key), b"value");
        put(1).unwrap();
        let region = memory.view().region;
        let hash = Key::Integer(1).hash(region.seed, TABLE.number);
        let home = HomeBucket::new(region, Place::of(region, hash), hash);
        assert!(home.wait_for_lock(region.load(crate::region::INCARNATION)));
        assert_eq!(put(1).unwrap_err().kind(), Kind::Busy);
        put(2).unwrap();
        home.unlock();
        put(1).unwrap();
    }
}
