//! What a store is made and opened with.

use std::path::PathBuf;
use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::budget::Budget;
use crate::alloc::holes::LEAST;
use crate::alloc::pool::Pool;
use crate::region::geometry::{Geometry, Layout};
use crate::region::{LIMIT, Region};
use crate::write::commit::CommitHook;

/// Writers, and cleaners, that a store is opened for at most.
const THREADS_MAX: usize = 1 << 12;

/// What a store is made and opened with. Only the limit is the user's to choose; the rest has defaults that
/// fit.
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
    /// Bytes of a record from which on another one takes the place of a dead one though memory is not scarce;
    /// `u64::MAX` if none ever does. For tests.
    pub least_hole: u64,
    /// What sees every change at its commit point: a log, or a replica.
    pub hook: Option<Arc<dyn CommitHook>>,
}

/// Segments that a limit amounts to in a region. [`Kind::Invalid`] where it cannot have so many, or where
/// they would be too few for writers to find room.
pub(crate) fn segments_of(limit: u64, layout: &Layout, writers: usize, cleaners: usize) -> Result<u64> {
    let (size, segments_max) = (layout.segment_size, layout.segments_max);
    let segments = limit / size;
    let least = Budget::of(writers, cleaners).segments_min();
    if (least..=segments_max).contains(&segments) {
        return Ok(segments);
    }
    let (finding, remedy) = if segments > segments_max {
        let most = segments_max * size;
        let finding = format!("a limit of {limit} bytes is too high: this store can have at most {most} bytes");
        (finding, "choose a lower limit, or create a store with a higher one and copy the data over".to_owned())
    } else {
        let (threads, low) = (format!("{writers} writers and {cleaners} cleaners"), least * size);
        let finding =
            format!("a limit of {limit} bytes is too low: {threads} need {least} segments of {size} bytes to work in");
        (finding, format!("choose a limit of {low} bytes or more, or fewer writers and cleaners"))
    };
    Err(Error::new(Kind::Invalid, finding).remedy(remedy))
}

impl Options {
    /// The geometry that is asked for, if there can be a region of it.
    pub(crate) fn geometry(&self) -> Result<Geometry> {
        self.check_threads()?;
        let geometry = self.geometry.unwrap_or_else(|| Geometry::for_limit(self.limit)).check()?;
        self.segments(geometry).map(|_| geometry)
    }

    /// Refuses more threads than there can be any use for.
    pub(crate) fn check_threads(&self) -> Result<()> {
        let most = self.writers.max(self.cleaners);
        if most <= THREADS_MAX {
            return Ok(());
        }
        let error =
            Error::new(Kind::Invalid, format!("{most} threads that write or clean; there can be {THREADS_MAX}"));
        Err(error.remedy("give as many as write at a time, or leave it at what is the default"))
    }

    /// Segments that the limit amounts to in a region of this geometry.
    pub(crate) fn segments(&self, geometry: Geometry) -> Result<u64> {
        segments_of(self.limit, &Layout::of(geometry), self.writers, self.cleaners)
    }

    /// What so many writers and cleaners need.
    pub(crate) fn budget(&self) -> Budget {
        Budget::of(self.writers, self.cleaners)
    }

    /// The same with no more writers and cleaners than leave half of the segments to users, and room for what
    /// is live.
    pub(crate) fn within(&self, region: &Region, pool: &Pool, live: u64) -> Self {
        let segments = region.load(LIMIT);
        let extent = pool.extent(region, segments);
        let mut fewer = self.clone();
        while fewer.writers.max(fewer.cleaners) > 1 && !fewer.budget().fits(segments, extent, live) {
            [fewer.writers, fewer.cleaners] = [fewer.writers, fewer.cleaners].map(|threads| threads.div_ceil(2));
        }
        fewer
    }

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
            least_hole: LEAST,
            hook: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;
    use crate::record::key::Key;
    use crate::sync::lock;
    use crate::testing::fixture::TABLE;

    /// What it was filled with beyond the cap, up to a segment of each writer, is no reason to take fewer.
    #[test]
    fn a_full_store_is_opened_for_as_many_writers_as_filled_it() {
        for (segments, writers) in [(100, 8), (1000, 2)] {
            let geometry = Some(Geometry { segment_size: 16 << 10, segments_max: segments, buckets: 64 });
            let options = Options { geometry, writers, cleaners: 2, ..Options::with_limit(segments * (16 << 10)) };
            let memory = Memory::anonymous(&options).unwrap();
            let is_full = |key: &u64| {
                let value = vec![1; 100 + *key as usize % 4000];
                memory.put(TABLE, Key::Integer(*key), &value).is_err()
            };
            (0..1 << 20).find(is_full).unwrap();
            let owner = memory.owner();
            owner.count();
            let pool = lock(&owner.pool);
            assert!(owner.live() > options.limit / 2);
            let opened = options.within(&owner.region, &pool, owner.live());
            assert_eq!((opened.writers, opened.cleaners), (writers, 2), "{segments} segments");
            let crowded = options.within(&owner.region, &pool, options.limit);
            assert!(crowded.writers < writers, "{segments} segments");
        }
    }
}
