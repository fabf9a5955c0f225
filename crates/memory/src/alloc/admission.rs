//! Room: how much there may be, and who waits or cleans until there is some.
//!
//! 1. What users put stays below the live cap, which is a share of what segments hold: without what is kept
//!    back for others, and without the ends of segments that no record fits into. What replaces something may
//!    go a little beyond it. It is asked about for each segment that a head goes on in, and once more before
//!    something is added in one that was taken for what replaces.
//! 2. A head goes on in a segment of the pool; where there is none left for its purpose, somebody cleans.
//! 3. `Full` is said when passes gain nothing any more, and nothing more has expired.

use std::fmt::Write;

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::budget::Priority;
use crate::alloc::head::Head;
use crate::alloc::holes::uncounted_max;
use crate::alloc::pool::{Backing, Pool};
use crate::clean::passes::PassCounts;
use crate::clean::victims::gain_min;
use crate::options::segments_of;
use crate::owner::Owner;
use crate::record::header::Header;
use crate::region::segment::Stream;
use crate::region::{CLOCK, LIMIT, SEGMENTS_FRESH};
use crate::sync::Ordering::Relaxed;
use crate::sync::{lock, try_lock};
use crate::write::writer_slot::WriterSlot;

/// Memory is scarce where less than this part of what may be live is left.
const SCARCE: u64 = 16;
/// How often what has expired is looked for, where that gave something, but no segment.
const LOOKS: u32 = 16;
/// Passes of each cleaner without a segment more, after which there is nothing to gain: a pass gains a
/// fiftieth of one at least.
const VAIN_PASSES: usize = 128;

impl Owner {
    /// Lets a head take a record of this size for somebody: in a new segment if that is what it takes, and
    /// cleans one for that.
    pub(crate) fn make_room(
        &self,
        writer: &mut WriterSlot,
        stream: Stream,
        size: u64,
        priority: Priority,
    ) -> Result<()> {
        let region = &self.region;
        self.check_size(size)?;
        self.check_live(writer, size, priority)?;
        writer.head(stream).grant(priority);
        if writer.head(stream).has_room(region, size) {
            return Ok(());
        }
        let segment = self.take_or_gain(|pool| pool.take_for(region, &self.file, priority, stream))?;
        let written = self.renew(writer.head(stream), segment);
        region.word(CLOCK).fetch_add(written, Relaxed);
        writer.holes.allow_short(region, self.is_scarce());
        self.call();
        Ok(())
    }

    /// Refuses a record that no segment can hold.
    pub(crate) fn check_size(&self, size: u64) -> Result<()> {
        let most = self.region.layout.segment_size;
        if size <= most {
            return Ok(());
        }
        let finding = format!("a record of {size} bytes; segments have {most}");
        Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key or value"))
    }

    /// Refuses so many bytes more, if with them more is live than may be.
    pub(crate) fn check_live(&self, writer: &mut WriterSlot, size: u64, priority: Priority) -> Result<()> {
        writer.count(self);
        let is_over = || self.live_max(priority).is_some_and(|most| self.live() + size > most);
        while is_over() && self.purge() {}
        if is_over() {
            self.count();
            self.expire(is_over);
            if is_over() {
                return Err(self.full());
            }
        }
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

    /// Bounds what is live where records grow in holes, by what may be live, which it gives. All writer slots
    /// may be at it before anything of that is counted.
    pub(crate) fn bound_growth(&self) -> u64 {
        let most = self.live_max(Priority::User).unwrap_or(0);
        let uncounted = uncounted_max(&self.region) + Header::SIZE_MAX.min(self.region.layout.segment_size);
        let growth_max = lock(&self.pool).budget.growth_max(most, uncounted);
        self.growth_live_max.store(growth_max, Relaxed);
        most
    }

    /// Calls those who clean and make ready, if there is something to do for them.
    pub(crate) fn call(&self) {
        let pool = lock(&self.pool);
        let is_needed = pool.is_short(&self.region) || pool.is_unready(&self.region);
        drop(pool);
        if is_needed {
            self.wakeup.ring();
        }
    }

    /// Gives a segment its memory, ahead of whoever will need it: a pass that gains one, for those who wait.
    /// `false` where enough are ready.
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
        let prepared = pool.settle(region, segment, backed).map(|()| true);
        drop(pool);
        self.passes.end(prepared)
    }

    /// Makes one huge page of what a segment of the index got page by page, where the kernel can. `false` if
    /// there is none.
    pub(crate) fn collapse(&self) -> bool {
        let uncollapsed = lock(&self.pool).uncollapsed.pop();
        uncollapsed.is_some_and(|segment| {
            let region = &self.region;
            // It has its memory, so at worst it keeps its small pages.
            self.file.back(region, region.layout.segment(segment), region.layout.segment_size).ok();
            true
        })
    }

