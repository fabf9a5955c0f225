//! How large to make what: partitions, chunks, batches.

use super::super::slot::Shape;
use super::Effort;
use super::record::Record;
use hammerspace_os::HUGE_PAGE;

/// Slots of a partition, unless the budget or a huge table wants otherwise: what sorting them takes fits a level-2 cache.
const PARTITION_BITS: u32 = 14;

/// More partitions than this are not written to at once without losing the processor's caches.
const PARTITIONS_MAX: usize = 1 << 10;

/// The smallest partitions and chunks.
const PARTITION_BITS_MIN: u32 = 8;
const CHUNK_LEN_MIN: usize = 16;

/// Records per chunk while all of them stay in memory, and the most where they do not.
const CHUNK_LEN: usize = 1 << 10;
const CHUNK_LEN_MAX: usize = 1 << 13;

/// Bytes that are written at once where the budget has no room for a huge page.
const PAGE_LEN_MIN: usize = 4 << 10;

/// Logs shorter than this are not worth a second thread.
const ENTRIES_PER_THREAD: u64 = if cfg!(test) { 1 << 10 } else { 1 << 16 };

/// Sizes that keep to a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) threads: usize,
    /// A partition has `2^partition_bits` slots; the last may have fewer.
    pub(super) partition_bits: u32,
    pub(super) partitions: usize,
    /// Records per chunk: a power of two.
    pub(super) chunk_len: usize,
    /// Chunks that may stay in memory once they are full.
    pub(super) chunks_kept: usize,
    /// Records of a partition that are sorted at once, if it has so many.
    pub(super) batch_len: usize,
    /// Bytes that are written at once.
    pub(super) page_len: usize,
}

impl Plan {
    /// For a table of this shape and a log that claims so many entries.
    pub(super) fn new(shape: &Shape, entries: u64, effort: &Effort) -> Self {
        let most = (entries / ENTRIES_PER_THREAD).max(1).min(effort.threads() as u64) as usize;
        let plan = |threads| Self::with_threads(shape, entries, effort.memory, threads);
        let fitting = (1..=most).rev().map(plan).find_map(|(fits, plan)| fits.then_some(plan));
        fitting.unwrap_or_else(|| plan(1).1)
    }

    /// The plan for so many threads, and whether it keeps to the budget.
    fn with_threads(shape: &Shape, entries: u64, memory: u64, threads: usize) -> (bool, Self) {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let page_len = if memory >= 32 * HUGE_PAGE { HUGE_PAGE } else { PAGE_LEN_MIN };
        let memory = memory.saturating_sub(page_len);
        let desk = memory / 4 / threads;
        let partitions = |bits: u32| shape.capacity.div_ceil(1 << bits);
        let records = |bits: u32| entries as usize / partitions(bits) * 5 / 4;
        // Where groups start, their slots, and each record twice: as it comes and sorted.
        let slots_len = |bits: u32| (size_of::<u32>() + shape.slot_size()) << bits;
        let work_len = |bits: u32| slots_len(bits) + 2 * size_of::<Record>() * records(bits);

        let mut bits = PARTITION_BITS;
        while partitions(bits) > PARTITIONS_MAX {
            bits += 1;
        }
        while bits > PARTITION_BITS_MIN && work_len(bits) > desk {
            bits -= 1;
        }
        let batch_len = (desk.saturating_sub(slots_len(bits)) / size_of::<Record>() / 2).max(1 << PARTITION_BITS_MIN);
        let chunk_max = if entries.saturating_mul(size_of::<Record>() as u64)
            <= memory as u64 / 4 * 3 - (partitions(bits) * CHUNK_LEN * size_of::<Record>()).min(memory / 2) as u64
        {
            CHUNK_LEN
        } else {
            CHUNK_LEN_MAX
        };
        let room = memory / 2 / size_of::<Record>() / partitions(bits);
        let chunk_len = prev_power_of_two(room.clamp(CHUNK_LEN_MIN, chunk_max));
        let open = partitions(bits) * chunk_len * size_of::<Record>();
        let chunks_kept = memory.saturating_sub(memory / 4).saturating_sub(open) / (chunk_len * size_of::<Record>());
        let fits = room >= CHUNK_LEN_MIN && work_len(bits) <= desk;
        let partitions = partitions(bits);
        (fits, Self { threads, partition_bits: bits, partitions, chunk_len, chunks_kept, batch_len, page_len })
    }
}

fn prev_power_of_two(number: usize) -> usize {
    1 << number.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::header::HashSize;

    fn plan(puts: usize, memory: u64) -> Plan {
        let shape = Shape::new(HashSize::Eight, 8, 0, puts / 10 * 13 + 1);
        let effort = Effort { memory, threads: std::num::NonZero::new(8) };
        Plan::new(&shape, puts as u64, &effort)
    }

    #[test]
    fn what_is_planned_is_within_the_budget() {
        for puts in [1_000_usize, 100_000, 10_000_000, 100_000_000, 10_000_000_000] {
            let memory_min = 320 * (puts / 10 * 13).isqrt() as u64 + (64 << 10);
            for memory in [1, 2, 5, 40, 300].map(|times| times * memory_min) {
                let Plan { threads, partition_bits, partitions, chunk_len, chunks_kept, batch_len, page_len } =
                    plan(puts, memory);
                let chunks = (partitions + chunks_kept) * chunk_len * size_of::<Record>();
                let desk = (20 << partition_bits) + 2 * batch_len * size_of::<Record>();
                let planned = (chunks + threads * desk + page_len) as u64;
                assert!(planned <= memory, "{puts} puts, {memory} bytes, but {planned} planned");
            }
        }
    }

    #[test]
    fn ten_million_entries_stay_in_the_memory_of_the_default() {
        let Plan { partitions, chunk_len, chunks_kept, threads, .. } = plan(10_000_000, Effort::MEMORY);
        assert!(chunks_kept * chunk_len >= 10_000_000);
        assert!(partitions <= PARTITIONS_MAX && threads == 8);
    }
}
