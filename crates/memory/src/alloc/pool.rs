//! The pool: segments and index pages that nobody uses, and how many of each there may be.
//!
//! - Segments are used again in the order in which they became free: so a reader that is still looking at one
//!   has all the time there is.
//! - Segments that were never used get their memory ahead of need, by who makes the store and then by the
//!   cleaners' threads: zeroing two megabytes takes longer than any change should.
//! - Many pages of the index are split at about the same time, faster than anybody could get segments ready.
//!   Then the index gets its memory a page at a time, for none of them should wait for two megabytes;
//!   otherwise as everybody, since the kernel may have a huge page for a whole segment. What came in pages is
//!   made one by the cleaners' threads.
//! - What somebody leaves to others has its memory. So where the machine has none for another segment,
//!   cleaners go on with those that there are.
//! - The last segments are kept back for those that progress depends on (`budget.rs`).

use std::collections::VecDeque;

use hammerspace_error::Result;

use crate::alloc::budget::{Budget, Extent, Priority};
use crate::region::segment::{Segment, SegmentState, Stream};
use crate::region::{Region, SEGMENTS_FRESH};

/// What is free. One for a region, behind a lock.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) free: VecDeque<u64>,
    /// Segments that were never used and have their memory.
    ready: VecDeque<u64>,
    /// Segments that were to get their memory, and may not have it: there was none, or a former owner died
    /// meanwhile.
    pub(crate) unbacked: VecDeque<u64>,
    /// How many threads are giving one its memory.
    pub(crate) making: u64,
    /// Whether there was no memory when it was asked for last.
    out_of_memory: bool,
    /// Pieces of the index that nobody uses.
    pub(crate) pages: Vec<u64>,
    /// Segments of the index that get their memory page by page.
    pub(crate) growing: Vec<u64>,
    /// Those that have got all of it so, and not as one huge page.
    pub(crate) uncollapsed: Vec<u64>,
    pub(crate) index_segments: u64,
    /// Bytes at the ends of closed segments, where the next record did not fit: no cleaner gains them, as
    /// survivors leave as much.
    pub(crate) tails: u64,
    /// Segments that a former owner was writing to: the first for heads of their streams, who go on there.
    pub(crate) open: Vec<(Stream, u64)>,
    /// What its writers and cleaners need.
    pub(crate) budget: Budget,
    /// Segments that others than cleaners have taken.
    pub(crate) taken: u64,
}

/// Gives a segment that was never used its place in memory.
pub(crate) trait Backing {
    /// Makes room for bytes of the region that nobody used before.
    fn back(&self, region: &Region, address: u64, len: u64) -> Result<()>;
}

impl Pool {
    /// Segments that may be taken in all.
    pub(crate) fn available(&self, region: &Region) -> u64 {
        self.backed() + if self.out_of_memory { 0 } else { self.bare(region) }
    }

    /// Those that have their memory.
    fn backed(&self) -> u64 {
        (self.free.len() + self.ready.len()) as u64
    }

    /// Those that do not.
    fn bare(&self, region: &Region) -> u64 {
        self.unbacked.len() as u64 + Self::untouched(region)
    }

    /// Segments that were never used, nor made ready.
    fn untouched(region: &Region) -> u64 {
        region.limit().saturating_sub(region.load(SEGMENTS_FRESH))
    }

    /// Whether segments should be made ready.
    pub(crate) fn is_unready(&self, region: &Region) -> bool {
        !self.out_of_memory && self.backed() < self.budget.ready() && self.bare(region) > 0
    }

    /// Whether free segments have become so few that it is time to clean.
    pub(crate) fn is_short(&self, region: &Region) -> bool {
        let has_memory_ended = self.out_of_memory && self.bare(region) > 0;
        self.available(region) < self.budget.cleaning_below(has_memory_ended)
    }

    /// Lets threads ask for memory once more, should there have been none.
    pub(crate) fn retry_memory(&mut self) {
        self.out_of_memory = false;
    }

    /// Gives what users leave to others its memory.
    pub(crate) fn back_reserve(&mut self, region: &Region, backing: &dyn Backing) -> Result<()> {
        while self.backed() < self.budget.reserve(Priority::User) && self.bare(region) > 0 {
            self.back_one(region, backing)?;
        }
        Ok(())
    }

    fn back_one(&mut self, region: &Region, backing: &dyn Backing) -> Result<()> {
        let segment = self.claim(region);
        let backed = backing.back(region, region.layout.segment(segment), region.layout.segment_size);
        self.settle(region, segment, backed)
    }

    /// A segment that needs memory: each in turn, for some may have it.
    pub(crate) fn claim(&mut self, region: &Region) -> u64 {
        self.unbacked.pop_front().unwrap_or_else(|| {
            let fresh = region.load(SEGMENTS_FRESH);
            region.store(SEGMENTS_FRESH, fresh + 1);
            fresh
        })
    }

