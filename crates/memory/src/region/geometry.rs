//! Where everything lies in a region: sizes chosen once, when it is made.
//!
//! ```text
//! | superblock 4 KiB | entries 16 B/segment | usage table 128 B/segment | directory | directory | counters 65 MiB | segment 0 | segment 1 | …
//! ```
//!
//! All tables are as large as the largest region this one may ever become (`segments_max`); pages nobody
//! touched cost nothing. Addresses are byte offsets from the start of the region.

use hammerspace_error::{Error, Kind, Result};

/// Bytes of a word, the unit in which everything is read and written.
pub(crate) const WORD: u64 = 8;
/// Bytes of a bucket: a header and [`SLOTS`] slots, one line of the processor's cache.
pub(crate) const BUCKET: u64 = 64;
/// Slots of a bucket.
pub(crate) const SLOTS: u64 = 7;
/// Bytes of the superblock.
pub(crate) const SUPERBLOCK: u64 = 4096;
/// Bytes of a segment's entry: its generation and its expiry, which readers load.
pub(crate) const SEGMENT_ENTRY: u64 = 2 * WORD;
/// Bytes of a segment's usage table entry, for its owner alone: a line that changes with its records, and one
/// that changes with its memory.
pub(crate) const USAGE_ENTRY: u64 = 128;
/// Tables whose counters lie side by side, and have memory together.
pub(crate) const TABLES_PER_BLOCK: u64 = 256;
/// Rows of counters: one for each of so many writers, and one for all others.
pub(crate) const COUNTER_ROWS: u64 = 65;
/// Bytes of a table's counters in one row: keys and bytes.
pub(crate) const COUNTER: u64 = 2 * WORD;
/// Bytes of one row of a block: a page, which no other writer writes to.
const COUNTER_ROW: u64 = TABLES_PER_BLOCK * COUNTER;
/// Bytes of the counters of a block of tables.
pub(crate) const COUNTER_BLOCK: u64 = COUNTER_ROWS * COUNTER_ROW;
/// Blocks of counters. Tests have counters for few tables, since under a scheduler a region's words are all
/// written when it is made.
pub(crate) const COUNTER_BLOCKS: u64 = if cfg!(test) { 1 } else { (1 << 16) / TABLES_PER_BLOCK };
/// A slot's location has 37 bits, in words.
const REGION_LEN_MAX: u64 = 1 << 40;
/// A slot's tag has 22 bits, and the directory may use no more of the hash than it has.
const DEPTH_MAX: u32 = 22;

/// The sizes of a region, and with them the place of everything in it. Sizes are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a segment, what memory is given out and cleaned by.
    pub segment_size: u64,
    /// Segments there can ever be; the limit in force may be lower, and be raised up to this.
    pub segments_max: u64,
    /// Buckets of an index page, what the index grows by.
    pub buckets: u64,
}

impl Geometry {
    /// The geometry for a region that holds `limit` bytes now and may be raised to sixteen times as many, 64
    /// GiB at least and 1 GiB less than a slot can name at most.
    pub fn for_limit(limit: u64) -> Self {
        let segment_size = (limit / 1024).next_power_of_two().clamp(256 << 10, 2 << 20);
        let len_max = limit.saturating_mul(16).clamp(64 << 30, REGION_LEN_MAX - (1 << 30));
        Self { segment_size, segments_max: len_max / segment_size, buckets: 1024 }
    }

    /// Refuses what no region of ours has.
    pub(crate) fn check(self) -> Result<Self> {
        let sizes = [self.segment_size, self.buckets];
        let is_sound = sizes.iter().all(|size| size.is_power_of_two())
            && (1..=1 << 15).contains(&self.buckets)
            && (self.index_page_size()..=1 << 30).contains(&self.segment_size)
            && (1..=REGION_LEN_MAX / self.segment_size).contains(&self.segments_max)
            && self.region_len() <= REGION_LEN_MAX;
        if is_sound { Ok(self) } else { Err(Error::new(Kind::Corrupt, format!("no region has these sizes: {self:?}"))) }
    }

    /// Bytes of an index page.
    fn index_page_size(self) -> u64 {
        self.buckets * BUCKET
    }

    /// Bytes of the region at its largest: the address space that owner and readers reserve.
    pub fn region_len(self) -> u64 {
        Layout::of(self).region_len()
    }
}

/// The places that follow from a geometry, worked out once: lookups need them all the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) segment_size: u64,
    pub(crate) segments_max: u64,
    pub(crate) index_page_size: u64,
    /// The number of buckets of a page, less one.
    pub(crate) bucket_mask: u64,
    /// Bits of the hash that the directory can use.
    pub(crate) depth_max: u32,
    segment_shift: u32,
    piece_shift: u32,
    usage: u64,
    directories: [u64; 2],
    counters: u64,
    segments: u64,
}

impl Layout {
    pub(crate) fn of(geometry: Geometry) -> Self {
        let Geometry { segment_size, segments_max, buckets } = geometry;
        let pages = segments_max * (segment_size / geometry.index_page_size());
        let depth_max = (pages.max(1).ilog2() + 3).min(DEPTH_MAX);
        let usage = Self::generation(segments_max).next_multiple_of(USAGE_ENTRY);
        let directory = usage + segments_max * USAGE_ENTRY;
        let directory_size = WORD << depth_max;
        let counters = (directory + 2 * directory_size).next_multiple_of(COUNTER_ROW);
        Self {
            segment_size,
            segments_max,
            index_page_size: geometry.index_page_size(),
            bucket_mask: buckets - 1,
            depth_max,
            segment_shift: segment_size.ilog2(),
            piece_shift: geometry.index_page_size().ilog2(),
            usage,
            directories: [directory, directory + directory_size],
            counters,
            segments: (counters + COUNTER_BLOCKS * COUNTER_BLOCK).next_multiple_of(segment_size),
        }
    }

