//! Records in transit: from the log's order to the table's.
//!
//! ```text
//! partition 0:  | full chunk | full chunk | open chunk … |       a full chunk stays in memory, or goes to the scratch once
//! partition 1:  | full chunk | open … |                          the budget is used up
//! ```
//! Within a partition records keep the log's order.

use super::plan::Plan;
use super::record::{Record, Routed};
use super::spill::Spill;
use hammerspace_error::Result;
use std::io::{Read, Seek, Write};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The partitions while the log is read.
pub(super) struct Partitions<F, S> {
    chunk_len: usize,
    /// Full chunks that may still stay in memory.
    chunks_left: usize,
    full: Vec<Vec<Chunk>>,
    open: Vec<Vec<Record>>,
    spill: Spill<F, S>,
}

/// So many records as a chunk holds, or fewer at the end of a partition.
pub(super) enum Chunk {
    Kept(Vec<Record>),
    /// The chunk of this number in the scratch.
    Spilled(u64),
}

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Partitions<F, S> {
    pub(super) fn new(plan: &Plan, scratch: F) -> Self {
        Self {
            chunk_len: plan.chunk_len,
            chunks_left: plan.chunks_kept,
            full: (0..plan.partitions).map(|_| Vec::new()).collect(),
            open: vec![Vec::new(); plan.partitions],
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
        let open = &mut self.open[at];
        let chunk = if self.chunks_left > 0 {
            self.chunks_left -= 1;
            Chunk::Kept(mem::replace(open, Vec::with_capacity(self.chunk_len)))
        } else {
            let number = self.spill.write(open)?;
            open.clear();
            Chunk::Spilled(number)
        };
        self.full[at].push(chunk);
        Ok(())
    }

    /// No more records: the open chunks stay where they are.
    pub(super) fn finish(self) -> Gathered<F, S> {
        let whole = |(mut full, open): (Vec<Chunk>, Vec<Record>)| {
            full.push(Chunk::Kept(open));
            full
        };
        let partitions = self.full.into_iter().zip(self.open).map(whole).collect();
        Gathered { partitions: Mutex::new(partitions), spill: Mutex::new(self.spill) }
    }
}

/// The partitions once the log has been read. Any thread may take any partition, once.
pub(super) struct Gathered<F, S> {
    partitions: Mutex<Vec<Vec<Chunk>>>,
    spill: Mutex<Spill<F, S>>,
}

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Gathered<F, S> {
    /// The chunks of a partition, in the log's order.
    pub(super) fn take(&self, partition: usize) -> Vec<Chunk> {
        mem::take(&mut lock(&self.partitions)[partition])
    }

    /// The records of a chunk.
    pub(super) fn load(&self, chunk: Chunk) -> Result<Vec<Record>> {
        match chunk {
            Chunk::Kept(records) => Ok(records),
            Chunk::Spilled(number) => lock(&self.spill).read(number),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
