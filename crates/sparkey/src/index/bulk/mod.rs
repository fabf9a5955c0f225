//! Making the index of a whole log: in two passes, by several threads, within a budget of memory.
//!
//! ```text
//! log ─► walk ─► hash ─► partitions ─► sort, replay, lay out ─► stitch ─► sink
//!        one     each    in order      each                     in order
//!        at a    thread  of the log    thread                   of the table
//!        time
//! ```
//! A table that is filled key by key costs a cache miss for each, and a table that memory does not hold costs a page fault
//! or more. So the log is first cut into *partitions*, each a range of wanted slots small enough for a cache; then
//! each is replayed by itself and written to its place, from left to right. `docs/design/index-building.md` tells more.
//!
//! What always holds:
//! 1. The table depends on the log, the seed and the sizes alone: on neither budget nor threads. It is the one that
//!    [`Builder`](super::builder) fills: keys sorted by wanted slot, and by when they came to life.
//! 2. Beyond the log, memory is bounded by the budget, however long the log is; whatever does not fit goes to a scratch.
//! 3. Time is linear in the log, whatever the keys.

mod collision_group;
mod effort;
mod partitions;
mod pieces;
mod plan;
mod record;
mod replay;
mod spill;
mod stitch;
#[cfg(test)]
mod tests;
mod turnstile;

pub use effort::Effort;

use super::builder::{
    FRESH, IndexOptions, capacity_for, hash_size_for, header_for, room_for, seed_of, shape_for, trusted_puts,
};
use super::counts::Counts;
use super::header::IndexHeader;
use super::slot::Shape;
use crate::log::Log;
use hammerspace_error::{Doing, Result};
use partitions::{Gathered, Partitions};
use pieces::{Piece, Walk};
use plan::Plan;
use replay::Replay;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use stitch::{Stitcher, Stretch};
use turnstile::Turnstile;

/// Makes the index of a whole log: the bytes of an `.spi` file.
///
/// As [`write_index`], but all in memory: 16 bytes for each entry, and 8 to 16 for each of `1.3 * num_puts` slots.
pub fn build_index<B: AsRef<[u8]> + Sync>(log: &Log<B>, options: &IndexOptions) -> Result<Vec<u8>> {
    let puts = trusted_puts(log)?;
    build(log, log.header().data_end, puts, capacity_for(puts, FRESH), options)
}

/// Writes the index of a whole log to `sink`, which should be empty: its header last, the rest from left to right. Gives the
/// header.
///
/// Takes time linear in the log, all processors, and no more memory than `effort` allows, as long as that is about
/// `300 * sqrt(num_puts)` bytes per thread: 16 bytes for each entry are kept there, and what finds no room is written to
/// what `scratch` gives, an empty file say, and read back once. Keys that were made to collide, for which one must know the
/// seed, can exceed it.
///
/// The same bytes come out whatever the effort.
pub fn write_index<B, W, S>(
    log: &Log<B>,
    options: &IndexOptions,
    effort: &Effort,
    sink: W,
    scratch: impl FnOnce() -> Result<S> + Send,
) -> Result<IndexHeader>
where
    B: AsRef<[u8]> + Sync,
    W: Read + Write + Seek + Send,
    S: Read + Write + Seek + Send,
{
    let puts = trusted_puts(log)?;
    let job = Job::new(log, log.header().data_end, puts, capacity_for(puts, FRESH), options, effort)?;
    job.run(sink, scratch)
}

/// Makes the index of the log's bytes up to `end`, which hold `puts` puts, in memory.
pub(crate) fn build<B: AsRef<[u8]> + Sync>(
    log: &Log<B>,
    end: u64,
    puts: u64,
    capacity: u64,
    options: &IndexOptions,
) -> Result<Vec<u8>> {
    let effort = Effort { memory: u64::MAX, ..Effort::default() };
    let job = Job::new(log, end, puts, capacity, options, &effort)?;
    let mut image = Cursor::new(room_for(job.shape)?);
    job.run(&mut image, || Ok(Cursor::new(Vec::new())))?;
    Ok(image.into_inner())
}

/// An index to be made, of the log's bytes up to `end`.
pub(crate) struct Job<'a, B> {
    log: &'a Log<B>,
    end: u64,
    puts: u64,
    shape: Shape,
    seed: u32,
    plan: Plan,
}

