//! Expiries: what a segment's ledger entry says of them, and how what has expired goes where a store is full.
//!
//! ```text
//! ledger entry: | … | expiring: bytes of what expires | first: its earliest expiry | last: its latest |
//! ```
//!
//! A pass of a cleaner leaves behind what has expired, and is chosen by that (`victims.rs`). Where too much is live, what has expired is
//! removed where it lies: from one segment after the other, first where it seems to be most. What seems so is a guess, since expiries may be
//! anywhere between the first and the last, and some of what expires may be dead already. So who has walked over a segment corrects
//! what is said of it, and nobody walks over it again before another record of it has expired.
//!
//! Somebody may be writing to the segment meanwhile. Whoever writes says first how far the segment is used, then adds to `expiring`, and
//! then looks at `first` and `last`. Whoever corrects reads `expiring`, walks over what is used, changes `first` and `last`, and then
//! `expiring`, if it is still the same; otherwise `first` and `last` become as wide as before. So at worst a record seems to expire too early,
//! which costs a walk.

use crate::change::Old;
use crate::owner::Owner;
use crate::read::now;
use crate::record::Record;
use crate::region::{Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Use};
use crate::sync::Ordering::SeqCst;
use crate::sync::lock;

/// Segments in a row that gave back nothing, after which others get their turn: a ledger may have guessed wrong of all.
const VAIN_WALKS: u32 = 16;

/// What is said of expiries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expiries {
    expiring: u64,
    first: u64,
    last: u64,
}

impl Expiries {
    const NONE: Self = Self { expiring: 0, first: u64::MAX, last: 0 };

    fn note(&mut self, expiry: u64, len: u64) {
        self.expiring = self.expiring.saturating_add(len);
        (self.first, self.last) = (self.first.min(expiry), self.last.max(expiry));
    }

    /// How many of the bytes have expired by `now`, if expiries are spread evenly.
    fn expired(self, now: u64) -> u64 {
        let Self { expiring, first, last } = self;
        if now < first {
            return 0;
        }
        let share = |part: u64, whole: u64| (u128::from(expiring) * u128::from(part) / u128::from(whole)) as u64;
        if now >= last { expiring } else { share(now - first, last - first) }
    }
}

impl Segment<'_> {
    fn expiries(self) -> Expiries {
        let [expiring, first, last] = self.expiry_words().map(|word| word.load(SeqCst));
        Expiries { expiring, first, last }
    }

    /// Notes that a record of it, which it counts as used, ceases to be then. By its head's writer only.
    #[cold]
    pub(crate) fn note_expiry(self, expiry: u64, len: u64) {
        let [expiring, first, last] = self.expiry_words();
        expiring.fetch_add(len, SeqCst);
        if expiry < first.load(SeqCst) {
            first.fetch_min(expiry, SeqCst);
        }
        if expiry > last.load(SeqCst) {
            last.fetch_max(expiry, SeqCst);
        }
    }

    /// Replaces what was said of it by what was found, unless something was noted since.
    fn correct_expiries(self, said: Expiries, found: Expiries) {
        let [expiring, first, last] = self.expiry_words();
        first.store(found.first, SeqCst);
        last.store(found.last, SeqCst);
        if expiring.compare_exchange(said.expiring, found.expiring, SeqCst, SeqCst).is_err() {
            first.fetch_min(said.first, SeqCst);
            last.fetch_max(said.last, SeqCst);
        }
    }

    /// Whether something in it may expire.
    pub(crate) fn is_expiring(self) -> bool {
        self.expiries().expiring != 0
    }

    /// How many of its bytes have expired by `now`, as its ledger entry guesses.
    pub(crate) fn expired(self, now: u64) -> u64 {
        self.expiries().expired(now)
    }
}

/// Bytes that go when a record expires: its own, and those of its parts.
pub(crate) fn len_with_parts(region: &Region, record: Record) -> u64 {
    record.head.size() + Old { region, record }.large().map_or(0, |large| large.len)
}

impl Owner {
    /// Removes what has expired as long as there is too much. `false` if there still is in the end.
    ///
    /// O(records of the segments that are walked over): of one for each that gives back something, and [`VAIN_WALKS`] more at most.
    #[cold]
    pub(crate) fn expire(&self, is_too_much: impl Fn() -> bool) -> bool {
        // Who waited looks at what the other has removed.
        let _turn = lock(&self.expiring);
        let mut vain = 0;
        while is_too_much() {
            let (now, live) = (now(), self.live());
            let Some(segment) = most_expired(&self.region, now).filter(|_| vain < VAIN_WALKS) else { return false };
            self.remove_expired(segment, now);
            vain = if self.live() < live { 0 } else { vain + 1 };
        }
        true
    }

