//! The benches `store-…`: log-structured memory. What programs do with a store is measured by its face ([`Stand`](stand::Stand)), what
//! the cleaner makes of it one floor below, where it can be asked.

mod allocation;
mod bigmem;
mod cleaner;
mod day;
mod events;
mod growth;
mod loss;
mod points;
mod stand;
mod windows;

use std::path::Path;

use hammerspace_memory::{Geometry, Memory, Options, TableId};

use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

/// `bench store-bigmem`: events appended to values whose final content is known.
pub(crate) fn bigmem(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    bigmem::rows(scale)
}

/// `bench store-day`: the same at its largest, in little more memory than it takes.
pub(crate) fn day(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    day::rows(scale)
}

/// `bench store-growth`: an index that doubles.
pub(crate) fn growth(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    growth::rows(scale)
}

/// `bench store-cleaner`: the real cleaner beside the simulated one.
pub(crate) fn cleaner(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    cleaner::rows(scale)
}

/// `bench store-allocation`: memory taken by workloads whose sizes change.
pub(crate) fn allocation(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    allocation::rows(scale)
}

/// `bench store-loss`: what fullness costs writers.
pub(crate) fn loss(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    loss::rows(scale)
}

/// `bench store-points`: one operation after the other.
pub(crate) fn points(scale: &Scale, _: &Path) -> Result<Vec<Row>> {
    points::rows(scale)
}

/// Options for so much live data; for little of it segments are small, so that there are many all the same.
fn options(scale: &Scale, limit: u64) -> Options {
    let small = Geometry { segment_size: 16 << 10, segments_max: 1 << 14, buckets: 128 };
    Options { geometry: (!scale.is_full()).then_some(small), ..Options::with_limit(limit) }
}

const TABLE: TableId = TableId { number: 1, is_versioned: false };

/// A store in shared memory that is gone when it is dropped.
struct Scratch {
    memory: Memory,
    _directory: tempfile::TempDir,
}

impl Scratch {
    fn create(options: &Options) -> Result<Self> {
        let directory = tempfile::tempdir_in("/dev/shm")?;
        let options = Options { region: Some(directory.path().to_path_buf()), ..options.clone() };
        Ok(Self { memory: Memory::create(directory.path().join("store"), &options)?, _directory: directory })
    }
}

/// As a number to divide.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}