    /// Takes note of what came of giving a segment memory.
    pub(crate) fn settle(&mut self, region: &Region, segment: u64, result: Result<()>) -> Result<()> {
        self.out_of_memory = result.is_err();
        match &result {
            Ok(()) => {
                Segment::new(region, segment).set_backed(region.layout.segment_size);
                self.ready.push_back(segment);
            }
            Err(_) => self.unbacked.push_back(segment),
        }
        result
    }

    /// Segments of which this many in all hold records.
    pub(crate) fn extent(&self, region: &Region, segments: u64) -> Extent {
        let segments = segments.saturating_sub(self.index_segments);
        Extent { segments, segment_size: region.layout.segment_size, tails: self.tails }
    }

    /// A segment for a head of this stream. `None` if there is none left for this purpose.
    pub(crate) fn take_for(
        &mut self,
        region: &Region,
        backing: &dyn Backing,
        priority: Priority,
        stream: Stream,
    ) -> Result<Option<u64>> {
        match self.open.iter().position(|(of, _)| *of == stream) {
            Some(at) => Ok(Some(self.open.swap_remove(at).1)),
            None => self.take(region, backing, priority),
        }
    }

    /// A segment to use. `None` if there is none left for this purpose; an error if there is, and no memory
    /// for it.
    pub(crate) fn take(&mut self, region: &Region, backing: &dyn Backing, priority: Priority) -> Result<Option<u64>> {
        let reserve = self.budget.reserve(priority);
        if self.backed() + self.bare(region) <= reserve {
            return Ok(None);
        }
        // Of those that users leave beyond it two at most get their memory now, or one while a thread is at
        // it: nobody is to wait for all.
        let more = u64::from(self.making == 0);
        let left = if priority == Priority::User {
            self.budget.backed_reserve().min(self.backed() + more).max(reserve)
        } else {
            reserve
        };
        while self.backed() <= left && self.bare(region) > 0 {
            self.back_one(region, backing)?;
        }
        self.taken += u64::from(priority != Priority::Cleaner);
        // First what was in use before.
        Ok(self.free.pop_front().or_else(|| self.ready.pop_front()))
    }

    /// Gives a segment back that nothing names any more.
    pub(crate) fn give(&mut self, region: &Region, segment: u64) {
        self.tails = self.tails.saturating_sub(Segment::new(region, segment).tail());
        Segment::new(region, segment).set_usage(SegmentState::Free);
        self.free.push_back(segment);
    }

    /// Two pages for a new index, in a segment that has all of its memory: lookups need not ask then how much
    /// it has.
    pub(crate) fn first_pieces(&mut self, region: &Region, backing: &dyn Backing) -> Result<Option<[u64; 2]>> {
        self.take_for_index(region, backing, Priority::Cleaner)?;
        self.take_index_pages(region, backing, Priority::Cleaner)
    }

    /// Two pages for a split. `None` if there is no room for them.
    pub(crate) fn take_index_pages(
        &mut self,
        region: &Region,
        backing: &dyn Backing,
        priority: Priority,
    ) -> Result<Option<[u64; 2]>> {
        while self.pages.len() < 2 {
            let is_ready = self.backed() > self.budget.ready_for_index();
            if (is_ready || !self.grow_index(region, backing, priority))
                && !self.take_for_index(region, backing, priority)?
            {
                return Ok(None);
            }
        }
        Ok(self.pages.pop().zip(self.pages.pop()).map(|(left, right)| [left, right]))
    }

    /// Gives the next page its memory. `false` if there is none, of either.
    fn grow_index(&mut self, region: &Region, backing: &dyn Backing, priority: Priority) -> bool {
        let is_left = !self.out_of_memory && self.available(region) > self.budget.reserve(priority);
        if self.growing.is_empty() && is_left && self.bare(region) > 0 {
            let segment = self.claim(region);
            // First: should the owner die here, nobody must take it for a free one that was in use, and so
            // has its memory.
            Segment::new(region, segment).begin_pages();
            self.index_segments += 1;
            self.growing.push(segment);
        }
        let Some(segment) = self.growing.last().map(|number| Segment::new(region, *number)) else { return false };
        let (page, size) = (segment.start() + segment.used(), region.layout.index_page_size);
        if backing.back(region, page, size).is_err() {
            self.out_of_memory = true;
            return false;
        }
        self.pages.push(page);
        // In this order: no owner finds pages in use that have no memory.
        segment.set_backed(segment.used() + size);
        segment.set_used(segment.used() + size);
        if segment.used() == region.layout.segment_size {
            segment.end_pages();
            self.uncollapsed.extend(self.growing.pop());
        }
        true
    }

