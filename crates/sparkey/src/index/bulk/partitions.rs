//! Records in transit: from the log's order to the table's.
//!
//! ```text
//! partition 0:  | kept | kept | spilled | spilled | open … |      full chunks stay in memory for as long as the budget
//! partition 1:  | kept | spilled | open … |                       allows; the others go to the scratch
//! ```
//! Within a partition records keep the log's order.

use super::plan::Plan;
use super::record::{Record, Routed};
use super::spill::{Chain, Spill};
use hammerspace_error::Result;
use std::io::{Read, Seek, Write};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The partitions while the log is read.
pub(super) struct Partitions<F, S> {
    chunk_len: usize,
    /// Full chunks that may still stay in memory.
    chunks_left: usize,
    open: Vec<Vec<Record>>,
    full: Vec<Full>,
    spill: Spill<F, S>,
}

/// The full chunks of a partition: those that are kept come first.
#[derive(Clone, Default)]
struct Full {
    kept: Vec<Vec<Record>>,
    spilled: Chain,
}

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Partitions<F, S> {
    pub(super) fn new(plan: &Plan, scratch: F) -> Self {
        Self {
            chunk_len: plan.chunk_len,
            chunks_left: plan.chunks_kept,
            open: vec![Vec::new(); plan.partitions],
            full: vec![Full::default(); plan.partitions],
            spill: Spill::new(scratch, plan.chunk_len),
        }
    }

    /// Adds what follows in the log.
    pub(super) fn add(&mut self, records: &[Routed]) -> Result<()> {
        for routed in records {
            let at = routed.partition as usize;
            if self.open[at].len() == self.chunk_len {
                self.close(at)?;
            }
            self.open[at].push(routed.record);
        }
        Ok(())
    }

    #[cold]
    fn close(&mut self, at: usize) -> Result<()> {
        let (open, full) = (&mut self.open[at], &mut self.full[at]);
        if self.chunks_left > 0 {
            self.chunks_left -= 1;
            full.kept.push(mem::replace(open, Vec::with_capacity(self.chunk_len)));
        } else {
            self.spill.append(open, &mut full.spilled)?;
            open.clear();
        }
        Ok(())
    }

    /// No more records.
    pub(super) fn finish(self) -> Gathered<F, S> {
        let partitions = self.full.into_iter().zip(self.open).collect();
        Gathered { partitions: Mutex::new(partitions), spill: Mutex::new(self.spill) }
    }
}

/// The partitions once the log has been read. Any thread may take any partition, once.
pub(super) struct Gathered<F, S> {
    partitions: Mutex<Vec<(Full, Vec<Record>)>>,
    spill: Mutex<Spill<F, S>>,
}

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Gathered<F, S> {
    /// The chunks of a partition, in the log's order.
    pub(super) fn take(&self, partition: usize) -> Result<impl Iterator<Item = Result<Vec<Record>>>> {
        let (full, open) = mem::take(&mut lock(&self.partitions)[partition]);
        let spilled = lock(&self.spill).numbers(full.spilled)?;
        let spilled = spilled.into_iter().map(|number| lock(&self.spill).read(number));
        Ok(full.kept.into_iter().map(Ok).chain(spilled).chain([Ok(open)]))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
