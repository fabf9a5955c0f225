//! What is left of a partition's records: sorted by wanted slot, then replayed slot by slot.
//!
//! A counting sort that keeps the log's order within a slot: two passes over memory that fits a cache. A slot with one put
//! is done then, and so is one with a few whose hashes differ. Otherwise its records are replayed as the log has them
//! ([`CollisionGroup`]): comparing keys of equal hash is the only access to the log, and the only one that is not in order.

use super::super::slot::Shape;
use super::collision_group::CollisionGroup;
use super::plan::Plan;
use super::record::Record;
use super::spill::strayed;
use crate::log::Log;
use hammerspace_error::{Error, Kind, Result};
use std::ops::Range;

/// So many records are compared by hash, each with each.
const FEW: usize = 8;

/// One thread's desk.
pub(super) struct Replay<'a, B> {
    shape: Shape,
    batch_len: usize,
    /// Where the next record of each slot goes; after sorting, where those of the next slot start.
    ends: Vec<u32>,
    sorted: Vec<Record>,
    collision_group: CollisionGroup<'a, B>,
}

impl<'a, B: AsRef<[u8]>> Replay<'a, B> {
    pub(super) fn new(log: &'a Log<B>, end: u64, shape: Shape, plan: &Plan) -> Self {
        let collision_group = CollisionGroup::new(log, end, shape);
        Self { shape, batch_len: plan.batch_len, ends: Vec::new(), sorted: Vec::new(), collision_group }
    }

    /// Hands the live puts of a partition to `place`, with the slot they want and in pairs, of which it is to take none, one
    /// or both: by wanted slot, and within it in the order in which the keys came to life. `chunks` gives the records that
    /// want these slots, in the log's order.
    ///
    /// Should there be more than fit the desk, as when one key was put very often, they are replayed in batches, each on top
    /// of what the ones before have left.
    pub(super) fn partition(
        &mut self,
        slots: &Range<usize>,
        chunks: impl Iterator<Item = Result<Vec<Record>>>,
        place: impl FnMut(usize, [Record; 2], usize),
    ) -> Result<()> {
        let (mut batch, mut len, mut len_max) = (Vec::new(), 0, self.batch_len);
        for chunk in chunks {
            if len >= len_max {
                let mut left = Vec::new();
                self.replay(slots, &batch, |_, pair, len| left.extend_from_slice(&pair[..len]))?;
                (len, len_max) = (left.len(), self.batch_len.max(left.len().saturating_mul(2)));
                batch = vec![left];
            }
            let chunk = chunk?;
            len += chunk.len();
            batch.push(chunk);
        }
        self.replay(slots, &batch, place)
    }

    /// Most slots are wanted by none, one or two, at random: a processor cannot guess which, so these are told apart without
    /// a branch.
    fn replay(
        &mut self,
        slots: &Range<usize>,
        batch: &[Vec<Record>],
        mut place: impl FnMut(usize, [Record; 2], usize),
    ) -> Result<()> {
        self.sort(slots, batch)?;
        let mut start = 0;
        for (wanted, end) in slots.clone().zip(&self.ends) {
            let (from, to) = (start, *end as usize);
            start = to;
            let pair = [self.sorted[from], self.sorted[from + 1]];
            if is_settled(pair, to - from) {
                place(wanted, pair, to - from);
            } else if are_settled(&self.sorted[from..to]) {
                self.sorted[from..to].iter().for_each(|record| place_one(&mut place, wanted, *record));
            } else {
                let live = self.collision_group.replay(&self.sorted[from..to])?;
                live.for_each(|record| place_one(&mut place, wanted, record));
            }
        }
        Ok(())
    }

    fn sort(&mut self, slots: &Range<usize>, batch: &[Vec<Record>]) -> Result<()> {
        let shape = self.shape;
        let len: usize = batch.iter().map(Vec::len).sum();
        u32::try_from(len).map_err(|_| too_many(len))?;
        self.ends.clear();
        self.ends.resize(slots.len(), 0);
        for record in batch.iter().flatten() {
            let end = self.ends.get_mut(shape.wanted(record.hash).wrapping_sub(slots.start));
            *end.ok_or_else(strayed)? += 1;
        }
        let mut start = 0;
        for end in &mut self.ends {
            (start, *end) = (start + *end, start);
        }
        // Whoever looks at a pair may look past the end.
        self.sorted.resize(len + 2, Record::default());
        for record in batch.iter().flatten() {
            let end = &mut self.ends[shape.wanted(record.hash) - slots.start];
            self.sorted[*end as usize] = *record;
            *end += 1;
        }
        Ok(())
    }

    /// Bytes of all puts that were overwritten or deleted.
    pub(super) fn dead_size(&self) -> u64 {
        self.collision_group.dead_size
    }
}

/// Whether the first `len` records want their slot as puts of different keys: their hashes say so, if they are no more than
/// two.
#[expect(clippy::needless_bitwise_bool, reason = "branches that nobody can predict")]
#[inline]
fn is_settled(pair: [Record; 2], len: usize) -> bool {
    let [one, other] = pair;
    let has_delete = ((len > 0) & !one.is_put()) | ((len > 1) & !other.is_put());
    !has_delete & ((len < 2) | ((len == 2) & (one.hash != other.hash)))
}

/// The same for a few more.
fn are_settled(group: &[Record]) -> bool {
    let stands_out =
        |(at, record): (usize, &Record)| record.is_put() && group[..at].iter().all(|other| other.hash != record.hash);
    group.len() <= FEW && group.iter().enumerate().all(stands_out)
}

fn place_one(place: &mut impl FnMut(usize, [Record; 2], usize), wanted: usize, record: Record) {
    place(wanted, [record, Record::default()], 1);
}

#[cold]
fn too_many(len: usize) -> Error {
    Error::new(Kind::Full, format!("{len} keys want the same few slots")).remedy("build the index with another seed")
}