impl<'a, B: AsRef<[u8]> + Sync> Job<'a, B> {
    pub(crate) fn new(
        log: &'a Log<B>,
        end: u64,
        puts: u64,
        capacity: u64,
        options: &IndexOptions,
        effort: &Effort,
    ) -> Result<Self> {
        let hash_size = options.hash_size.unwrap_or(hash_size_for(capacity));
        let shape = shape_for(log.header(), end, hash_size, capacity as usize);
        let entries = puts.saturating_add(log.header().num_deletes.min(end));
        Ok(Self { log, end, puts, shape, seed: seed_of(options)?, plan: Plan::new(&shape, entries, effort) })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn run<W, S>(&self, sink: W, scratch: impl FnOnce() -> Result<S> + Send) -> Result<IndexHeader>
    where
        W: Read + Write + Seek + Send,
        S: Read + Write + Seek + Send,
    {
        let (gathered, delete_size) = self.gather(scratch)?;
        let (mut sink, counts, dead_size) = self.lay_out(&gathered, sink)?;
        let garbage_size = delete_size.saturating_add(dead_size);
        let header = header_for(self.log.header(), self.end, &self.shape, self.seed, garbage_size, &counts);
        let written = sink.seek(SeekFrom::Start(0)).and_then(|_| sink.write_all(&header.encode()));
        written.and_then(|()| sink.flush()).doing("write the index's header")?;
        Ok(header)
    }

    /// The first pass: the log's entries in partitions, and the bytes of its deletes.
    fn gather<F, S>(&self, scratch: F) -> Result<(Gathered<F, S>, u64)>
    where
        F: FnOnce() -> Result<S> + Send,
        S: Read + Write + Seek + Send,
    {
        let walk = Mutex::new(Walk::new(self.log, self.end, self.puts, self.shape)?);
        let partitions = Turnstile::new(Partitions::new(&self.plan, scratch));
        partitions.crew(self.plan.threads, || {
            let mut piece = Piece::default();
            while walk.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut piece)? {
                piece.hash(self.log, &self.shape, self.seed, self.plan.partition_bits);
                if partitions.pass(piece.number, |partitions| partitions.add(&piece.records))?.is_none() {
                    break;
                }
            }
            Ok(())
        })?;
        let walk = walk.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((partitions.into_inner().finish(), walk.delete_size))
    }

    /// The second pass: the table, what it counts, and the bytes of dead puts.
    fn lay_out<W, F, S>(&self, gathered: &Gathered<F, S>, sink: W) -> Result<(W, Counts, u64)>
    where
        W: Read + Write + Seek + Send,
        F: FnOnce() -> Result<S> + Send,
        S: Read + Write + Seek + Send,
    {
        let stitcher = Turnstile::new(Stitcher::new(sink, self.plan.page_len)?);
        let next = AtomicUsize::new(0);
        let counted = Mutex::new(Counts::default());
        let dead_size = AtomicU64::new(0);
        stitcher.crew(self.plan.threads, || {
            let mut replay = Replay::new(self.log, self.end, self.shape, &self.plan);
            let (mut stretch, mut counts) = (Stretch::new(self.shape), Counts::default());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(slots) = self.slots(number) else { break };
                stretch.clear(slots.clone());
                replay
                    .partition(&slots, gathered.take(number)?, |wanted, pair, len| stretch.place(wanted, pair, len))?;
                match stitcher.pass(number, |stitcher| stitcher.add(&mut stretch))? {
                    Some(before) if number > 0 => stretch.count(before, &mut counts),
                    Some(_) => {}
                    None => break,
                }
            }
            dead_size.fetch_add(replay.dead_size(), Ordering::Relaxed);
            counted.lock().unwrap_or_else(PoisonError::into_inner).join(&counts);
            Ok(())
        })?;
        let mut counts = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let partitions = (0..).map_while(|number| self.slots(number));
        let sink = stitcher.into_inner().close(self.shape, partitions, &mut counts)?;
        Ok((sink, counts, dead_size.into_inner()))
    }

    /// The slots of a partition; `None` behind the last.
    fn slots(&self, number: usize) -> Option<Range<usize>> {
        let start = number << self.plan.partition_bits;
        let end = (start + (1 << self.plan.partition_bits)).min(self.shape.capacity);
        (number < self.plan.partitions).then_some(start..end)
    }
}
