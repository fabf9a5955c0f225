//! What the tests of modules begin with: a small store that nobody cleans unasked and one thread at a time
//! writes to, the same in every run.

use crate::options::Options;
use crate::region::geometry::{Geometry, Layout};
use crate::region::{LIMIT, Region, SEGMENTS_FRESH};
use crate::sound::Memory;
use crate::sync::Words;
use crate::write::update::TableId;

pub(crate) const TABLE: TableId = TableId { number: 1, is_versioned: false };

/// A store of so many segments of so many bytes.
pub(crate) fn small(segments: u64, segment_size: u64) -> Memory {
    Memory::anonymous(&options(segments, segment_size)).unwrap()
}

/// What it is made with.
pub(crate) fn options(segments: u64, segment_size: u64) -> Options {
    let geometry = Geometry { segment_size, segments_max: segments, buckets: 4 };
    let limit = segments * segment_size;
    Options { geometry: Some(geometry), cleaners: 0, writers: 1, seed: Some(1), ..Options::with_limit(limit) }
}

/// A region whose segments are all in their first use.
pub(crate) fn region(geometry: Geometry) -> Region {
    let region = Region::create(Words::zeros(geometry.region_len()).unwrap(), geometry, 7, 9, 4096).unwrap();
    region.store(LIMIT, geometry.segments_max);
    region.store(SEGMENTS_FRESH, geometry.segments_max);
    (0..geometry.segments_max).for_each(|segment| region.store(Layout::generation(segment), 1));
    region
}
