//! What a store is made and opened with.

use std::path::PathBuf;

use crate::geometry::Geometry;

/// What a store is made and opened with. Only the limit is the user's to choose; the rest has defaults that fit.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of memory that segments and index may take together. Asked for when a store is made.
    pub limit: u64,
    /// The directory that the region's file is made in; `/dev/shm` where nothing is said.
    pub region: Option<PathBuf>,
    /// Who may open the region's file, as `chmod` says it; less the umask.
    pub mode: u32,
    /// Threads that clean. Without any, writers do it when they need room.
    pub cleaners: usize,
    /// Threads that can write without waiting for each other.
    pub writers: usize,
    /// The sizes of the region, for tests; otherwise they follow from the limit.
    pub geometry: Option<Geometry>,
    /// The seed of hashes, for tests; otherwise it is random.
    pub seed: Option<u64>,
}

impl Options {
    /// Everything by default, and this limit.
    pub fn with_limit(limit: u64) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            limit,
            region: None,
            mode: 0o600,
            cleaners: cores.div_ceil(4),
            writers: cores.min(16),
            geometry: None,
            seed: None,
        }
    }
}
