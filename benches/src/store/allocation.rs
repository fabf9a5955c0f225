//! W1 to W8: objects whose sizes change, which leaves allocators with holes of the wrong size. What counts is memory beside the bytes
//! of the records (head, key, value) that live at most: the least in which the store runs to its end, the most that a peer takes.

use std::io;

use hammerspace_memory::{Change, Key, Options};
use hammerspace_rivals::stores::{Heap, Redis, Store};
use hammerspace_workloads::allocations::{Allocations, Operation, all};

use super::{Scratch, TABLE, float, options};
use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

/// Bytes of a record beside its value: head and key.
const BESIDE: u32 = 16;
/// Shares of the live records that are tried, in hundredths. A small store has its open heads beside it, which are most of it.
const TRIED: &[u64] = &[106, 108, 110, 115, 120, 200];
const TRIED_SMALL: &[u64] = &[400];
const SEED: u64 = 1;
/// How often a peer's memory is looked at.
const LOOKS: u64 = 500;
/// A server takes half an hour for what the others do in minutes, and as much for each byte when there are fewer.
const REDIS_SHARE: u64 = 8;
const JEMALLOC: &str = "libjemalloc.so.2";

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let live = if scale.is_full() { 1 << 30 } else { 128 << 10 };
    let mut rows = Vec::new();
    for workload in all() {
        let work = Work::of(workload, live);
        let tried = if scale.is_full() { TRIED } else { TRIED_SMALL };
        let fits = tried.iter().find_map(|percent| Some((*percent, work.run(scale, *percent).ok()??)));
        let (percent, index) = fits.ok_or("no memory was enough")?;
        let (name, ours) = (work.shape.name, float(percent) / 100.0);
        let segments = format!("{name}, segments over live records");
        rows.push(Row::alone(&segments, "x", ours).goal(scale.goal("<= 1.1 x")));
        rows.push(Row::alone(format!("{name}, index over live records"), "x", float(index) / float(work.bytes)));
        rows.push(Row::new(&segments, "x", ours, "glibc malloc", work.peak(&mut Heap::start(work.objects, None)?)?));
        let jemalloc = work.peak(&mut Heap::start(work.objects, Some(JEMALLOC))?)?;
        rows.push(Row::new(&segments, "x", ours, "jemalloc", jemalloc));
        let less = Work::of(work.shape, live / REDIS_SHARE);
        rows.push(Row::new(&segments, "x", ours, "Redis, an eighth of it", less.peak(&mut Pipelined::start()?)?));
    }
    Ok(rows)
}

/// A workload of some size, and what there is of it at most.
struct Work {
    shape: Allocations,
    live: u64,
    /// Bytes of records that live at a time.
    bytes: u64,
    /// How many those are.
    objects: u32,
    /// In all.
    operations: u64,
}

impl Work {
    fn of(shape: Allocations, live: u64) -> Self {
        let mut work = Self { shape, live, bytes: 0, objects: 0, operations: 0 };
        let mut operations = work.shape.operations(live, SEED);
        let mut objects = 0;
        while let Some(operation) = operations.next() {
            match operation {
                Operation::Allocate { .. } => objects += 1,
                Operation::Free { .. } => objects -= 1,
            }
            work.objects = work.objects.max(objects);
            work.bytes = work.bytes.max(operations.live_bytes() + u64::from(objects) * u64::from(BESIDE));
            work.operations += 1;
        }
        work
    }

    /// The index's bytes, if it runs to its end in segments of this share of its most live bytes, with the index beside them.
    fn run(&self, scale: &Scale, percent: u64) -> Result<Option<u64>> {
        let segments = self.bytes * percent / 100;
        // The index is counted apart: as many segments more as it takes, whenever it takes one.
        let store = Scratch::create(&Options { cleaners: 0, ..options(scale, segments + (64 << 20)) })?;
        let memory = &store.memory;
        let value = vec![0xab; 16 << 10];
        let mut index = 0;
        for operation in self.shape.operations(self.live, SEED) {
            match operation {
                Operation::Allocate { id, size } => {
                    if id.is_multiple_of(1024) {
                        let now = memory.view().usage().index;
                        if now != index {
                            index = now;
                            memory.set_limit(segments + index)?;
                        }
                    }
                    if memory.put(TABLE, Key::Integer(id), &value[..size as usize]).is_err() {
                        return Ok(None);
                    }
                }
                Operation::Free { id } => drop(memory.update(TABLE, Key::Integer(id), |_| Change::Delete)?),
            }
        }
        Ok(Some(memory.view().usage().index))
    }

    /// The most memory that a peer takes on its way, beside the most live bytes.
    fn peak(&self, peer: &mut impl Peer) -> Result<f64> {
        let mut most = 0;
        for (number, operation) in (1..).zip(self.shape.operations(self.live, SEED)) {
            peer.take(operation)?;
            if number % (self.operations / LOOKS + 1) == 0 || number == self.operations {
                most = most.max(peer.memory_used()?);
            }
        }
        Ok(float(most) / float(self.bytes))
    }
}

/// What else keeps objects.
trait Peer {
    fn take(&mut self, operation: Operation) -> io::Result<()>;
    fn memory_used(&mut self) -> io::Result<u64>;
}

/// An object is as many bytes as a record of ours.
impl Peer for Heap {
    fn take(&mut self, operation: Operation) -> io::Result<()> {
        match operation {
            Operation::Allocate { id, size } => self.allocate(id, size + BESIDE),
            Operation::Free { id } => self.free(id),
        }
    }

    fn memory_used(&mut self) -> io::Result<u64> {
        Self::memory_used(self)
    }
}

/// Redis, asked for some changes at a time.
struct Pipelined {
    redis: Redis,
    value: Vec<u8>,
    puts: Vec<(u64, u32)>,
    deletes: Vec<u64>,
}

impl Pipelined {
    const BATCH: usize = 64;

    fn start() -> io::Result<Self> {
        let value = vec![0xab; 16 << 10];
        Ok(Self { redis: Redis::start()?, value, puts: Vec::new(), deletes: Vec::new() })
    }

    /// First what is put: nothing is put again that was deleted.
    fn flush(&mut self) -> io::Result<()> {
        let pairs: Vec<(u64, &[u8])> =
            self.puts.iter().map(|(id, size)| (*id, &self.value[..*size as usize])).collect();
        self.redis.put_many(&pairs)?;
        self.redis.delete_many(&self.deletes)?;
        self.puts.clear();
        self.deletes.clear();
        Ok(())
    }
}

impl Peer for Pipelined {
    fn take(&mut self, operation: Operation) -> io::Result<()> {
        match operation {
            Operation::Allocate { id, size } => self.puts.push((id, size)),
            Operation::Free { id } => self.deletes.push(id),
        }
        if self.puts.len() + self.deletes.len() < Self::BATCH { Ok(()) } else { self.flush() }
    }

    fn memory_used(&mut self) -> io::Result<u64> {
        self.flush()?;
        self.redis.memory_used()
    }
}