    fn remove_expired(&self, segment: Segment<'_>, now: u64) {
        let region = &self.region;
        let Some(generation) = region.generation(segment.start()) else { return };
        let (said, mut found) = (segment.expiries(), Expiries::NONE);
        let goes = |record: Record| match record.expiry(region) {
            Some(expiry) if expiry > now => {
                found.note(expiry, len_with_parts(region, record));
                false
            }
            expiry => expiry.is_some(),
        };
        self.remove_if(segment, generation, goes);
        if generation.is_same_use() {
            segment.correct_expiries(said, found);
        }
    }
}

/// Where most has expired, of the segments in which something has. Those that a cleaner is at lose it without us.
fn most_expired(region: &Region, now: u64) -> Option<Segment<'_>> {
    (0..region.load(SEGMENTS_FRESH))
        .map(|number| Segment::new(region, number))
        .filter(|segment| matches!(segment.usage(), Use::Open(_) | Use::Closed(_) | Use::Filling(_)))
        .map(|segment| (segment.expiries(), segment))
        .filter(|(said, _)| said.expiring > 0 && said.first <= now)
        .max_by_key(|(said, _)| said.expired(now))
        .map(|(_, segment)| segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TABLE, small};
    use crate::geometry::Geometry;
    use crate::memory::Memory;
    use crate::record::Key;
    use crate::segment::Stream;
    use crate::sync::Words;

    const LATE: u64 = 1 << 47;

    fn put(memory: &Memory, key: u64, len: usize, expiry: Option<u64>) -> bool {
        memory.put(TABLE, Key::Integer(key), 0, &vec![7; len], expiry, |_| true).is_ok()
    }

    /// As they lie in a full store: one that has expired beside one that will much later, in each segment.
    #[test]
    fn a_late_expiry_hides_nothing_that_has_expired() {
        let memory = small(64, 4096);
        let expiry = |key| [None, Some(LATE), Some(1)][(key % 3) as usize];
        let fill = |from: u64| (from..1000).take_while(|key| put(&memory, *key, 480, expiry(*key))).count();
        let count = fill(0);
        assert!(count > 500, "{count} records: a third of them had to go for others");
        assert_eq!(fill(count as u64), 0);
        let expired = |segment: &Segment<'_>| segment.expired(now()) > 0;
        let region = memory.view().region;
        assert_eq!(
            (0..region.load(SEGMENTS_FRESH)).map(|number| Segment::new(region, number)).filter(expired).count(),
            0
        );
    }

    fn region() -> Region {
        let geometry = Geometry { segment_size: 4096, segments_max: 4, buckets: 4 };
        let region = Region::create(Words::zeros(geometry.region_len()).unwrap(), geometry, 0, 0, 4096).unwrap();
        region.store(SEGMENTS_FRESH, 4);
        (0..4).for_each(|number| Segment::new(&region, number).begin(Use::Closed(Stream::LONG), 0));
        region
    }

    #[test]
    fn where_most_has_expired_is_looked_first() {
        let region = region();
        let [few, many, none, cleaned] = [0, 1, 2, 3].map(|number| Segment::new(&region, number));
        few.note_expiry(10, 100);
        many.note_expiry(10, 300);
        many.note_expiry(30, 300);
        none.note_expiry(21, 4000);
        cleaned.note_expiry(10, 4000);
        cleaned.claim();
        let most = |now| most_expired(&region, now).map(|segment| segment.number);
        assert_eq!([9, 10, 11, 20, 21].map(most), [None, Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!((many.expired(20), many.expired(30), few.expired(9)), (300, 600, 0));
    }

    #[test]
    fn what_is_noted_meanwhile_is_not_lost() {
        let region = region();
        let segment = Segment::new(&region, 0);
        let found = Expiries { expiring: 50, first: 40, last: 50 };
        segment.note_expiry(10, 100);
        segment.note_expiry(90, 100);
        let said = segment.expiries();
        segment.note_expiry(20, 8);
        segment.correct_expiries(said, found);
        assert_eq!(segment.expiries(), Expiries { expiring: 208, first: 10, last: 90 });
        segment.correct_expiries(segment.expiries(), found);
        assert_eq!(segment.expiries(), found);
        segment.note_expiry(20, 8);
        segment.note_expiry(60, 8);
        assert_eq!(segment.expiries(), Expiries { expiring: 66, first: 20, last: 60 });
        segment.correct_expiries(segment.expiries(), Expiries::NONE);
        assert!(!segment.is_expiring() && segment.expired(u64::MAX) == 0);
    }
}
