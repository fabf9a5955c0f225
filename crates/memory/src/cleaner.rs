//! The cleaner: makes free segments out of those whose records are mostly dead.
//!
//! A pass takes one segment, the one with the highest `(1 - u) * age / u`: `u` is the share of it that is live, `age` how much
//! users have written since it was opened (RAMCloud's formula with the segment's age; Rumble, "Memory and Object Management in
//! RAMCloud", 2014). Its records are moved to the heads of survivors, which stay open from pass to pass; there is one for each
//! lifetime that the records may be expected to have (after SepBIT, FAST '22), so that what dies together lies together.
//!
//! A record is live if its key's slot names it. It is copied and the slot swung under the lock of the key's home; readers see
//! one place or the other.

use std::collections::VecDeque;

use hammerspace_error::Result;

use crate::change::Old;
use crate::flaw::Flaw;
use crate::head::Head;
use crate::index::bucket::Home;
use crate::index::bucket::Locked;
use crate::index::directory::Place;
use crate::large::Orphan;
use crate::owner::Owner;
use crate::read::{Seen, now};
use crate::record::Record;
use crate::region::{CLOCK, MOVED, Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Stream, Use};
use crate::sync::Ordering::Relaxed;
use crate::sync::lock;

/// Records whose homes are asked for ahead of the one that is moved.
const AHEAD: usize = 16;
/// Short-lived segments that the mean lifetime is taken over.
const LIFETIMES: usize = 16;
/// A segment of which less than one part in this many is dead is not worth a pass.
const GAIN_MIN: u64 = 50;

/// The heads of survivors, and what a cleaner has learnt. For one thread at a time.
pub(crate) struct Cleaner {
    heads: [Head; 4],
    lifetimes: VecDeque<u64>,
    scratch: Vec<u8>,
    pub(crate) stats: Stats,
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
            lifetimes: VecDeque::new(),
            scratch: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Makes one segment free. `false` if there is none worth it.
    pub(crate) fn pass(&mut self, owner: &Owner) -> Result<bool> {
        let region = &owner.region;
        let clock = region.word(CLOCK).load(Relaxed);
        let Some((victim, stream)) = choose(region, clock) else { return Ok(false) };
        let age = clock.saturating_sub(victim.created());
        let survivors = survivors_of(stream, age, owner.lifetime.load(Relaxed));
        let moved = self.stats.moved;
        if Flaw::FreeBeforeSwing.is_planted() {
            lock(&owner.pool).give(region, victim.number);
        }
        let is_empty = self.evacuate(owner, victim, survivors);
        region.word(MOVED).fetch_add(self.stats.moved - moved, Relaxed);
        if !is_empty? {
            victim.set_usage(Use::Closed(stream));
            return Ok(false);
        }
        if !Flaw::FreeBeforeSwing.is_planted() {
            lock(&owner.pool).give(region, victim.number);
        }
        self.stats.segments += 1;
        if stream == Stream::SHORT {
            owner.lifetime.store(self.learn(age), Relaxed);
        }
        Ok(true)
    }

    /// Takes note of how long a short-lived segment lasted; gives the mean of the last ones, once there are enough.
    fn learn(&mut self, age: u64) -> u64 {
        self.lifetimes.push_back(age);
        if self.lifetimes.len() < LIFETIMES {
            return u64::MAX;
        }
        if self.lifetimes.len() > LIFETIMES {
            self.lifetimes.pop_front();
        }
        self.lifetimes.iter().sum::<u64>() / self.lifetimes.len() as u64
    }

    /// Moves what is live out of a segment. `false` if there is no room for it; what was moved stays moved.
    fn evacuate(&mut self, owner: &Owner, victim: Segment<'_>, survivors: usize) -> Result<bool> {
        let region = &owner.region;
        let end = victim.start() + victim.used();
        let mut batch = Vec::with_capacity(AHEAD);
        let mut next = victim.start();
        while next < end {
            batch.clear();
            while next < end && batch.len() < AHEAD {
                let record = Record::at(region, next);
                let hash = record.hash(region, &mut self.scratch);
                region.prefetch(Home::new(region, Place::of(region, hash), hash).address());
                batch.push((record, hash));
                next += record.head.size();
            }
            for &(record, hash) in &batch {
                if !self.relocate(owner, record, hash, survivors)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Moves one record if it is live. `false` if there is no room for it.
    fn relocate(&mut self, owner: &Owner, record: Record, hash: u64, survivors: usize) -> Result<bool> {
        let region = &owner.region;
        let head = &mut self.heads[survivors];
        if !head.has_room(region, record.head.size()) {
            let Some(segment) = owner.survivor(Stream::SURVIVORS[survivors])? else { return Ok(false) };
            head.renew(region, segment, region.word(CLOCK).load(Relaxed));
        }
        let home = Locked::of(region, hash, owner.incarnation);
        if Flaw::NotLocked.is_planted() {
            home.0.unlock();
        }
        let named = home.0.find(|at, slot| (slot.address() == record.address).then_some((at, slot)));
        let Some((at, slot)) = named else { return Ok(true) };
        // It may have grown since it was looked at; the room it has is the same.
        let record = Record::at(region, record.address);
        if owner.dropped.contains(record.head.table()) || Seen::of(region, record).is_expired() {
            let orphan = Orphan::of(&Old { region, record }, hash);
            owner.remove(&home, at, slot, record);
            drop(home);
            if let Some(orphan) = orphan {
                orphan.remove(owner);
            }
            return Ok(true);
        }
        let cleaned = record.head.cleaned();
        let address = head.append_copy(region, record, cleaned, |_| {});
        region.store(at, slot.moved_to(address).0);
        if cleaned.size() < record.head.size() {
            owner.live.fetch_sub(record.head.size() - cleaned.size(), Relaxed);
        }
        self.stats.moved += cleaned.size();
        Ok(true)
    }
}

/// Claims the segment that is most worth a pass.
fn choose(region: &Region, clock: u64) -> Option<(Segment<'_>, Stream)> {
    let size = region.layout.segment_size;
    let mut now_if_needed = None;
    let score = |segment: Segment<'_>, expired: u64| {
        let live = segment.live().saturating_sub(expired);
        let age = clock.saturating_sub(segment.created()) + 1;
        if (segment.used() - live.min(segment.used())) * GAIN_MIN < size {
            return 0.0;
        }
        let whole = |number: u64| f64::from(u32::try_from(number >> 3).unwrap_or(u32::MAX));
        if live == 0 { f64::INFINITY } else { whole(size - live.min(size)) * whole(age) / whole(live) }
    };
    loop {
        let mut best = None;
        for segment in (0..region.load(SEGMENTS_FRESH)).map(|number| Segment::new(region, number)) {
            let Use::Closed(stream) = segment.usage() else { continue };
            let expired =
                if segment.is_expiring() { segment.expired(*now_if_needed.get_or_insert_with(now)) } else { 0 };
            let score = score(segment, expired);
            if score > best.map_or(0.0, |(best, _, _)| best) {
                best = Some((score, segment, stream));
            }
        }
        let (_, segment, stream) = best?;
        if segment.claim(stream) {
            return Some((segment, stream));
        }
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
