//! The cleaner: makes free segments out of those whose records are mostly dead.
//!
//! A pass takes one segment, the one that is most worth it (`victims.rs`). Its records are moved to the heads
//! of survivors, which stay open from pass to pass; there is one for each lifetime that the records may be
//! expected to have (after SepBIT, FAST '22), so that what dies together lies together.
//!
//! A record is live if its key's slot names it. It is copied and the slot swung under the lock of the key's
//! home; readers see one place or the other.
//!
//! A segment is given back only if nothing names a byte of it. Which records it holds is told by walking over
//! them, and damage may hide some (`walk.rs`); so unless the segment usage table counts every byte as dead in
//! the end, the whole index is asked. A segment that something still names is left as it is, and counted
//! ([`Memory::damaged`](crate::Memory::damaged)); the next owner tries it again.

use std::collections::VecDeque;

use hammerspace_error::Result;

use crate::alloc::head::Head;
use crate::clean::victims::Victims;
use crate::index::bucket::Locked;
use crate::index::names;
use crate::owner::Owner;
use crate::read::RecordMeta;
use crate::read::prefetched::ask_for_home;
use crate::read::walk::Walk;
use crate::record::Record;
use crate::region::segment::{Segment, SegmentState, Stream};
use crate::region::{CLOCK, MOVED};
use crate::sync::Ordering::{Relaxed, Release};
use crate::sync::lock;
use crate::testing::flaw::Flaw;
use crate::write::change::Old;
use crate::write::update::Found;

/// Records whose homes are asked for ahead of the one that is moved.
const AHEAD: usize = 16;
/// Short-lived segments that the mean lifetime is taken over.
const LIFETIMES: usize = 16;

/// The heads of survivors, and what a cleaner has learnt. For one thread at a time.
pub(crate) struct Cleaner {
    heads: [Head; 4],
    victims: Victims,
    lifetimes: VecDeque<u64>,
    scratch: Vec<u8>,
    pub(crate) stats: Stats,
}

/// What a pass left of a segment.
enum Left {
    /// Nothing names a byte of it.
    Nothing,
    /// Records that there was no room for.
    NoRoom,
    /// Records that could not be told from each other, and that something names.
    Damage,
}

/// What a cleaner has done since the region was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments it made free.
    pub segments: u64,
    /// Bytes of records it moved.
    pub moved: u64,
}

impl Stats {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { segments: self.segments + other.segments, moved: self.moved + other.moved }
    }
}

