//! The pool: segments and index pieces that nobody uses, and how many of each there may be.
//!
//! - Segments are used again in the order in which they became free: so a reader that is still looking at one has all the time there
//!   is.
//! - Segments that were never used get their memory ahead of need, by the cleaners' threads, as long as there are enough of them:
//!   zeroing two megabytes takes longer than any change should.
//! - The last segments are kept back, for those on whom progress depends: cleaners may take all, the index all but one pass's
//!   survivors, a long value in place of another all but what these two need, users what is left.

use std::collections::VecDeque;

use hammerspace_error::Result;

use crate::region::{LIMIT, Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Stream, Use};

/// Who asks for a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum For {
    /// Survivors: what a cleaner gives back is more than it takes.
    Cleaner,
    /// The index, or an overwrite that takes no more than it gives back.
    Keeper,
    /// Parts of a value that takes the place of one as long. It gives back what it takes, but both exist until it is there as a whole.
    Successor,
    /// What users add.
    User,
}

/// Segments that survivors may take. A pass opens one at most before it gives its victim back, and there may be one for each cleaner; or
/// one for each stream, which stays open.
const FOR_SURVIVORS: u64 = 4;
/// Beyond them, what the index and what overwrites may take while users wait.
const FOR_KEEPERS: u64 = 2;
/// Beyond those, what parts of a long value may take while it and the one that it replaces both exist.
pub(crate) const FOR_SUCCESSORS: u64 = 2;

/// Segments that are to be ready.
pub(crate) const READY: u64 = 4;

/// What is free. One for a region, behind a lock.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) free: VecDeque<u64>,
    /// Segments that were never used and have their memory.
    ready: VecDeque<u64>,
    /// Segments that were to get their memory, when there was none.
    unbacked: Vec<u64>,
    /// Pieces of the index that nobody uses.
    pub(crate) pieces: Vec<u64>,
    pub(crate) index_segments: u64,
    /// Segments that a former owner was writing to: the first for heads of their streams, who go on there.
    pub(crate) open: Vec<(Stream, u64)>,
    /// How many may clean at the same time.
    pub(crate) cleaners: usize,
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
        (self.free.len() + self.ready.len() + self.unbacked.len()) as u64 + Self::untouched(region)
    }

    /// Segments that were never used, nor made ready.
    fn untouched(region: &Region) -> u64 {
        region.load(LIMIT).saturating_sub(region.load(SEGMENTS_FRESH))
    }

    /// Whether segments should be made ready. Not the last ones: who needs those must not miss what is in the making.
    pub(crate) fn is_unready(&self, region: &Region) -> bool {
        self.free.len() + self.ready.len() < READY as usize && Self::untouched(region) > READY
    }

    /// A segment that needs memory.
    pub(crate) fn claim(&mut self, region: &Region) -> u64 {
        self.unbacked.pop().unwrap_or_else(|| {
            let fresh = region.load(SEGMENTS_FRESH);
            region.store(SEGMENTS_FRESH, fresh + 1);
            fresh
        })
    }

    /// Takes note of what came of giving a segment memory.
    pub(crate) fn settle(&mut self, segment: u64, result: Result<()>) -> Result<()> {
        match &result {
            Ok(()) => self.ready.push_back(segment),
            Err(_) => self.unbacked.push(segment),
        }
        result
    }

    /// Segments that must stay when somebody takes one, where so many clean.
    pub(crate) fn reserve(who: For, cleaners: usize) -> u64 {
        let for_survivors = FOR_SURVIVORS.max(cleaners as u64);
        match who {
            For::Cleaner => 0,
            For::Keeper => for_survivors,
            For::Successor => for_survivors + FOR_KEEPERS,
            For::User => for_survivors + FOR_KEEPERS + FOR_SUCCESSORS,
        }
    }

    /// Segments that hold the index.
    pub(crate) fn index_segments(&self) -> u64 {
        self.index_segments
    }

    /// A segment for a head of this stream. `None` if there is none left for this purpose.
    pub(crate) fn take_for(
        &mut self,
        region: &Region,
        backing: &dyn Backing,
        who: For,
        stream: Stream,
    ) -> Result<Option<u64>> {
        match self.open.iter().position(|(of, _)| *of == stream) {
            Some(at) => Ok(Some(self.open.swap_remove(at).1)),
            None => self.take(region, backing, who),
        }
    }

    /// A segment to use. `None` if there is none left for this purpose.
    pub(crate) fn take(&mut self, region: &Region, backing: &dyn Backing, who: For) -> Result<Option<u64>> {
        if self.available(region) <= Self::reserve(who, self.cleaners) {
            return Ok(None);
        }
        // First what was in use before.
        if self.free.is_empty() && self.ready.is_empty() {
            let segment = self.claim(region);
            let backed = backing.back(region, region.layout.segment(segment), region.layout.segment_size);
            self.settle(segment, backed)?;
        }
        self.taken += u64::from(who != For::Cleaner);
        Ok(self.free.pop_front().or_else(|| self.ready.pop_front()))
    }

    /// Gives a segment back that nothing names any more.
    pub(crate) fn give(&mut self, region: &Region, segment: u64) {
        Segment::new(region, segment).set_usage(Use::Free);
        self.free.push_back(segment);
    }

    /// Two pieces for a split. `None` if there is no room for them.
    pub(crate) fn take_pieces(&mut self, region: &Region, backing: &dyn Backing, who: For) -> Result<Option<[u64; 2]>> {
        while self.pieces.len() < 2 {
            let Some(segment) = self.take(region, backing, who)? else { return Ok(None) };
            let segment = Segment::new(region, segment);
            segment.begin(Use::Index, 0);
            self.index_segments += 1;
            let pieces = region.layout.pieces_per_segment();
            self.pieces.extend((0..pieces).rev().map(|piece| segment.start() + piece * region.layout.piece_size));
        }
        Ok(self.pieces.pop().zip(self.pieces.pop()).map(|(left, right)| [left, right]))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hammerspace_error::{Error, Kind};

    use super::*;
    use crate::geometry::Geometry;
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

    #[test]
    fn a_segment_that_got_no_memory_is_not_lost() {
        let geometry = Geometry { segment_size: 4096, segments_max: 10, buckets: 4 };
        let region = Region::create(Words::zeros(geometry.region_len()).unwrap(), geometry, 7, 9, 4096).unwrap();
        region.store(LIMIT, 10);
        let (mut pool, backing) = (Pool::default(), Room(Cell::new(1)));
        assert_eq!(pool.take(&region, &backing, For::Cleaner).unwrap(), Some(0));
        assert_eq!(pool.take(&region, &backing, For::Cleaner).unwrap_err().kind(), Kind::Full);
        assert_eq!(pool.available(&region), 9);
        backing.0.set(10);
        let rest: Vec<_> = std::iter::from_fn(|| pool.take(&region, &backing, For::Cleaner).unwrap()).collect();
        assert_eq!(rest, (1..10).collect::<Vec<_>>());
    }
}
