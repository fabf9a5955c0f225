//! Segments: what each is used for, and what its owner counts about it.
//!
//! ```text
//! entry, for readers:       | generation 8 B | expiry 8 B |
//! usage table entry, first line: | use 8 B | used 8 B | dead 8 B | created 8 B | tables 8 B | expiring 8 B | first 8 B | last 8 B |
//!              second line: | backed 8 B | 0 … |
//! ```
//!
//! - A log segment's records lie back to back from its start up to `used`; nothing beyond is ever parsed,
//!   since a former use leaves plausible bytes there. A head advances `used` after it has written a record
//!   and before anything names it. Among them a record may take the place of a dead one as long as itself
//!   (`holes.rs`).
//! - `tables` has the bit of each table that a record here is of: whoever forgets a table looks nowhere else.
//!   It is set before anything names the record, and it stays until the segment begins a new use.
//! - `backed` is how many bytes from the segment's start have memory. A segment whose generation is not 0 has
//!   all of it; an index segment that gets its memory page by page keeps generation 0 until then
//!   (`backed.rs`).
//! - `dead`, `expiring`, `first` and `last` are hints: a wrong one costs time or memory, never correctness.
//! - Only the owner reads and writes the segment usage table. Readers know segments by their entry alone.

use crate::index::bucket::Patience;
use crate::record::Record;
use crate::record::header::Header;
use crate::region::Region;
use crate::region::geometry::{Layout, WORD};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU64, fence};
use crate::testing::flaw::Flaw;

/// What a segment is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SegmentState {
    /// Nothing; its bytes mean nothing.
    Free,
    /// Pieces of the index.
    Index,
    /// A head is writing records to it.
    Open(Stream),
    /// Full of records; the cleaner may have it.
    Closed(Stream),
    /// A cleaner is moving its records, or has left it alone for damage.
    Cleaning(Stream),
    /// Somebody fills a hole in it (`holes.rs`), and will close it in a moment.
    Filling(Stream),
    /// Records of a batch that is being written: no slot names them before it is committed.
    Batch(Stream),
    /// Changes that the log has not synced. This build has no log, and owns no region that has one.
    Tail(Stream),
}

/// Who writes to a segment, and so how long its records are expected to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream(pub(crate) u8);

impl Stream {
    /// What a user writes over a version that did not live long.
    pub(crate) const SHORT: Self = Self(0);
    /// What a user writes otherwise.
    pub(crate) const LONG: Self = Self(1);
    /// What users write.
    pub(crate) const OF_USERS: [Self; 2] = [Self::SHORT, Self::LONG];
    /// Survivors of short-lived segments, then those of other segments, by their age.
    pub(crate) const SURVIVORS: [Self; 4] = [Self(2), Self(3), Self(4), Self(5)];

    /// Whether users write to its segments, and not cleaners.
    pub(crate) fn is_of_users(self) -> bool {
        Self::OF_USERS.contains(&self)
    }
}

impl SegmentState {
    fn word(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Index => 1,
            Self::Open(Stream(stream)) => 2 | u64::from(stream) << 8,
            Self::Closed(Stream(stream)) => 3 | u64::from(stream) << 8,
            Self::Cleaning(Stream(stream)) => 4 | u64::from(stream) << 8,
            Self::Filling(Stream(stream)) => 5 | u64::from(stream) << 8,
            Self::Batch(Stream(stream)) => 6 | u64::from(stream) << 8,
            Self::Tail(Stream(stream)) => 7 | u64::from(stream) << 8,
        }
    }

    fn of(word: u64) -> Self {
        let stream = Stream((word >> 8) as u8);
        match word as u8 {
            1 => Self::Index,
            2 => Self::Open(stream),
            3 => Self::Closed(stream),
            4 => Self::Cleaning(stream),
            5 => Self::Filling(stream),
            6 => Self::Batch(stream),
            7 => Self::Tail(stream),
            _ => Self::Free,
        }
    }

    /// Whether an owner finds it in a usage table: another word would be taken for a use that it never
    /// becomes again.
    fn can_be(word: u64) -> bool {
        let stream = (word >> 8) as u8;
        let is_known = Self::of(word).word() == word && !matches!(Self::of(word), Self::Tail(_));
        is_known && u64::from(stream) <= u64::from(Stream::SURVIVORS[3].0)
    }
}

/// Where a generation says when a hole of the segment was filled last; below it counts uses.
const REFILL_SHIFT: u32 = 32;

