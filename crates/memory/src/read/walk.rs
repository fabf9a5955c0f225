//! The records of a segment one after the other, as far as they can be told apart.
//!
//! Where one ends the next begins, so a record whose header is damaged hides those behind it: its length is
//! anything. A walk goes on as long as each record can be one and ends within the segment. It may also fall
//! out of step unseen, since what it finds inside a value can look like a record; so who gives a segment back
//! asks besides whether as much was found as the segment usage table counts, and else whether the index names
//! something there (`cleaner.rs`).

use crate::record::Record;
use crate::region::Region;
use crate::region::segment::Segment;

/// What is left of a segment to walk over.
pub(crate) struct Walk<'r> {
    region: &'r Region,
    next: u64,
    end: u64,
    torn_at: Option<u64>,
}

impl<'r> Walk<'r> {
    pub(crate) fn over(region: &'r Region, segment: Segment<'_>) -> Self {
        let used = segment.used().min(region.layout.segment_size);
        Self { region, next: segment.start(), end: segment.start() + used, torn_at: None }
    }

    /// Where it ended at something that is no record.
    pub(crate) fn torn_at(&self) -> Option<u64> {
        self.torn_at
    }
}

impl Iterator for Walk<'_> {
    type Item = Record;

    #[inline]
    fn next(&mut self) -> Option<Record> {
        if self.next >= self.end {
            return None;
        }
        let record = Record::at(self.region, self.next);
        if !record.can_be(self.region) || record.size > self.end - self.next {
            (self.torn_at, self.next) = (Some(self.next), self.end);
            return None;
        }
        self.next += record.size;
        Some(record)
    }
}