impl Cleaner {
    pub(crate) fn new() -> Self {
        Self {
            heads: Stream::SURVIVORS.map(Head::new),
            victims: Victims::default(),
            lifetimes: VecDeque::new(),
            scratch: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Makes one segment free. `false` if there is none worth it.
    pub(crate) fn pass(&mut self, owner: &Owner) -> Result<bool> {
        let region = &owner.region;
        let clock = region.word(CLOCK).load(Relaxed);
        loop {
            let Some((victim, stream)) = self.victims.claim(region, clock) else {
                return Ok(false);
            };
            let age = clock.saturating_sub(victim.created());
            let survivors = survivors_of(stream, age, owner.lifetime.load(Relaxed));
            let moved = self.stats.moved;
            let is_early = Flaw::FreeBeforeSwing.is_planted();
            if is_early {
                lock(&owner.pool).give(region, victim.number);
            }
            let left = self.evacuate(owner, victim, survivors);
            region.word(MOVED).fetch_add(self.stats.moved - moved, Relaxed);
            match left {
                Ok(Left::Nothing) => {
                    if !is_early {
                        lock(&owner.pool).give(region, victim.number);
                    }
                    self.stats.segments += 1;
                    if stream == Stream::SHORT {
                        owner.lifetime.store(self.learn(age), Relaxed);
                    }
                    return Ok(true);
                }
                // It stays as it is: readers read what can be read, and no cleaner of this owner chooses it
                // again.
                Ok(Left::Damage) => owner.note_damage(),
                Ok(Left::NoRoom) | Err(_) => {
                    victim.set_usage(SegmentState::Closed(stream));
                    return left.map(|_| false);
                }
            }
        }
    }

    /// Takes note of how long a short-lived segment lasted; gives the mean of the last ones, once there are
    /// enough.
    fn learn(&mut self, age: u64) -> u64 {
        self.lifetimes.push_back(age);
        if self.lifetimes.len() < LIFETIMES {
            return u64::MAX;
        }
        if self.lifetimes.len() > LIFETIMES {
            self.lifetimes.pop_front();
        }
        self.lifetimes.iter().fold(0, |sum: u64, age| sum.saturating_add(*age)) / self.lifetimes.len() as u64
    }

    /// Moves what is live out of a segment; what was moved stays moved.
    fn evacuate(&mut self, owner: &Owner, victim: Segment<'_>, survivors: usize) -> Result<Left> {
        let region = &owner.region;
        let mut batch = Vec::with_capacity(AHEAD);
        let mut walk = Walk::over(region, victim);
        loop {
            batch.clear();
            for record in walk.by_ref().take(AHEAD) {
                let hash = record.hash(region, &mut self.scratch);
                ask_for_home(region, hash);
                batch.push((record, hash));
            }
            for &(record, hash) in &batch {
                if !self.relocate(owner, record, hash, survivors)? {
                    return Ok(Left::NoRoom);
                }
            }
            if batch.is_empty() {
                break;
            }
        }
        // As a rule everything is dead now. If not, a former owner died before it could count a record, or
        // there is damage.
        let is_dead = walk.torn_at().is_none() && victim.dead() == victim.used();
        if is_dead || !names::any(region, |address| region.layout.segment_of(address) == Some(victim.number)) {
            return Ok(Left::Nothing);
        }
        Ok(Left::Damage)
    }

    /// Moves one record if it is live. `false` if there is no room for it.
    fn relocate(&mut self, owner: &Owner, record: Record, hash: u64, survivors: usize) -> Result<bool> {
        let region = &owner.region;
        let head = &mut self.heads[survivors];
        // The first segments are those that a former owner left open: they may have little room.
        while !head.has_room(region, record.size) {
            let Some(segment) = owner.survivor(Stream::SURVIVORS[survivors])? else { return Ok(false) };
            owner.renew(head, segment);
        }
        // What cannot be locked stays where it is, and its segment with it.
        let Ok(home) = Locked::of(region, hash, owner.incarnation) else { return Ok(true) };
        if Flaw::NotLocked.is_planted() {
            home.0.unlock();
        }
        let named = home.0.find(|at, slot| (slot.address() == record.address).then_some((at, slot)));
        let Some((at, slot)) = named else { return Ok(true) };
        // It may have grown since it was looked at; the room it has is the same, unless somebody damages it
        // right now.
        let size = record.size;
        let record = Record::at(region, record.address);
        if record.size != size {
            return Ok(true);
        }
        if owner.dropped.contains(record.header.table()) || RecordMeta::of(region, record).is_expired() {
            owner.forget(home, &Found { at, slot, old: Old { region, record } }, hash);
            return Ok(true);
        }
        let survivor = record.moved_to(head.next(), record.header.cleaned());
        record.copy(region, survivor);
        head.commit(region, survivor, record.expiry(region));
        at.store(slot.moved_to(survivor.address).0, Release);
        Segment::bury_record(region, record);
        if survivor.size < size {
            owner.live.fetch_sub(size - survivor.size, Relaxed);
        }
        self.stats.moved += survivor.size;
        Ok(true)
    }
}

/// Which survivors the records of a segment become: from short-lived ones, else by age.
fn survivors_of(stream: Stream, age: u64, lifetime: u64) -> usize {
    if stream == Stream::SHORT {
        return 0;
    }
    match age / lifetime.max(1) {
        0..2 => 1,
        2..16 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::key::Key;
    use crate::region::Region;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};

    const KEYS: u64 = 400;
    /// Of a record's header: the lengths of its value and its key.
    const LENGTHS: u64 = (1 << 32) - 1;
    const INTEGER_KEY: u64 = ((1 << 16) - 1) << 16;
    const LONG: u64 = 60_000;

    /// Segments that are full, of whose records every fourth is dead: the first one of each, or the one that
    /// comes so many later.
    fn worn(first_dead: usize) -> Memory {
        let memory = small(100, 8 << 10);
        let put = |key| assert!(memory.put(TABLE, Key::Integer(key), &[1; 100]).is_ok());
        (0..KEYS).for_each(put);
        (0..KEYS).skip(first_dead).step_by(4).for_each(put);
        memory
    }

    /// The first record of a closed segment, and the segment.
    fn first_closed(region: &Region) -> (Segment<'_>, Record) {
        let segments = Segment::all(region);
        let segment = segments.into_iter().find(|segment| matches!(segment.state(), SegmentState::Closed(_))).unwrap();
        (segment, Record::at(region, segment.start()))
    }

    fn clean_all(memory: &Memory) {
        while memory.clean().unwrap() {}
    }

    fn missing(memory: &Memory) -> Vec<u64> {
        let mut value = Vec::new();
        let is_missing = |key: &u64| memory.view().get(1, Key::Integer(*key), &mut value).unwrap().is_none();
        (0..KEYS).filter(is_missing).collect()
    }

    /// The header of a dead record that claims to be longer hides live ones behind it, and what is inside of
    /// them looks like records.
    #[test]
    fn records_behind_damage_are_not_lost() {
        // Longer by a word, and a value or a key longer than segments are.
        for lengths in [INTEGER_KEY + 110, INTEGER_KEY + LONG, (LONG << 16) + 100] {
            let memory = worn(0).broken();
            let region = memory.view().region;
            let (segment, first) = first_closed(region);
            assert_eq!(region.load(first.address + 8), 0, "the first key, which was overwritten");
            region.store(first.address, first.header.0 & !LENGTHS | lengths);
            assert!(memory.verify().faults > 0, "{lengths:#x}");
            clean_all(&memory);
            assert_eq!((missing(&memory), memory.damaged()), (vec![], 1), "{lengths:#x}");
            assert!(matches!(segment.state(), SegmentState::Cleaning(_)), "left alone");
            // What cannot be cleaned keeps nobody from writing.
            for round in 0..10 * KEYS {
                memory.put(TABLE, Key::Integer(round % KEYS), &[2; 100]).unwrap();
            }
        }
    }

    /// A dead byte that was not counted, as by an owner who died, is no damage.
    #[test]
    fn what_was_not_counted_comes_back() {
        let memory = worn(0);
        let (segment, first) = first_closed(memory.view().region);
        segment.mark_dead(first.size.wrapping_neg());
        clean_all(&memory);
        assert_eq!((missing(&memory), memory.damaged()), (vec![], 0));
        assert_ne!(segment.state(), SegmentState::Cleaning(Stream::LONG));
    }

    /// As a former owner left it, who died when it was nearly full.
    #[test]
    fn survivors_do_not_overrun_a_segment_that_was_left_open() {
        let memory = worn(1).broken();
        let (owner, size) = (memory.owner(), memory.view().usage().segment_size);
        let left_open = Stream::SURVIVORS.map(|stream| {
            let segment = Segment::new(&owner.region, owner.survivor(stream).unwrap().unwrap());
            segment.begin(SegmentState::Open(stream), 0);
            segment.set_used(size - 64);
            lock(&owner.pool).open.push((stream, segment.number));
            segment
        });
        clean_all(&memory);
        assert!(left_open.iter().all(|segment| segment.used() == size - 64));
        assert!(left_open.iter().any(|segment| matches!(segment.state(), SegmentState::Closed(_))), "somebody came by");
        assert_eq!(missing(&memory), Vec::<u64>::new());
    }

    /// A table's number is not given to another while damage hides records of it.
    #[test]
    fn a_number_stays_dropped_whose_records_are_hidden() {
        let memory = worn(0).broken();
        let region = memory.view().region;
        memory.drop_table(2).unwrap();
        clean_all(&memory);
        assert!(!memory.is_dropping(2));
        let first = first_closed(region).1;
        region.store(first.address, first.header.0 & !LENGTHS | INTEGER_KEY | LONG);
        memory.drop_table(1).unwrap();
        clean_all(&memory);
        assert!(memory.is_dropping(1));
    }
}