/// The use that a generation stands for.
pub(crate) fn state_of(generation: u64) -> u32 {
    generation as u32
}

/// One segment of a region.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'r> {
    region: &'r Region,
    pub(crate) number: u64,
    usage: u64,
}

impl<'r> Segment<'r> {
    pub(crate) fn new(region: &'r Region, number: u64) -> Self {
        debug_assert!(number < region.layout.segments_max);
        Self { region, number, usage: region.layout.usage(number) }
    }

    /// Those that are or were in use, in order.
    pub(crate) fn all(region: &'r Region) -> impl Iterator<Item = Self> {
        (0..region.segments()).map(|number| Self::new(region, number))
    }

    /// The segment that an address lies in. `None` is what damage makes of an address.
    pub(crate) fn of(region: &'r Region, address: u64) -> Option<Self> {
        region.segment_of(address).map(|number| Self::new(region, number))
    }

    pub(crate) fn start(self) -> u64 {
        self.region.layout.segment(self.number)
    }

    pub(crate) fn state(self) -> SegmentState {
        SegmentState::of(self.region.load(self.usage))
    }

    /// What an owner could not go by, if its usage table says anything of that kind.
    pub(crate) fn fault(self) -> Option<String> {
        let (usage, used) = (self.region.load(self.usage), self.used());
        if !SegmentState::can_be(usage) {
            return Some(format!("segment {} has use {usage:#x}, which there is not", self.number));
        }
        let unit =
            if SegmentState::of(usage) == SegmentState::Index { self.region.layout.index_page_size } else { WORD };
        let is_possible = used <= self.region.layout.segment_size && used.is_multiple_of(unit);
        if !is_possible || self.backed() > self.region.layout.segment_size {
            return Some(format!("segment {} counts {used} bytes, and {} with memory", self.number, self.backed()));
        }
        let has_memory = match SegmentState::of(usage) {
            SegmentState::Free => true,
            SegmentState::Index => !self.is_unused() || used <= self.backed(),
            _ => !self.is_unused(),
        };
        (!has_memory).then(|| format!("segment {} has use {usage:#x}, and was never given memory for it", self.number))
    }

    pub(crate) fn set_usage(self, usage: SegmentState) {
        self.region.store(self.usage, usage.word());
    }

    /// The stream it is of, if it is closed.
    pub(crate) fn closed(self) -> Option<Stream> {
        if let SegmentState::Closed(stream) = self.state() { Some(stream) } else { None }
    }

    /// Whether it is full of records that a cleaner may have, at once or in a moment.
    pub(crate) fn is_full(self) -> bool {
        matches!(self.state(), SegmentState::Closed(_) | SegmentState::Filling(_))
    }

    /// Takes a segment for cleaning if it is closed, unless another cleaner did. Gives the stream it is of.
    /// Who has it sees all that was written to it before it was closed.
    pub(crate) fn claim(self) -> Option<Stream> {
        let mut patience = Patience::new();
        while self.is_full() {
            if let Some(stream) = self.claim_for(SegmentState::Cleaning) {
                return Some(stream);
            }
            if !patience.wait() {
                self.leave_alone();
            }
        }
        None
    }

    /// Nobody fills a hole for so long: damage has made it look so.
    #[cold]
    fn leave_alone(self) {
        let word = self.region.word(self.usage);
        let seen = word.load(Relaxed);
        if let SegmentState::Filling(stream) = SegmentState::of(seen) {
            word.compare_exchange(seen, SegmentState::Cleaning(stream).word(), Relaxed, Relaxed).ok();
        }
    }

    /// The same to fill a hole of it, unless anybody else has it.
    pub(crate) fn claim_to_fill(self) -> Option<Stream> {
        self.claim_for(SegmentState::Filling)
    }

    fn claim_for(self, wanted: fn(Stream) -> SegmentState) -> Option<Stream> {
        let word = self.region.word(self.usage);
        let seen = word.load(Relaxed);
        let SegmentState::Closed(stream) = SegmentState::of(seen) else { return None };
        word.compare_exchange(seen, wanted(stream).word(), Acquire, Relaxed).is_ok().then_some(stream)
    }

    /// Bytes of records.
    pub(crate) fn used(self) -> u64 {
        self.region.load(self.usage + WORD)
    }

    pub(crate) fn set_used(self, used: u64) {
        self.region.store(self.usage + WORD, used);
    }