    /// Takes a segment that has its memory for the index. `false` if there is none left for this.
    fn take_for_index(&mut self, region: &Region, backing: &dyn Backing, priority: Priority) -> Result<bool> {
        let Some(segment) = self.take(region, backing, priority)? else { return Ok(false) };
        let segment = Segment::new(region, segment);
        segment.begin(SegmentState::Index, 0);
        self.index_segments += 1;
        segment.set_used(region.layout.segment_size);
        let pages = region.layout.index_pages_per_segment();
        self.pages.extend((0..pages).rev().map(|page| segment.start() + page * region.layout.index_page_size));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hammerspace_error::{Error, Kind};

    use super::*;
    use crate::region::LIMIT;
    use crate::region::geometry::Geometry;
    use crate::sync::Words;

    /// Has memory for so many more segments.
    struct Room(Cell<u64>);

    impl Backing for Room {
        fn back(&self, _: &Region, _: u64, _: u64) -> Result<()> {
            let Some(left) = self.0.get().checked_sub(1) else { return Err(Error::new(Kind::Full, "no memory")) };
            self.0.set(left);
            Ok(())
        }
    }

    /// A region of so many segments of 16 pages.
    fn region(segments: u64) -> Region {
        let geometry = Geometry { segment_size: 4096, segments_max: segments, buckets: 4 };
        let region = Region::create(Words::zeros(geometry.region_len()).unwrap(), geometry, 7, 9, 4096).unwrap();
        region.store(LIMIT, segments);
        region
    }

    #[test]
    fn a_segment_that_got_no_memory_is_not_lost() {
        let (region, mut pool, backing) = (region(10), Pool::default(), Room(Cell::new(1)));
        assert_eq!(pool.take(&region, &backing, Priority::Cleaner).unwrap(), Some(0));
        assert_eq!(pool.take(&region, &backing, Priority::Cleaner).unwrap_err().kind(), Kind::Full);
        assert_eq!(pool.available(&region), 0, "that may be cleaned for");
        backing.0.set(10);
        let rest: Vec<_> = std::iter::from_fn(|| pool.take(&region, &backing, Priority::Cleaner).unwrap()).collect();
        assert_eq!(rest, (1..10).collect::<Vec<_>>());
    }

    #[test]
    fn what_users_leave_to_others_has_its_memory() {
        for (writers, cleaners, left) in [(1, 1, 14), (4, 2, 24)] {
            let budget = Budget::of(writers, cleaners);
            let (region, mut pool) = (region(100), Pool { budget, ..Pool::default() });
            let backing = Room(Cell::new(50));
            let take = |pool: &mut Pool, priority| {
                std::iter::from_fn(|| pool.take(&region, &backing, priority).ok().flatten()).count() as u64
            };
            assert_eq!(take(&mut pool, Priority::User), 50 - left);
            assert!(pool.is_short(&region), "who is refused has cleaners called");
            assert_eq!(
                [Priority::Overwrite, Priority::Cleaner].map(|priority| take(&mut pool, priority)),
                [left - 4, 4]
            );
        }
    }

    #[test]
    fn nobody_waits_for_the_memory_of_many() {
        let (region, backing) = (region(100), Room(Cell::new(100)));
        let mut pool = Pool { budget: Budget::of(16, 2), ..Pool::default() };
        pool.back_reserve(&region, &backing).unwrap();
        for making in [0, 1, 0, 2].into_iter().cycle().take(20) {
            pool.making = making;
            let before = backing.0.get();
            pool.take(&region, &backing, Priority::User).unwrap().unwrap();
            assert_eq!(before - backing.0.get(), if making == 0 { 2 } else { 1 });
        }
    }

    #[test]
    fn a_segment_whose_pages_all_have_their_memory_can_be_gathered() {
        let (region, mut pool, backing) = (region(100), Pool::default(), Room(Cell::new(17)));
        for _ in 0..8 {
            pool.take_index_pages(&region, &backing, Priority::Cleaner).unwrap();
        }
        assert_eq!((&*pool.uncollapsed, &*pool.growing, Segment::new(&region, 0).used()), (&[0][..], &[][..], 4096));
        pool.take_index_pages(&region, &backing, Priority::Cleaner).unwrap_err();
        assert_eq!((&*pool.growing, pool.pages.len()), (&[1][..], 1));
    }

    #[test]
    fn the_index_gets_its_memory_page_by_page() {
        let (region, mut pool, backing) = (region(100), Pool::default(), Room(Cell::new(3)));
        let take = |pool: &mut Pool| pool.take_index_pages(&region, &backing, Priority::Cleaner);
        let first = take(&mut pool).unwrap();
        assert_eq!(take(&mut pool).unwrap_err().kind(), Kind::Full);
        // One that was in use is as good.
        pool.free.push_back(7);
        let second = take(&mut pool).unwrap();
        let mut pages: Vec<_> = [first, second].into_iter().flatten().flatten().chain(pool.pages).collect();
        pages.sort_unstable();
        let of = |segment: u64, pages: u64| (0..pages).map(move |page| region.layout.segment(segment) + page * 256);
        assert_eq!(pages, of(0, 3).chain(of(7, 16)).collect::<Vec<_>>());
        assert!(pool.uncollapsed.is_empty());
        assert_eq!((pool.growing, Segment::new(&region, 0).used(), pool.index_segments), (vec![0], 3 * 256, 2));
    }
}