    /// Bytes that stand before so many segments at most: superblock, entries, usage table, directories of as
    /// many pages as they may hold, and the counters of the first tables.
    pub(crate) fn tables_len(&self, segments: u64) -> u64 {
        // Each of these begins and ends within a page.
        const ROUNDED: u64 = 6 * 2 * (4 << 10);
        let pages = segments * (self.segment_size / self.index_page_size);
        let directories = 2 * WORD * pages.next_power_of_two();
        SUPERBLOCK + segments * (SEGMENT_ENTRY + USAGE_ENTRY) + directories + COUNTER_BLOCK + ROUNDED
    }

    /// Buckets of a page.
    pub(crate) fn buckets(&self) -> u64 {
        self.bucket_mask + 1
    }

    /// Where a segment's generation is: where no geometry has a say, which spares lookups a load.
    #[inline]
    pub(crate) const fn generation(segment: u64) -> u64 {
        SUPERBLOCK + segment * SEGMENT_ENTRY
    }

    /// Where a segment's expiry is.
    pub(crate) const fn expiry(segment: u64) -> u64 {
        Self::generation(segment) + WORD
    }

    #[inline]
    pub(crate) fn usage(&self, segment: u64) -> u64 {
        self.usage + segment * USAGE_ENTRY
    }

    /// Entry `index` of one of the two directories.
    #[inline]
    pub(crate) fn directory(&self, which: u64, index: u64) -> u64 {
        self.directories[(which & 1) as usize] + index * WORD
    }

    /// Where the counters of a block of tables begin.
    pub(crate) fn counter_block(&self, block: u64) -> u64 {
        self.counters + block * COUNTER_BLOCK
    }

    /// The counters of a table in one row.
    #[inline]
    pub(crate) fn counter(&self, row: u64, table: u16) -> u64 {
        let (block, within) = (u64::from(table) / TABLES_PER_BLOCK, u64::from(table) % TABLES_PER_BLOCK);
        self.counter_block(block) + row * COUNTER_ROW + within * COUNTER
    }

    /// Where a segment starts.
    #[inline]
    pub(crate) fn segment(&self, segment: u64) -> u64 {
        self.segments + (segment << self.segment_shift)
    }

    /// Which segment an address lies in, if it lies behind the tables: that segment may be none.
    #[inline]
    pub(crate) fn segment_at(&self, address: u64) -> Option<u64> {
        Some(address.checked_sub(self.segments)? >> self.segment_shift)
    }

    /// The segment that an address lies in, if it lies in one that there may ever be.
    #[inline]
    pub(crate) fn segment_of(&self, address: u64) -> Option<u64> {
        self.segment_at(address).filter(|segment| *segment < self.segments_max)
    }

    /// Whether `len` bytes from `address` on lie in one segment.
    #[inline]
    pub(crate) fn holds(&self, address: u64, len: u64) -> bool {
        self.segment_of(address).is_some() && (address & (self.segment_size - 1)) + len <= self.segment_size
    }

    /// Where a page starts, by its number.
    #[inline]
    pub(crate) fn index_page(&self, number: u64) -> u64 {
        number << self.piece_shift
    }

    pub(crate) fn index_page_number(&self, address: u64) -> u64 {
        address >> self.piece_shift
    }

    pub(crate) fn index_pages_per_segment(&self) -> u64 {
        self.segment_size >> self.piece_shift
    }

    /// Bytes of the region at its largest.
    pub(crate) fn region_len(&self) -> u64 {
        self.segment(self.segments_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other_and_segments_are_aligned() {
        for limit in [1 << 20, 64 << 20, 5 << 30, 1 << 40] {
            let geometry = Geometry::for_limit(limit).check().unwrap();
            let layout = Layout::of(geometry);
            assert!(
                layout.region_len() <= REGION_LEN_MAX && geometry.segments_max * geometry.segment_size >= limit / 2
            );
            assert!(layout.usage(0) >= Layout::generation(geometry.segments_max));
            assert!(layout.directory(0, 0) >= layout.usage(geometry.segments_max));
            assert!(layout.directory(1, 0) >= layout.directory(0, 1 << layout.depth_max));
            assert!(layout.counter(0, 0) >= layout.directory(1, 1 << layout.depth_max));
            let last_table = (COUNTER_BLOCKS * TABLES_PER_BLOCK - 1) as u16;
            assert!(layout.segment(0) >= layout.counter(COUNTER_ROWS - 1, last_table) + COUNTER);
            assert_eq!(layout.segment(3) % geometry.segment_size, 0);
            let address = layout.segment(3) + geometry.segment_size - 8;
            assert_eq!((layout.segment_of(address), layout.segment_of(address + 8)), (Some(3), Some(4)));
            assert!(layout.holds(address, 8) && !layout.holds(address, 16) && !layout.holds(4096, 8));
            assert_eq!((layout.segment_of(4096), layout.segment_of(layout.region_len())), (None, None));
            assert_eq!(
                layout.index_page(layout.index_page_number(address)) / geometry.index_page_size(),
                address / geometry.index_page_size()
            );
        }
    }

    #[test]
    fn sizes_no_region_has_are_refused() {
        let good = Geometry::for_limit(1 << 30);
        for bad in [
            Geometry { segment_size: 3 << 20, ..good },
            Geometry { segment_size: 1 << 12, ..good },
            Geometry { buckets: 0, ..good },
            Geometry { segments_max: 0, ..good },
            Geometry { segments_max: u64::MAX, ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().kind(), Kind::Corrupt, "{bad:?}");
        }
    }
}