    /// Bytes behind the records.
    pub(crate) fn tail(self) -> u64 {
        self.region.layout.segment_size.saturating_sub(self.used())
    }

    /// Bytes of records that nothing names any more.
    pub(crate) fn dead(self) -> u64 {
        self.region.word(self.usage + 2 * WORD).load(Relaxed)
    }

    /// Counts a record as dead, wherever it lies.
    pub(crate) fn bury_record(region: &'r Region, record: Record) {
        if let Some(segment) = Self::of(region, record.address) {
            segment.mark_dead(record.size);
        }
    }

    pub(crate) fn mark_dead(self, bytes: u64) {
        self.region.word(self.usage + 2 * WORD).fetch_add(bytes, Relaxed);
    }

    pub(crate) fn live(self) -> u64 {
        self.used().min(self.region.layout.segment_size).saturating_sub(self.dead())
    }

    /// When it was opened, by the region's clock.
    pub(crate) fn created(self) -> u64 {
        self.region.word(self.usage + 3 * WORD).load(Relaxed)
    }

    /// One bit for each table modulo 64 that has records here.
    pub(crate) fn tables(self) -> u64 {
        self.region.word(self.usage + 4 * WORD).load(Relaxed)
    }

    pub(crate) fn set_tables(self, tables: u64) {
        self.region.word(self.usage + 4 * WORD).store(tables, Relaxed);
    }

    /// What it says of expiries (`expiries.rs`).
    pub(crate) fn expiry_words(self) -> [&'r AtomicU64; 3] {
        [5, 6, 7].map(|word| self.region.word(self.usage + word * WORD))
    }

    /// Bytes from its start on that have memory.
    pub(crate) fn backed(self) -> u64 {
        self.region.load(self.usage + 8 * WORD)
    }

    pub(crate) fn set_backed(self, bytes: u64) {
        self.region.store(self.usage + 8 * WORD, bytes);
    }

    /// Lets readers see nothing in it from then on; 0: never.
    #[cfg(test)]
    pub(crate) fn set_expiry(self, expiry: u64) {
        self.region.store(Layout::expiry(self.number), expiry);
    }

    /// Whether it has never been used.
    pub(crate) fn is_unused(self) -> bool {
        self.region.load(Layout::generation(self.number)) == 0
    }

