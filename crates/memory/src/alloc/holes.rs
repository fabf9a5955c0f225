//! Holes: where records were, for others of just their size.
//!
//! What is freed by cleaning is paid for by moving what is live beside it: at 90 % full, four bytes and more
//! for each. Of short records that is little beside all else that a write takes; of long ones it is nearly
//! all. So a writer slot remembers the records that others have replaced, and writes the next one of the same
//! size there: long ones always, short ones where memory is scarce, and cleaning dear. What is of one length,
//! or grows by the same steps, hardly needs a cleaner then, however full the store is; nor do long values of
//! all lengths, which have few sizes (`header::granule_of_new`).
//!
//! - A record is a hole if what replaced it was just as long, or another seems to begin where it ends. Its
//!   own word for its length may be damaged; and who believes that writes over the records behind it.
//! - What takes more than it gives back goes to a hole only below the live cap, as it is with heads
//!   (`WriterSlot::hole`). So what is dead is never all filled: overwrites need some of it.
//! - Who fills a hole has claimed its segment, until a slot names the record; and a dead record is a hole of
//!   one writer slot, once. So nothing else becomes of it meanwhile. A cleaner waits for the claim to end,
//!   which waits for nothing.
//! - For readers it is as when a segment is used again: the generation changes before a byte does
//!   (`Segment::refill`). A segment has a hole filled once for every [`INTERVAL`] that users write, lest
//!   those who read something else in it have to begin anew for ever.
//! - Walks over the segment stay in step at any instant, since the length stays.
//! - What expires leaves no holes and fills none: the segment usage table knows of expiries by segments.
//! - A hole is a hint. It is gone with the use of the segment that it was in, with its owner, and when there
//!   are others instead.

use std::cmp::Ordering::{Equal, Less};
use std::collections::VecDeque;

use crate::record::Record;
use crate::record::header::Header;
use crate::region::geometry::WORD;
use crate::region::segment::{Segment, SegmentState, Stream};
use crate::region::{CLOCK, LIMIT, Region};
use crate::sync::Ordering::Relaxed;
use crate::testing::flaw::Flaw;

/// Bytes of a record from which on its place is used again, whether memory is scarce or not.
pub(crate) const LEAST: u64 = 1 << 9;
/// Bytes that users write between two fillings of a segment, or a whole segment of them where that is less.
const INTERVAL: u64 = 256 << 10;
/// Sizes of records have so many classes, by their words: a prime, for sizes that are multiples of some
/// granule.
const CLASSES: usize = 61;
/// Holes of a class that a writer slot remembers, the last ones: many, as it is some time before a segment
/// may be filled again.
const MOST: usize = 512;
/// Holes of a class that a record looks at.
const LOOKS: usize = 16;
/// Holes of its size that it tries: they may lie in a segment that was filled just now, or is still open.
const TRIES: usize = 4;

/// Bytes of a value from which on it goes past the caches, where they cannot hold all that is live: nobody
/// was at a hole since the record there has died. (Lines of a head come into the cache by themselves, as one
/// follows the other.)
const STREAMED: usize = 1 << 10;
/// Bytes that caches may hold.
const CACHES: u64 = 64 << 20;

/// A dead record, and the use of its segment in which it died.
struct Hole {
    address: u64,
    size: u64,
    use_number: u32,
}

impl Hole {
    fn segment<'r>(&self, region: &'r Region) -> Option<Segment<'r>> {
        Segment::of(region, self.address).filter(|segment| segment.use_number() == self.use_number)
    }
}

/// The holes of one writer slot, by the class of their size, the oldest first.
pub(crate) struct Holes {
    /// The least size of those that are used though memory is not scarce; `u64::MAX` where none are ever
    /// used.
    least_always: u64,
    /// The least size of those that are used now.
    least: u64,
    classes: Vec<VecDeque<Hole>>,
}

impl Holes {
    pub(crate) fn new(least: u64) -> Self {
        let classes = std::iter::repeat_with(VecDeque::new).take(CLASSES).collect();
        Self { least_always: least, least, classes }
    }

    /// Short records go to holes from here on if memory `is_scarce`: those of which a third may find one, as
    /// each segment gets one in an interval. For shorter ones it would be looked in vain.
    pub(crate) fn allow_short(&mut self, region: &Region, is_scarce: bool) {
        let least = interval(region) / 3 / region.load(LIMIT).max(1);
        let is_used = is_scarce && self.least_always != u64::MAX;
        self.least = if is_used { least.min(self.least_always) } else { self.least_always };
    }

