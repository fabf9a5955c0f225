//! Expiries: what a segment's usage table entry says of them, and how what has expired goes where a store is
//! full.
//!
//! ```text
//! usage table entry: | … | expiring: bytes of what expires | first: its earliest expiry | last: its latest |
//! ```
//!
//! A pass of a cleaner leaves behind what has expired, and is chosen by that (`victims.rs`). Where too much
//! is live, what has expired is removed where it lies: from one segment after the other, first where it seems
//! to be most. What seems so is a guess, since expiries may be anywhere between the first and the last, and
//! some of what expires may be dead already. So who walks over a segment corrects what is said of it, and it
//! is left alone until another of its records expires, were that one dead or live.
//!
//! Somebody may be writing to the segment meanwhile. Whoever writes says how far it is used, and then notes
//! an expiry. Whoever corrects forgets what was said, then walks over what is used, and then notes what was
//! found. So of each record either the walk or the note comes last, and `first` is never later than what is
//! there. (`last` may be too early.) Who dies in between leaves a `last` that cannot be, and then his
//! successor doubts `first` (`adopt.rs`).

use std::cmp::Reverse;

use crate::clean::victims::gain_min;
use crate::owner::Owner;
use crate::read::now;
use crate::record::Record;
use crate::region::Region;
use crate::region::geometry::WORD;
use crate::region::segment::{Segment, SegmentState};
use crate::sync::Ordering::{Relaxed, SeqCst};
use crate::sync::{AtomicU64, Mutex, lock};
use crate::write::change::Old;

/// Walks that gave back little, after which there are no more for now: a usage table may have guessed wrong
/// of all.
const VAIN_WALKS: u32 = 16;
/// After so many milliseconds a segment is looked at again in which something could not be removed.
const AGAIN: u64 = 60_000;

/// Those who remove what has expired.
#[derive(Default)]
pub(crate) struct ExpiryReaper {
    /// One at a time.
    turn: Mutex<()>,
    /// Bytes that all have removed.
    removed: AtomicU64,
}

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

    /// Replaces what is said of it by what `walk` finds. What is noted meanwhile may count twice. Where it
    /// finds another use, what was forgotten may be of that.
    fn correct_expiries(self, walk: impl FnOnce() -> Option<Expiries>) {
        let [expiring, first, last] = self.expiry_words();
        last.store(u64::MAX, SeqCst);
        first.store(u64::MAX, SeqCst);
        let said = expiring.load(SeqCst);
        let Some(found) = walk() else { return first.store(0, SeqCst) };
        expiring.fetch_add(found.expiring.wrapping_sub(said), SeqCst);
        first.fetch_min(found.first, SeqCst);
        last.store(found.last, SeqCst);
    }

    /// Has it walked over as soon as anybody walks, if whoever corrected it may have died over that.
    pub(crate) fn invalidate_bounds(self) {
        let [_, first, last] = self.expiry_words();
        if last.load(SeqCst) == u64::MAX {
            first.store(0, SeqCst);
        }
    }

    /// Whether something in it may expire.
    pub(crate) fn is_expiring(self) -> bool {
        self.expiries().expiring != 0
    }

    /// How many of its bytes have expired by `now`, as its usage table entry guesses.
    pub(crate) fn expired(self, now: u64) -> u64 {
        self.expiries().expired(now)
    }
}

/// Bytes that go when a record expires: its own, and those of its parts.
pub(crate) fn len_with_parts(region: &Region, record: Record) -> u64 {
    record.size + Old { region, record }.large().map_or(0, |large| large.len)
}

impl Owner {
    /// Removes what has expired, from segment after segment, as long as `goes_on` says so.
    ///
    /// O(segments + records of those that are walked over), which are [`VAIN_WALKS`] beside those that give
    /// back a fiftieth of their bytes.
    #[cold]
    pub(crate) fn expire(&self, goes_on: impl Fn() -> bool) {
        if !goes_on() {
            return;
        }
        let _turn = lock(&self.expiry_reaper.turn);
        let (now, mut vain) = (now(), 0);
        for segment in expired_segments(&self.region, now) {
            // Another may have had his turn before us.
            if vain == VAIN_WALKS || !goes_on() {
                return;
            }
            let gain = self.remove_expired(segment, now);
            vain += u32::from(gain.is_some_and(|gain| gain < gain_min(&self.region)));
        }
    }

    /// Bytes that have been removed as they had expired, by anybody.
    pub(crate) fn expired_so_far(&self) -> u64 {
        self.expiry_reaper.removed.load(Relaxed)
    }

