//! Heads: where records are appended, each by one thread at a time.

use std::ops::Range;

use crate::alloc::budget::Priority;
use crate::clean::expiries::len_with_parts;
use crate::record::Record;
use crate::region::Region;
use crate::region::geometry::BUCKET;
use crate::region::segment::{Segment, SegmentState, Stream};
use crate::sync::Ordering::Release;
use crate::sync::fence;
use crate::testing::flaw::Flaw;

/// Which lines beyond a record are asked for once it is written: the next ones go there. Whoever opens or
/// closes a lock waits for all that it has written before, and so for a line that is not in the cache.
const LINES_AHEAD: Range<u64> = 2..4;

/// An open segment, how far it is written, and who may write to it.
pub(crate) struct Head {
    stream: Stream,
    /// For whom there was room when it was asked last, and for all who come before: what an overwrite is
    /// given beyond the cap is not for new records.
    granted: Priority,
    /// Whether it has a segment, the one with this number.
    is_open: bool,
    number: u64,
    start: u64,
    used: u64,
    tables: u64,
}

impl Head {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, granted: Priority::Cleaner, is_open: false, number: 0, start: 0, used: 0, tables: 0 }
    }

    /// Whether a record of `size` bytes fits.
    #[inline]
    pub(crate) fn has_room(&self, region: &Region, size: u64) -> bool {
        self.is_open && self.used + size <= region.layout.segment_size
    }

    /// Whether it is there for them.
    #[inline]
    pub(crate) fn is_for(&self, priority: Priority) -> bool {
        priority <= self.granted
    }

    /// Lets them write to it, as there is room for them.
    pub(crate) fn grant(&mut self, priority: Priority) {
        self.granted = priority;
    }

    /// Bytes of its segment behind the records; none where it has none.
    pub(crate) fn tail(&self, region: &Region) -> u64 {
        if self.is_open { region.layout.segment_size.saturating_sub(self.used) } else { 0 }
    }

    /// Goes on in another segment: a free one, or one that was left open. Gives how many bytes the former one
    /// got.
    pub(crate) fn renew(&mut self, region: &Region, segment: u64, clock: u64) -> u64 {
        let written = self.close(region);
        let segment = Segment::new(region, segment);
        if segment.state() != SegmentState::Open(self.stream) {
            segment.begin(SegmentState::Open(self.stream), clock);
        }
        (self.is_open, self.number, self.start) = (true, segment.number, segment.start());
        (self.used, self.tables) = (segment.used(), segment.tables());
        written
    }

    /// A head in a segment of its own for a batch: what it writes is not named before the batch commits, so
    /// no cleaner may have the segment.
    pub(crate) fn of_batch(region: &Region, stream: Stream, granted: Priority, segment: u64, clock: u64) -> Self {
        let segment = Segment::new(region, segment);
        segment.begin(SegmentState::Batch(stream), clock);
        Self { granted, is_open: true, number: segment.number, start: segment.start(), ..Self::new(stream) }
    }

    /// Goes on as a head like others, when the batch has committed.
    pub(crate) fn end_batch(&self, region: &Region) {
        if self.is_open {
            Segment::new(region, self.number).set_usage(SegmentState::Open(self.stream));
        }
    }

    /// Hands its segment over to the cleaner. Gives how many bytes it got.
    pub(crate) fn close(&mut self, region: &Region) -> u64 {
        if std::mem::take(&mut self.is_open) {
            Segment::new(region, self.number).set_usage(SegmentState::Closed(self.stream));
        }
        std::mem::take(&mut self.used)
    }

    /// Where the next record goes. Whoever sees a byte of it sees that the generation has changed
    /// (`Segment::begin`).
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        fence(Release);
        self.start + self.used
    }

    /// Counts the record that was written where the next one goes, and fits: from here on it may be named.
    #[inline]
    pub(crate) fn commit(&mut self, region: &Region, record: Record, expiry: Option<u64>) {
        let segment = Segment::new(region, self.number);
        let tables = self.tables | 1 << (record.header.table() % 64);
        if tables != self.tables {
            self.tables = tables;
            segment.set_tables(tables);
        }
        self.used += record.size;
        for line in LINES_AHEAD {
            region.prefetch(self.start + self.used + line * BUCKET);
        }
        let note = || {
            if let Some(expiry) = expiry {
                segment.note_expiry(expiry, len_with_parts(region, record));
            }
        };
        let is_early = Flaw::NotedEarly.is_planted();
        if is_early {
            note();
        }
        segment.set_used(self.used);
        // Not before: whoever walks over the segment finds the record, or leaves the note.
        if !is_early {
            note();
        }
    }
}
