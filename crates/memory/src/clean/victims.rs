//! Victims: the segments that are most worth a pass.
//!
//! They are those with the highest `(1 - u) * age / u`: `u` is the share of a segment that is live, `age` how
//! much users have written since it was opened (RAMCloud's formula with the segment's age; Rumble, "Memory
//! and Object Management in RAMCloud", 2014).
//!
//! To look at all segments takes 10 ns for each: at 64 GiB that was a tenth of what a pass takes. So where
//! there are many one look is for several passes, one for each [`PER_VICTIM`] segments. Those found are the
//! best of all by then, and get better while they wait, unless a hole of them is filled (`holes.rs`), which
//! happens now and then.
//!
//! That gives back memory. Where a store has too many live records, what has expired is removed before
//! (`expiries.rs`).

use crate::read::now;
use crate::region::geometry::WORD;
use crate::region::segment::{Segment, Stream};
use crate::region::{Region, SEGMENTS_FRESH};

/// A segment of which less than one part in this many is dead is not worth a pass.
const GAIN_MIN: u64 = 50;
/// Segments looked at for each victim found: what a pass spends on its choice, some 4 us, is little beside
/// the rest.
const PER_VICTIM: u64 = 256;

/// Segments found to be worth a pass, the best last.
#[derive(Default)]
pub(crate) struct Victims(Vec<Victim>);

#[derive(Clone, Copy)]
struct Victim {
    score: f64,
    number: u64,
    /// Tells whether the segment is still in the use that it was found in.
    created: u64,
}

impl Victims {
    /// Claims the segment that is most worth a pass.
    pub(crate) fn claim<'r>(&mut self, region: &'r Region, clock: u64) -> Option<(Segment<'r>, Stream)> {
        loop {
            while let Some(victim) = self.0.pop() {
                let segment = Segment::new(region, victim.number);
                // Another cleaner may have been faster.
                if segment.created() == victim.created
                    && let Some(stream) = segment.claim()
                {
                    return Some((segment, stream));
                }
            }
            self.look(region, clock);
            if self.0.is_empty() {
                return None;
            }
        }
    }

    /// Looks at all segments, and keeps the best.
    fn look(&mut self, region: &Region, clock: u64) {
        let mut now_if_needed = None;
        for segment in Segment::all(region) {
            if !segment.is_full() {
                continue;
            }
            let expired =
                if segment.is_expiring() { segment.expired(*now_if_needed.get_or_insert_with(now)) } else { 0 };
            let (created, number) = (segment.created(), segment.number);
            let score = score(segment, region.layout.segment_size, clock.saturating_sub(created), expired);
            if score > 0.0 {
                self.0.push(Victim { score, number, created });
            }
        }
        let wanted = (region.load(SEGMENTS_FRESH) / PER_VICTIM).max(1) as usize;
        if self.0.len() > wanted {
            self.0.select_nth_unstable_by(wanted, |one, other| other.score.total_cmp(&one.score));
            self.0.truncate(wanted);
        }
        self.0.sort_by(|one, other| one.score.total_cmp(&other.score));
    }
}

/// Bytes less than which are not worth a pass over a segment.
pub(crate) fn gain_min(region: &Region) -> u64 {
    region.layout.segment_size / GAIN_MIN
}

/// How much a segment is worth a pass; 0 if it is not.
fn score(segment: Segment<'_>, size: u64, age: u64, expired: u64) -> f64 {
    let (used, live) = (segment.used().min(size), segment.live());
    // Of what has expired as much is dead already as of all.
    let live = live - live * expired.min(used) / used.max(1);
    if (used - live) * GAIN_MIN < size {
        return 0.0;
    }
    let whole = |number: u64| f64::from(u32::try_from(number >> 3).unwrap_or(u32::MAX));
    // What was made while nobody wrote counts a little: among its kind, what is mostly dead comes first.
    let age = whole(age.saturating_add(WORD));
    if live == 0 { f64::INFINITY } else { whole(size - live) * age / whole(live) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::geometry::Geometry;
    use crate::region::segment::SegmentState;

    const SIZE: u64 = 64 << 10;

    /// A region of so many full segments, of which segment `n` has `dead(n)` dead bytes.
    fn region(segments: u64, dead: impl Fn(u64) -> u64) -> Region {
        let geometry = Geometry { segment_size: SIZE, segments_max: segments, buckets: 4 };
        let region = crate::testing::fixture::region(geometry);
        for segment in (0..segments).map(|number| Segment::new(&region, number)) {
            segment.begin(SegmentState::Closed(Stream::LONG), 0);
            segment.set_used(SIZE);
            segment.mark_dead(dead(segment.number));
        }
        region
    }

    fn claimed(victims: &mut Victims, region: &Region) -> Option<u64> {
        victims.claim(region, 1 << 20).map(|(segment, _)| segment.number)
    }

    #[test]
    fn the_best_comes_first_and_what_is_worth_nothing_never() {
        let region = region(100, |number| if number < 97 { number } else { SIZE * (number - 96) / 4 });
        let mut victims = Victims::default();
        let order: Vec<_> = std::iter::from_fn(|| claimed(&mut victims, &region)).collect();
        assert_eq!(order, [99, 98, 97], "of the others less than a fiftieth is dead");
    }

    /// As survivors are of which much is deleted: to delete is not to write.
    #[test]
    fn what_was_made_while_nobody_wrote_can_be_cleaned() {
        let region = region(3, |number| SIZE * number / 4);
        let mut victims = Victims::default();
        let order = [(); 3].map(|()| victims.claim(&region, 0).map(|(segment, _)| segment.number));
        assert_eq!(order, [Some(2), Some(1), None]);
    }

    /// Half is dead, and as much has expired: a quarter is left, unless the dead are just those.
    #[test]
    fn what_has_expired_may_be_dead_already() {
        let region = region(2, |number| SIZE * [5, 4][number as usize] / 8);
        Segment::new(&region, 1).note_expiry(1, SIZE / 2);
        let mut victims = Victims::default();
        assert_eq!(claimed(&mut victims, &region), Some(1), "a quarter is less than three eighths");
        let of = |expired| score(Segment::new(&region, 1), SIZE, 1 << 20, expired);
        assert!(of(0) < of(SIZE / 2) && of(SIZE / 2) < f64::INFINITY && of(SIZE).is_infinite());
    }

    #[test]
    fn one_look_finds_the_best_of_many() {
        let most = 4 * PER_VICTIM;
        let region = region(most, |number| SIZE / 2 + 8 * number);
        let mut victims = Victims::default();
        assert_eq!(claimed(&mut victims, &region), Some(most - 1));
        // Now the worst is the best; but for the next three it has been looked already.
        Segment::new(&region, 0).mark_dead(SIZE / 2);
        assert_eq!([(); 4].map(|()| claimed(&mut victims, &region).unwrap()), [most - 2, most - 3, most - 4, 0]);
    }

    #[test]
    fn who_was_faster_has_it() {
        let region = region(4 * PER_VICTIM, |number| SIZE / 2 + 8 * number);
        let (mut one, mut other) = (Victims::default(), Victims::default());
        let [best, second] = [&mut one, &mut other].map(|victims| claimed(victims, &region).unwrap());
        assert_eq!(best, second + 1, "both found the same");
        // A segment that was found, cleaned by another, and filled again is another segment.
        let next = Segment::new(&region, second - 1);
        next.begin(SegmentState::Closed(Stream::LONG), 5);
        next.set_used(SIZE);
        assert_eq!(claimed(&mut one, &region), Some(second - 2));
    }
}