    /// Walks over a segment, if something has expired there still, and gives the bytes that it removed.
    fn remove_expired(&self, segment: Segment<'_>, now: u64) -> Option<u64> {
        let region = &self.region;
        // First the generation: who begins another use changes it first.
        let generation = region.generation(segment.start()).filter(|_| holds_expired(segment, now))?;
        let mut gain = 0;
        segment.correct_expiries(|| {
            let mut found = Expiries::NONE;
            let goes = |record: Record| match record.expiry(region) {
                Some(expiry) if expiry > now => {
                    found.note(expiry, len_with_parts(region, record));
                    false
                }
                expiry => expiry.is_some(),
            };
            let swept = self.remove_if(segment, generation, goes);
            gain = swept.bytes;
            if !swept.is_whole {
                found.note(now + AGAIN, WORD);
            }
            generation.is_same_use().then_some(found)
        });
        self.expiry_reaper.removed.fetch_add(gain, Relaxed);
        Some(gain)
    }
}

/// Whether something in a segment of records seems to have expired.
fn holds_expired(segment: Segment<'_>, now: u64) -> bool {
    !matches!(segment.state(), SegmentState::Free | SegmentState::Index) && segment.expiries().first <= now
}

/// Segments in which something has expired, first those where most has, beyond what is dead.
fn expired_segments(region: &Region, now: u64) -> Vec<Segment<'_>> {
    let all = Segment::all(region);
    let mut segments: Vec<_> = all.filter(|segment| holds_expired(*segment, now)).collect();
    segments.sort_by_cached_key(|segment| {
        let expired = segment.expired(now);
        Reverse((expired.saturating_sub(segment.dead()), expired))
    });
    segments
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use shuttle::thread;

    use super::*;
    use crate::read::walk::Walk;
    use crate::record::key::Key;
    use crate::recover::adopt::adopt;
    use crate::region::geometry::Geometry;
    use crate::region::segment::Stream;
    use crate::sound::Memory;
    use crate::sync::scheduled::{run, take_turns};
    use crate::testing::fixture::{TABLE, small};
    use crate::testing::flaw::Flaw;

    const LATE: u64 = 1 << 47;

    fn put(memory: &Memory, key: u64, len: usize, expiry: Option<u64>) -> bool {
        memory.put_until(TABLE, Key::Integer(key), &vec![7; len], expiry).is_ok()
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
        assert_eq!(Segment::all(region).filter(expired).count(), 0);
    }

    fn region() -> Region {
        let geometry = Geometry { segment_size: 4096, segments_max: 4, buckets: 4 };
        let region = crate::testing::fixture::region(geometry);
        (0..4).for_each(|number| Segment::new(&region, number).begin(SegmentState::Closed(Stream::LONG), 0));
        region
    }

    #[test]
    fn where_most_has_expired_that_is_not_dead_is_looked_first() {
        let region = region();
        let [few, many, late, dead] = [0, 1, 2, 3].map(|number| Segment::new(&region, number));
        few.note_expiry(10, 100);
        many.note_expiry(10, 300);
        many.note_expiry(30, 300);
        late.note_expiry(21, 4000);
        dead.note_expiry(10, 4000);
        dead.mark_dead(4000);
        let order = |now| expired_segments(&region, now).iter().map(|segment| segment.number).collect::<Vec<_>>();
        assert_eq!([9, 10, 20, 21].map(order), [vec![], vec![0, 3, 1], vec![1, 0, 3], vec![2, 1, 0, 3]]);
        assert_eq!((many.expired(20), many.expired(30), few.expired(9)), (300, 600, 0));
        few.begin(SegmentState::Free, 0);
        few.note_expiry(1, 1);
        assert!(!order(10).contains(&0));
    }

    #[test]
    fn what_is_noted_meanwhile_is_not_lost() {
        let region = region();
        let segment = Segment::new(&region, 0);
        let found = Expiries { expiring: 50, first: 40, last: 50 };
        segment.note_expiry(10, 100);
        segment.note_expiry(90, 100);
        segment.correct_expiries(|| {
            segment.note_expiry(20, 8);
            Some(found)
        });
        assert_eq!(segment.expiries(), Expiries { expiring: 58, first: 20, last: 50 });
        segment.correct_expiries(|| Some(found));
        assert_eq!(segment.expiries(), found);
        segment.correct_expiries(|| {
            segment.begin(SegmentState::Open(Stream::LONG), 0);
            segment.note_expiry(60, 8);
            None
        });
        assert_eq!(segment.expiries(), Expiries { expiring: 8, first: 0, last: 60 });
        segment.correct_expiries(|| Some(Expiries::NONE));
        assert!(!segment.is_expiring() && segment.expired(u64::MAX) == 0);
    }

    #[test]
    fn whoever_died_over_a_walk_leaves_none_that_nobody_looks_at() {
        let memory = small(64, 4096);
        assert!(put(&memory, 1, 100, Some(LATE)));
        let region = memory.view().region;
        let open = || Segment::all(region).find(|one| one.is_expiring());
        let segment = open().unwrap();
        let died = catch_unwind(|| {
            segment.correct_expiries(|| {
                segment.note_expiry(LATE + 1, 8);
                panic!("as if somebody were killed here")
            });
        });
        assert!(died.is_err() && segment.expiries().first == LATE + 1);
        segment.invalidate_bounds();
        assert_eq!(segment.expiries().first, 0);
        memory.owner().expire(|| true);
        assert_eq!((segment.expiries().first, segment.expiries().last), (LATE, LATE));
        segment.invalidate_bounds();
        assert_eq!(segment.expiries().first, LATE);
    }

    /// The segments of a store that something was put into, until there were so many.
    fn written(memory: &Memory, count: usize) -> Vec<Segment<'_>> {
        let region = memory.view().region;
        let segments = || Segment::all(region);
        let of_records = |segment: &Segment<'_>| !matches!(segment.state(), SegmentState::Free | SegmentState::Index);
        for key in 0.. {
            assert!(put(memory, key, 480, None));
            if segments().filter(of_records).count() == count {
                break;
            }
        }
        segments().filter(of_records).collect()
    }

    #[test]
    fn some_walks_in_vain_are_enough_for_one_change() {
        let memory = small(64, 4096);
        let segments = written(&memory, 20);
        for segment in &segments {
            segment.note_expiry(1, 8);
        }
        let left = || segments.iter().filter(|segment| segment.is_expiring()).count();
        memory.owner().expire(|| true);
        assert_eq!(left(), 20 - VAIN_WALKS as usize);
        memory.owner().expire(|| true);
        assert_eq!(left(), 0, "the next goes on where the last has ended");
    }

    #[test]
    fn where_damage_hides_something_it_is_looked_again_some_time() {
        let memory = small(64, 4096).broken();
        let segment = written(&memory, 2)[0];
        segment.note_expiry(1, 8);
        memory.view().region.store(segment.start(), u64::MAX);
        let before = now();
        memory.owner().expire(|| true);
        assert!((before + AGAIN..before + 2 * AGAIN).contains(&segment.expiries().first));
    }

    #[test]
    fn an_owner_doubts_what_the_last_one_left() {
        let memory = small(64, 4096);
        let segment = written(&memory, 1)[0];
        segment.note_expiry(LATE, 8);
        segment.expiry_words()[2].store(u64::MAX, SeqCst);
        adopt(memory.view().region).unwrap();
        assert_eq!(segment.expiries().first, 0);
    }

    /// One thread puts what expires, another walks: nothing is said to expire later than it does.
    fn play() {
        let memory = small(64, 4096);
        take_turns(|| {
            thread::scope(|scope| {
                let put = |key| assert!(put(&memory, key, 8, Some(if key % 2 == 0 { 1 } else { LATE - key })));
                scope.spawn(move || (0..12).for_each(put));
                scope.spawn(|| (0..4).for_each(|_| memory.owner().expire(|| true)));
            });
        });
        let region = memory.view().region;
        let of_records = |one: &Segment<'_>| matches!(one.state(), SegmentState::Open(_));
        for segment in Segment::all(region).filter(of_records) {
            let expiries = Walk::over(region, segment).filter_map(|record| record.expiry(region));
            let first = expiries.filter(|expiry| *expiry > 1).min().unwrap_or(LATE);
            assert!(segment.expiries().first <= first, "{first}, and {:?}", segment.expiries());
        }
        memory.owner().expire(|| true);
        assert_eq!(memory.verify().records, 6, "what has expired is gone");
    }

    /// The first schedule that goes wrong.
    fn explore(flaw: Option<Flaw>) -> Option<u64> {
        Flaw::inject(flaw);
        let wrong = (0..1000).find(|seed| catch_unwind(|| run(*seed, play)).is_err());
        Flaw::inject(None);
        wrong
    }

    #[test]
    fn no_expiry_is_lost_while_somebody_walks() {
        assert_eq!(explore(None), None);
    }

    #[test]
    fn canary_an_expiry_that_is_noted_too_early_is_lost() {
        assert!(explore(Some(Flaw::NotedEarly)).is_some());
    }
}
