//! Seats: where one thread at a time writes from, with its heads and holes.
//!
//! A writer slot counts on its own what its writes add to what everybody knows, and now and then for all:
//! when it takes a segment, and each time it has put some in holes.

use crate::alloc::head::Head;
use crate::alloc::holes::{Filling, Holes, uncounted_max};
use crate::owner::Owner;
use crate::record::Record;
use crate::record::header::Header;
use crate::region::counters::row_of;
use crate::region::segment::{Segment, Stream};
use crate::region::{CLOCK, Region};
use crate::sync::Ordering::Relaxed;

/// Where one thread at a time writes.
pub(crate) struct WriterSlot {
    /// Where it counts what its writes add to their tables (`counters.rs`).
    pub(crate) row: u64,
    /// The table that it counts now, and where its counters are: 0 for one that is not counted.
    pub(crate) counts: Option<u16>,
    pub(crate) counter: u64,
    heads: [Head; 2],
    pub(crate) holes: Holes,
    /// What its writes added to the live bytes, not yet counted.
    live: i64,
    /// Bytes that it wrote to holes, not yet counted.
    filled: u64,
}

impl WriterSlot {
    pub(crate) fn new(number: usize, least_hole: u64) -> Self {
        Self {
            row: row_of(number),
            counts: None,
            counter: 0,
            heads: Stream::OF_USERS.map(Head::new),
            holes: Holes::new(least_hole),
            live: 0,
            filled: 0,
        }
    }

    #[inline]
    pub(crate) fn head(&mut self, stream: Stream) -> &mut Head {
        &mut self.heads[usize::from(stream.0)]
    }

    /// A hole for a record of `size` bytes, which takes the place of one of `old_size`.
    #[inline]
    pub(crate) fn hole<'r>(
        &mut self,
        owner: &'r Owner,
        header: Header,
        size: u64,
        old_size: u64,
    ) -> Option<Filling<'r>> {
        if !self.holes.are_for(header, size) {
            return None;
        }
        let growth = size.saturating_sub(old_size);
        let may_grow = growth == 0 || owner.live() + growth <= owner.growth_live_max.load(Relaxed);
        if may_grow { self.holes.take(&owner.region, size) } else { None }
    }

    /// Counts a record of so many bytes that was written.
    #[inline]
    pub(crate) fn add_live(&mut self, size: u64) {
        self.live += size.cast_signed();
    }

    /// Counts a record as dead.
    #[inline]
    pub(crate) fn mark_dead(&mut self, region: &Region, record: Record) {
        self.live -= record.size.cast_signed();
        Segment::bury_record(region, record);
    }

    /// Counts a record that was put in a hole; for all, once there are more: the clock is everybody's, and
    /// who writes looks at it each time.
    #[inline(never)]
    pub(crate) fn count_filled(&mut self, owner: &Owner, size: u64) {
        self.filled += size;
        if self.filled >= uncounted_max(&owner.region) {
            owner.region.word(CLOCK).fetch_add(std::mem::take(&mut self.filled), Relaxed);
            self.count(owner);
        }
    }

    /// Counts what its writes have added to the live bytes for all.
    pub(crate) fn count(&mut self, owner: &Owner) {
        owner.live.fetch_add(std::mem::take(&mut self.live).cast_unsigned(), Relaxed);
    }

    /// Bytes that it wrote to holes and the clock does not know of.
    #[cfg(test)]
    pub(crate) fn filled(&self) -> u64 {
        self.filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture::small;

    /// Or else all of it could come to be live before anybody takes a segment.
    #[test]
    fn what_grows_in_holes_is_counted_before_long() {
        let memory = small(64, 4096);
        let (owner, size) = (memory.owner(), 120);
        let writer = &mut owner.take_writer_slot();
        let before = owner.live();
        for _ in 0..uncounted_max(&owner.region).div_ceil(size) {
            writer.add_live(size);
            writer.count_filled(owner, size);
        }
        assert!((uncounted_max(&owner.region)..512).contains(&(owner.live() - before)) && writer.filled == 0);
    }
}