    fn generation(self) -> &'r AtomicU64 {
        self.region.word(Layout::generation(self.number))
    }

    /// Tells its uses from each other.
    pub(crate) fn use_number(self) -> u32 {
        state_of(self.generation().load(Relaxed))
    }

    /// The epoch in which a hole of it was filled the last time.
    pub(crate) fn last_refill(self) -> u32 {
        (self.generation().load(Relaxed) >> REFILL_SHIFT) as u32
    }

    /// Whether this epoch comes after that one: no generation comes again, whoever was slow.
    pub(crate) fn may_be_refilled(self, epoch: u32) -> bool {
        epoch.wrapping_sub(self.last_refill()).cast_signed() > 0
    }

    /// Lets a record that `header` begins take the place of a dead one of its size, in a segment that was
    /// claimed for it and may be refilled: from here on its bytes may change.
    ///
    /// For readers as in [`begin`](Self::begin): they may still be in the dead one, and whoever sees the
    /// generation sees the slot that had to change before. It is counted as live first: who dies over it has
    /// counted too little as dead, never too much.
    pub(crate) fn refill(self, header: Header, size: u64, epoch: u32) {
        debug_assert!(self.may_be_refilled(epoch) || Flaw::NotClaimed.is_planted());
        self.mark_dead(size.wrapping_neg());
        self.set_tables(self.tables() | 1 << (header.table() % 64));
        if !Flaw::NotRenewed.is_planted() {
            let generation = u64::from(epoch) << REFILL_SHIFT | u64::from(self.use_number());
            self.generation().store(generation, Release);
        }
        fence(Release);
    }

    /// Begins the first use of a segment, for index pages that get their memory one by one. Its generation
    /// stays 0.
    pub(crate) fn begin_pages(self) {
        self.reset(0);
        self.set_usage(SegmentState::Index);
    }

    /// Says that a segment has all its memory, which was begun with none.
    pub(crate) fn end_pages(self) {
        self.generation().store(1, Release);
    }

    /// Begins a new use of a free segment: from here on its bytes may change.
    ///
    /// The generation changes first. A reader that still has an address in the former use finds it changed
    /// when it looks again, if it has seen a single new byte: that is what the two fences are for, the head's
    /// and the reader's. The head's and not one of ours, since the thread that writes need not be the one
    /// that began.
    pub(crate) fn begin(self, usage: SegmentState, clock: u64) {
        let generation = self.generation();
        // Released: who sees it sees the slots too that had to change before the segment could become free.
        generation.store(generation.load(Relaxed).wrapping_add(1), Release);
        self.reset(clock);
        self.set_usage(usage);
    }

    /// Counts nothing in it yet.
    fn reset(self, clock: u64) {
        for (word, value) in [(1, 0), (2, 0), (3, clock), (4, 0), (5, 0), (6, u64::MAX), (7, 0)] {
            self.region.word(self.usage + word * WORD).store(value, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use hammerspace_testkit::page;

    use super::*;
    use crate::region::geometry::{Geometry, SEGMENT_ENTRY};
    use crate::sync::Words;

    const PAGE: &str = include_str!("../../../../docs/format/region.md");

    #[test]
    fn an_entry_is_what_its_page_says() {
        let geometry = Geometry { segment_size: 4096, segments_max: 4, buckets: 4 };
        let words = Words::zeros(geometry.region_len()).unwrap();
        let region = Region::create(words, geometry, 7, 9, 4096).unwrap();
        let segment = Segment::new(&region, 2);
        let listed = page::fields(PAGE, "Segment usage");
        for field in &listed {
            region.store(segment.usage + field.offset as u64, field.offset as u64 + 1);
        }
        let at = |name: &str| listed.iter().find(|field| field.name == name).unwrap().offset as u64 + 1;
        let expiry_words = segment.expiry_words().map(|word| word.load(Relaxed));
        assert_eq!(expiry_words, ["expiring", "first", "last"].map(at));
        let others = [segment.used(), segment.dead(), segment.created(), segment.tables(), segment.backed()];
        assert_eq!(others, ["used", "dead", "created", "tables", "backed"].map(at));
        assert_eq!((segment.state(), listed.len()), (SegmentState::of(at("use")), 10));
        let end = listed.last().map(|field| field.offset + field.size).unwrap();
        assert_eq!(region.layout.usage(3) - region.layout.usage(2), end as u64);
        let entry: Vec<_> =
            page::fields(PAGE, "Segment entries").into_iter().map(|field| (field.name, field.offset as u64)).collect();
        let start = Layout::generation(2);
        assert_eq!(entry, [("generation", 0), ("expiry", Layout::expiry(2) - start)]);
        assert_eq!(Layout::generation(3) - start, SEGMENT_ENTRY);
    }

    #[test]
    fn states_are_those_of_their_page() {
        let states = [
            ("free", SegmentState::Free),
            ("index", SegmentState::Index),
            ("open", SegmentState::Open(Stream::SHORT)),
            ("closed", SegmentState::Closed(Stream::SHORT)),
            ("cleaning", SegmentState::Cleaning(Stream::SHORT)),
            ("filling", SegmentState::Filling(Stream::SHORT)),
            ("batch", SegmentState::Batch(Stream::SHORT)),
            ("tail", SegmentState::Tail(Stream::SHORT)),
        ];
        let listed: Vec<_> = page::rows(PAGE, "Segment states").into_iter().map(|row| (row[1], row[0])).collect();
        let codes = states.map(|(name, usage)| (name, usage.word().to_string()));
        assert!(listed.iter().copied().eq(codes.iter().map(|(name, code)| (*name, &code[..]))), "{listed:?}");
        assert!(states.iter().all(|(_, usage)| SegmentState::of(usage.word()) == *usage));
    }

    #[test]
    fn a_use_that_there_is_not_is_found() {
        for usage in [
            SegmentState::Free,
            SegmentState::Index,
            SegmentState::Open(Stream::SHORT),
            SegmentState::Closed(Stream(5)),
            SegmentState::Cleaning(Stream(1)),
            SegmentState::Filling(Stream(2)),
            SegmentState::Batch(Stream::LONG),
        ] {
            assert!(SegmentState::can_be(usage.word()) && SegmentState::of(usage.word()) == usage);
        }
        for word in [7, 8, 1 << 8, 1 | 1 << 8, 3 | 6 << 8, 3 | 1 << 16, 2 | 1 << 63, u64::MAX] {
            assert!(!SegmentState::can_be(word), "{word:#x}");
        }
    }
}