    /// What there is in the pool to take, as soon as cleaners have gained enough for it. [`Kind::Full`] where
    /// they gain nothing any more.
    pub(crate) fn take_or_gain<T>(&self, mut take: impl FnMut(&mut Pool) -> Result<Option<T>>) -> Result<T> {
        let (mut vain, vain_max, mut looks) = (0, VAIN_PASSES * self.cleaners.len(), 0);
        loop {
            let (before, expired) = (self.passes.counts(), self.expired_so_far());
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

    /// Has a segment made free, if there was none after so many passes: by the threads whose work that is,
    /// where there are any. To make passes takes a writer many milliseconds of the processor's time when the
    /// store is nearly full, and gains nothing: one cleaner makes one pass at a time, whoever asks it to.
    /// `false` if no segment is worth it.
    fn gain(&self, before: PassCounts) -> Result<bool> {
        if self.has_threads {
            self.wakeup.ring();
            self.passes.wait(before);
        }
        Ok(self.passes.counts().gained != before.gained || self.clean()?)
    }

    /// Counts what the writes of all writer slots that nobody is on have added to the live bytes: somebody
    /// who has deleted much may not have come here since.
    pub(crate) fn count(&self) {
        self.writer_slots.iter().filter_map(try_lock).for_each(|mut writer| writer.count(self));
    }

    /// A segment for survivors.
    pub(crate) fn survivor(&self, stream: Stream) -> Result<Option<u64>> {
        lock(&self.pool).take_for(&self.region, &self.file, Priority::Cleaner, stream)
    }

    /// How many bytes of records there are. Less than none for a while, where one writer slot has counted
    /// what another wrote as dead.
    pub(crate) fn live(&self) -> u64 {
        self.live.load(Relaxed).cast_signed().max(0).cast_unsigned()
    }

    /// How many bytes of records there may be with what is asked for, if that is bounded.
    fn live_max(&self, priority: Priority) -> Option<u64> {
        let (region, pool) = (&self.region, lock(&self.pool));
        pool.budget.live_max(priority, pool.extent(region, region.load(LIMIT)))
    }

    /// Changes the limit in force.
    pub(crate) fn set_limit(&self, limit: u64) -> Result<()> {
        let region = &self.region;
        let budget = lock(&self.pool).budget;
        let segments = segments_of(limit, &region.layout, self.writer_slots.len(), self.cleaners.len())?;
        self.count();
        let pool = lock(&self.pool);
        let fresh = region.load(SEGMENTS_FRESH);
        let layout = &region.layout;
        let tables = layout.tables_len(segments).saturating_sub(layout.tables_len(region.load(LIMIT)));
        self.file.check_room(segments.saturating_sub(fresh) * layout.segment_size + tables)?;
        self.file.back_tables(&region.layout, segments)?;
        // Or else overwrites would find no room.
        let holds = |segments: &u64| budget.users_max(pool.extent(region, *segments)) >= self.live();
        let least = (segments.max(fresh)..region.load(LIMIT)).find(holds).unwrap_or(region.load(LIMIT));
        region.store(LIMIT, segments.max(least));
        drop(pool);
        self.bound_growth();
        Ok(())
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
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::options::Options;
    use crate::read::now;
    use crate::record::key::Key;
    use crate::region::geometry::Geometry;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::change::Change;

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
        memory.put(TABLE, Key::Integer(key), &[7; 100]).map(drop)
    }

    /// As when another thread deletes, and does nothing else.
    #[test]
    fn what_was_deleted_from_another_seat_can_be_written_again() {
        let (memory, keys) = full();
        let writer = memory.owner().take_writer_slot();
        for key in 0..keys / 2 {
            memory.update(TABLE, Key::Integer(key), |_| Change::Delete).unwrap();
        }
        drop(writer);
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
        assert!(owner.is_scarce() && live_max() < owner.live(), "all writer_slots may be at it");
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
        lock(&owner.pool).budget.writer_slots = 32;
        for gained in 1..=untouched() {
            assert!(owner.prepare().unwrap());
            let passes = owner.passes.counts();
            assert_eq!((passes.under_way, passes.gained), (0, gained));
        }
        assert!(!owner.prepare().unwrap() && untouched() == 0);
    }

    /// Beside much that is kept for ever, of whose segments a little is dead: by their age they are worth
    /// more than those that have something to expire.
    #[test]
    fn what_has_expired_makes_room_however_old_the_rest_is() {
        let memory = small(600, 4096);
        let put_for = |key, expiry| memory.put_until(TABLE, Key::Integer(key), &[7; 100], expiry);
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
}
