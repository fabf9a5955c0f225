//! What of a region has memory, so that nothing else is ever touched.
//!
//! A region's file is as long as the region may ever become, and most of it has no memory. On a full file
//! system a touch of such a page ends the process (SIGBUS), also where it only reads. So no address in the
//! region is followed before one of these says that its page has memory:
//!
//! 1. **Tables**: the kernel. `populate_read` touches the pages and answers with an error instead of a
//!    signal. A process asks once for the entries and the segment usage table of `LIMIT` segments, again
//!    after the limit was raised, and once for each directory and each block of counters.
//! 2. **A whole segment**: its entry, of which the tables have memory. A segment has its memory before its
//!    first use begins, and from then on its generation is not 0.
//! 3. **An index segment that gets its memory page by page**: `backed` in its usage table. Its generation
//!    stays 0 until it has all of it, and so it holds no records.
//!
//! What the kernel has answered is kept beside the region, in the process: damage does not reach it there.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::index::directory::Root;
use crate::region::geometry::{COUNTER_BLOCK, COUNTER_BLOCKS, Layout, SEGMENT_ENTRY, USAGE_ENTRY, WORD};
use crate::region::segment::Segment;
use crate::region::{LIMIT, ROOT, Region, SEGMENTS_FRESH};

/// In place of a root, until there is one: no root has these bits.
const NO_ROOT: u64 = u64::MAX;

/// What a process knows to have memory.
pub(crate) struct Backed {
    /// Segments whose entry and usage table entry do.
    tables: AtomicU64,
    /// Segments that may be in use: no more than there are tables for.
    segments: AtomicU64,
    /// The last root whose directory does.
    root: AtomicU64,
    /// One bit for each block of counters.
    counters: [AtomicU64; COUNTER_BLOCKS.div_ceil(64) as usize],
}

impl Backed {
    /// Nothing but the superblock.
    pub(crate) fn new() -> Self {
        Self {
            tables: AtomicU64::new(0),
            segments: AtomicU64::new(0),
            root: AtomicU64::new(NO_ROOT),
            counters: [const { AtomicU64::new(0) }; COUNTER_BLOCKS.div_ceil(64) as usize],
        }
    }
}

impl Region {
    /// The segments that are or were in use. Each has an entry and a usage table entry.
    pub(crate) fn segments(&self) -> u64 {
        let limit = self.limit();
        // No less than before, so that what damage does to a word hides nothing from a process that read it
        // before.
        let segments = self.load(SEGMENTS_FRESH).min(limit);
        self.backed.segments.fetch_max(segments, Relaxed).max(segments)
    }

    /// The segments that may be in use, by the limit in force: no more than there are tables for.
    pub(crate) fn limit(&self) -> u64 {
        let limit = self.load(LIMIT).min(self.layout.segments_max);
        if limit > self.backed.tables.load(Acquire) && self.has_tables(limit) {
            self.backed.tables.fetch_max(limit, Release);
        }
        limit.min(self.backed.tables.load(Acquire))
    }

    /// Whether the tables of so many segments have memory, by the kernel.
    #[cold]
    fn has_tables(&self, segments: u64) -> bool {
        self.words.populate_read(Layout::generation(0), segments * SEGMENT_ENTRY)
            && self.words.populate_read(self.layout.usage(0), segments * USAGE_ENTRY)
    }

    /// The segment in use that an address lies in, if it lies in one.
    #[inline]
    pub(crate) fn segment_of(&self, address: u64) -> Option<u64> {
        let segment = self.layout.segment_at(address)?;
        (segment < self.backed.segments.load(Relaxed) || segment < self.segments_now()).then_some(segment)
    }

    #[cold]
    fn segments_now(&self) -> u64 {
        self.segments()
    }

    /// Whether an index page lies where there is memory.
    #[inline]
    pub(crate) fn has_page(&self, page: u64) -> bool {
        let Some(segment) = self.segment_of(page) else { return false };
        self.word(Layout::generation(segment)).load(Relaxed) != 0 || self.has_page_in(segment, page)
    }

    /// The same in a segment that gets its memory page by page.
    #[cold]
    fn has_page_in(&self, segment: u64, page: u64) -> bool {
        let segment = Segment::new(self, segment);
        page - segment.start() + self.layout.index_page_size <= segment.backed().min(self.layout.segment_size)
    }

    /// The root; where that cannot be one, the last that could.
    #[inline]
    pub(crate) fn root(&self) -> Root {
        let root = self.load(ROOT);
        Root(if root == self.backed.root.load(Relaxed) { root } else { self.other_root(root) })
    }

    /// The root that this word is, if its directory has memory; else the last one that was.
    #[cold]
    fn other_root(&self, word: u64) -> u64 {
        let root = Root(word);
        if root.can_be(self) && self.words.populate_read(root.address(self, 0), WORD << root.depth()) {
            self.backed.root.store(word, Relaxed);
        }
        self.backed.root.load(Relaxed)
    }

    /// Whether the counters of a block have memory.
    pub(crate) fn has_counters_of(&self, block: u64) -> bool {
        let (known, bit) = (&self.backed.counters[(block / 64) as usize], 1 << (block % 64));
        if known.load(Relaxed) & bit == 0 {
            if !self.words.populate_read(self.layout.counter_block(block), COUNTER_BLOCK) {
                return false;
            }
            known.fetch_or(bit, Relaxed);
        }
        true
    }
}