    /// Takes note of a record that one of this size is about to replace: of the use that its segment is in
    /// while something names it.
    #[inline]
    pub(crate) fn add(&mut self, region: &Region, record: Record, successor: u64) {
        if self.are_for(record.header, record.size) && (successor == record.size || is_followed(region, record)) {
            self.remember(region, record);
        }
    }

    #[inline(never)]
    fn remember(&mut self, region: &Region, record: Record) {
        let Record { address, size, .. } = record;
        let Some(segment) = Segment::of(region, address) else { return };
        let class = &mut self.classes[class_of(size)];
        if class.len() == MOST {
            class.pop_front();
        }
        class.push_back(Hole { address, size, use_number: segment.use_number() });
    }

    /// Whether a record of this size may go to one.
    #[inline]
    pub(crate) fn are_for(&self, header: Header, size: u64) -> bool {
        size >= self.least && !header.is_expiring()
    }

    /// A hole for such a record of this size, if there is one that can be filled now.
    #[inline(never)]
    pub(crate) fn take<'r>(&mut self, region: &'r Region, size: u64) -> Option<Filling<'r>> {
        let epoch = (region.word(CLOCK).load(Relaxed) / interval(region)) as u32;
        let class = &mut self.classes[class_of(size)];
        let gone = class.iter().take(LOOKS).take_while(|hole| hole.segment(region).is_none()).count();
        class.drain(..gone);
        // In turn the last, which may be in the cache still, and the first, whose segments have waited for
        // long.
        let len = class.len();
        let nth = |look: usize| if look.is_multiple_of(2) { len - 1 - look / 2 } else { look / 2 };
        let of_size = (0..len.min(LOOKS)).map(nth).filter(|at| class[*at].size == size);
        let (at, filling) =
            of_size.take(TRIES).find_map(|at| Some(at).zip(Filling::begin(region, &class[at], epoch)))?;
        class.remove(at);
        Some(filling)
    }
}

/// Whether another record or nothing seems to begin where this one ends: it hardly does where damage has made
/// a record longer. Zeros would be one with an empty key.
fn is_followed(region: &Region, record: Record) -> bool {
    let end = record.address + record.size;
    Segment::of(region, record.address).is_some_and(|segment| match end.cmp(&(segment.start() + segment.used())) {
        Less => {
            let next @ Record { header, size, .. } = Record::at(region, end);
            let fits = end + size <= segment.start() + segment.used();
            next.can_be(region) && header.key_len() > 0 && fits && segment.tables() & 1 << (header.table() % 64) != 0
        }
        order => order == Equal,
    })
}

fn class_of(size: u64) -> usize {
    (size / WORD) as usize % CLASSES
}

fn interval(region: &Region) -> u64 {
    INTERVAL.min(region.layout.segment_size)
}

/// Bytes that a writer slot writes to holes before they are counted for all.
pub(crate) fn uncounted_max(region: &Region) -> u64 {
    interval(region) / 16
}

/// A hole that is being filled. Its segment is claimed until it is dropped, after a slot names the record.
pub(crate) struct Filling<'r> {
    region: &'r Region,
    segment: Segment<'r>,
    stream: Stream,
    address: u64,
    epoch: u32,
}

impl<'r> Filling<'r> {
    /// `None` if a head still writes to the segment, if somebody else has claimed it, or if there is no such
    /// record any more.
    fn begin(region: &'r Region, hole: &Hole, epoch: u32) -> Option<Self> {
        let segment = hole.segment(region)?;
        // Before it is claimed, as that is dear; and after, as others may have been faster.
        if !segment.may_be_refilled(epoch) {
            return None;
        }
        let claimed = if Flaw::NotClaimed.is_planted() { segment.closed() } else { segment.claim_to_fill() };
        let filling = Self { region, segment, stream: claimed?, address: hole.address, epoch };
        let is_there = hole.segment(region).is_some()
            && segment.may_be_refilled(epoch)
            && hole.address + hole.size <= segment.start() + segment.used()
            && Record::at(region, hole.address).size == hole.size;
        is_there.then_some(filling)
    }

    /// Where the record with this header goes, which may be written from here on.
    #[inline(never)]
    pub(crate) fn refill(&self, header: Header, size: u64) -> u64 {
        self.segment.refill(header, size, self.epoch);
        self.address
    }

    /// Writes its value. So many bytes are `live` in all.
    #[inline(never)]
    pub(crate) fn write_value(&self, live: u64, address: u64, value: &[u8]) {
        if value.len() >= STREAMED && live > CACHES {
            self.region.stream_bytes(address, value);
        } else {
            self.region.write_bytes(address, value);
        }
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        if !Flaw::NotClaimed.is_planted() {
            self.segment.set_usage(SegmentState::Closed(self.stream));
        }
    }
}

#[cfg(test)]
mod tests;
