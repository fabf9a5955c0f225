//! Counters: how many keys each table has, and how many bytes these and their values are.
//!
//! ```text
//! block of 256 tables: | row of writer 0, a page | … | row of writer 63 | row of all others |      row: | keys 8 B | bytes 8 B | for each table
//! ```
//!
//! - A table has what its rows add up to. One row alone means nothing: a writer may delete what another has
//!   put.
//! - Each of the first 64 writers adds to a row of its own, without an atomic exchange, and no other writer
//!   writes to that page. Cleaners, expiry and any further writers share the last row.
//! - A block has memory before anything is counted in it, and `COUNTED` has a bit for it: readers touch no
//!   other block.
//! - A change is counted once its slot has changed, by the thread that changed it. An owner that dies in
//!   between loses that one change.
//! - Tables that no user sees are not counted; the parts of a value count as bytes of its table.

use hammerspace_error::Result;

use crate::alloc::pool::Backing;
use crate::owner::Owner;
use crate::record::Record;
use crate::region::geometry::{COUNTER_BLOCK, COUNTER_BLOCKS, COUNTER_ROWS, TABLES_PER_BLOCK, WORD};
use crate::region::{COUNTED, Region};
use crate::sync::Ordering::{Relaxed, Release};
use crate::sync::{AtomicU64, lock};
use crate::write::change::Old;
use crate::write::writer_slot::WriterSlot;

/// The first of the tables that no user sees.
pub const INTERNAL_TABLES: u16 = u16::MAX - 2;
/// The row of cleaners, of expiry, and of writers that have none of their own.
const SHARED: u64 = COUNTER_ROWS - 1;

/// Keys of a table, and their bytes with those of their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Keys, with those that have expired and are not cleared away.
    pub keys: u64,
    /// Bytes of keys and values; an integer key has eight.
    pub bytes: u64,
}

impl Counted {
    /// What a record counts for.
    #[inline]
    pub(crate) fn of(region: &Region, record: Record) -> Self {
        Self { keys: 1, bytes: record.header.key_len() + Old { region, record }.len() }
    }

    /// What a record counts for beyond one of the same key that it replaces.
    #[inline]
    pub(crate) fn of_replacing(region: &Region, old: Record, new: Record) -> Self {
        let len = |record| Old { region, record }.len();
        Self { keys: 0, bytes: len(new).wrapping_sub(len(old)) }
    }

    /// What a value counts for that grows by so many bytes.
    #[inline]
    pub(crate) fn grown(bytes: usize) -> Self {
        Self { keys: 0, bytes: bytes as u64 }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { keys: self.keys.wrapping_add(other.keys), bytes: self.bytes.wrapping_add(other.bytes) }
    }

    #[inline]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { keys: self.keys.wrapping_sub(other.keys), bytes: self.bytes.wrapping_sub(other.bytes) }
    }
}

fn block_of(table: u16) -> u64 {
    u64::from(table) / TABLES_PER_BLOCK
}

/// The word with the bit of a block, and the bit.
fn bit_of(block: u64) -> (u64, u64) {
    (COUNTED + block / 64 * WORD, 1 << (block % 64))
}

fn is_counted(table: u16) -> bool {
    table < INTERNAL_TABLES && block_of(table) < COUNTER_BLOCKS
}

impl Region {
    /// Whether the counters of a table have memory.
    #[inline]
    fn has_counters(&self, table: u16) -> bool {
        let (word, bit) = bit_of(block_of(table));
        is_counted(table) && self.load(word) & bit != 0 && self.has_counters_of(block_of(table))
    }

    /// Says that the counters of a block have memory.
    pub(crate) fn count_block(&self, block: u64) {
        let (word, bit) = bit_of(block);
        self.word(word).fetch_or(bit, Release);
    }

    fn counter(&self, row: u64, table: u16) -> [&AtomicU64; 2] {
        let address = self.layout.counter(row, table);
        [address, address + WORD].map(|address| self.word(address))
    }

    /// What a table's rows add up to. While it is changed, some of that may be counted and some not.
    pub(crate) fn counted(&self, table: u16) -> Counted {
        if !self.has_counters(table) {
            return Counted::default();
        }
        let rows = (0..COUNTER_ROWS).map(|row| self.counter(row, table).map(|word| word.load(Relaxed)));
        let sum = rows.fold(Counted::default(), |sum, [keys, bytes]| sum.plus(Counted { keys, bytes }));
        // For an instant a deletion may be seen, and what it deletes not yet.
        let at_least_0 = |count: u64| count.cast_signed().max(0).cast_unsigned();
        Counted { keys: at_least_0(sum.keys), bytes: at_least_0(sum.bytes) }
    }

    /// Counts what a change added that its owner did not come to count.
    pub(crate) fn count_for_dead(&self, table: u16, added: Counted) {
        if self.has_counters(table) {
            for (word, more) in self.counter(SHARED, table).into_iter().zip([added.keys, added.bytes]) {
                word.fetch_add(more, Relaxed);
            }
        }
    }

    /// Whether something else is counted for a table than this, which was found.
    pub(crate) fn miscounts(&self, table: u16, found: Counted) -> bool {
        is_counted(table) && self.counted(table) != found
    }

    /// Counts nothing for a table any more, which nobody changes.
    pub(crate) fn reset_counters(&self, table: u16) {
        if self.has_counters(table) {
            for word in (0..COUNTER_ROWS).flat_map(|row| self.counter(row, table)) {
                word.store(0, Relaxed);
            }
        }
    }

    /// Sees to it that what is counted has memory, in a region that another process has owned.
    pub(crate) fn back_counters(&self, backing: &dyn Backing) {
        for block in 0..COUNTER_BLOCKS {
            let (word, bit) = bit_of(block);
            if self.load(word) & bit != 0
                && backing.back(self, self.layout.counter_block(block), COUNTER_BLOCK).is_err()
            {
                // It had none, and somebody has damaged the bit.
                self.word(word).fetch_and(!bit, Relaxed);
            }
        }
    }
}

impl WriterSlot {
    /// Counts what a change of the table adds that its counters were made ready for.
    #[inline]
    pub(crate) fn tally(&self, region: &Region, added: Counted) {
        if added == Counted::default() || self.counter == 0 {
            return;
        }
        let [keys, bytes] = [0, WORD].map(|offset| region.word(self.counter + offset));
        if self.row == SHARED {
            keys.fetch_add(added.keys, Relaxed);
            bytes.fetch_add(added.bytes, Relaxed);
        } else {
            keys.store(keys.load(Relaxed).wrapping_add(added.keys), Relaxed);
            bytes.store(bytes.load(Relaxed).wrapping_add(added.bytes), Relaxed);
        }
    }
}

/// The row of the writer slot with this number.
pub(crate) fn row_of(writer: usize) -> u64 {
    (writer as u64).min(SHARED)
}

impl Owner {
    /// Sees to it that changes of a table can be counted from this writer slot, which remembers the last one:
    /// no memory is taken back.
    #[inline]
    pub(crate) fn ready_counters(&self, writer: &mut WriterSlot, table: u16) -> Result<()> {
        if writer.counts == Some(table) { Ok(()) } else { self.ready_other_counters(writer, table) }
    }

    #[inline(never)]
    fn ready_other_counters(&self, writer: &mut WriterSlot, table: u16) -> Result<()> {
        if is_counted(table) && !self.region.has_counters(table) {
            self.back_block(block_of(table))?;
        }
        writer.counter = if is_counted(table) { self.region.layout.counter(writer.row, table) } else { 0 };
        writer.counts = Some(table);
        Ok(())
    }

    #[cold]
    fn back_block(&self, block: u64) -> Result<()> {
        let _turn = lock(&self.pool);
        self.file.back(&self.region, self.region.layout.counter_block(block), COUNTER_BLOCK)?;
        self.region.count_block(block);
        Ok(())
    }

    /// Counts a record that is about to go.
    pub(crate) fn discount(&self, record: Record) {
        let (region, table) = (&self.region, record.header.table());
        if region.has_counters(table) {
            let Counted { keys, bytes } = Counted::of(region, record);
            for (word, gone) in region.counter(SHARED, table).into_iter().zip([keys, bytes]) {
                word.fetch_sub(gone, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::options::Options;
    use crate::record::key::Key;
    use crate::region::geometry::Geometry;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::change::Change;
    use crate::write::update::TableId;

    fn put(memory: &Memory, table: TableId, key: Key<'_>, len: usize, expiry: Option<u64>) {
        memory.put_until(table, key, &vec![1; len], expiry).unwrap();
    }

    fn counted(memory: &Memory, table: TableId) -> (u64, u64) {
        let Counted { keys, bytes } = memory.view().counted(table.number);
        (keys, bytes)
    }

    #[test]
    fn each_way_of_changing_a_record_is_counted() {
        let memory = small(64, 4096);
        let (one, two) = (Key::Integer(1), Key::Bytes(b"two"));
        put(&memory, TABLE, one, 10, None);
        put(&memory, TABLE, two, 100, None);
        assert_eq!(counted(&memory, TABLE), (2, 8 + 10 + 3 + 100));
        put(&memory, TABLE, two, 7, None);
        assert_eq!(counted(&memory, TABLE), (2, 8 + 10 + 3 + 7), "replaced");
        for _ in 0..5 {
            memory.append(TABLE, two, 0, b"0123456789").unwrap();
        }
        assert_eq!(counted(&memory, TABLE), (2, 8 + 10 + 3 + 57), "grown, here and elsewhere");
        memory.append(TABLE, two, 0, &[2; 3000]).unwrap();
        assert_eq!(counted(&memory, TABLE), (2, 8 + 10 + 3 + 3057), "in parts");
        memory.append(TABLE, two, 0, &[2; 3000]).unwrap();
        assert_eq!(counted(&memory, TABLE), (2, 8 + 10 + 3 + 6057), "more of them");
        memory.update(TABLE, one, |_| Change::Word { kind: 0, word: 1 }).unwrap();
        memory.update(TABLE, one, |_| Change::Word { kind: 0, word: 2 }).unwrap();
        assert_eq!(counted(&memory, TABLE), (2, 8 + 8 + 3 + 6057), "a number");
        memory.update(TABLE, one, |_| Change::Expire(Some(1 << 47))).unwrap();
        memory.update(TABLE, two, |_| Change::Delete).unwrap();
        memory.update(TABLE, two, |_| Change::Delete).unwrap();
        assert_eq!(counted(&memory, TABLE), (1, 8 + 8));
        assert_eq!(memory.view().counted(TABLE.number + 1), Counted::default());
    }

    #[test]
    fn what_has_expired_is_counted_until_it_goes() {
        let memory = small(64, 4096);
        put(&memory, TABLE, Key::Integer(1), 10, Some(1));
        put(&memory, TABLE, Key::Integer(2), 10, Some(1));
        put(&memory, TABLE, Key::Integer(2), 20, None);
        assert_eq!(counted(&memory, TABLE), (2, 46), "one of them replaced");
        memory.owner().expire(|| true);
        assert_eq!(counted(&memory, TABLE), (1, 28));
    }

    #[test]
    fn what_one_writer_puts_another_may_delete() {
        let geometry = Some(Geometry { segment_size: 4096, segments_max: 64, buckets: 4 });
        let options = Options { geometry, cleaners: 0, writers: 2, ..Options::with_limit(64 * 4096) };
        let memory = Memory::anonymous(&options).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| (0..50).for_each(|key| put(&memory, TABLE, Key::Integer(key), 2, None)));
        });
        let _seat = memory.owner().take_writer_slot();
        thread::scope(|scope| {
            let delete = |key| memory.update(TABLE, Key::Integer(key), |_| Change::Delete).map(drop).unwrap();
            scope.spawn(move || (0..49).for_each(delete));
        });
        assert_eq!(counted(&memory, TABLE), (1, 10));
    }

    #[test]
    fn a_number_that_is_free_again_counts_nothing() {
        let memory = small(64, 4096);
        put(&memory, TABLE, Key::Integer(1), 2, None);
        let row = memory.view().region.counter(3, TABLE.number);
        row[0].fetch_add(5, Relaxed);
        memory.drop_table(TABLE.number).unwrap();
        while memory.clean().unwrap() {}
        assert_eq!(counted(&memory, TABLE), (0, 0), "nor what somebody has counted wrong");
    }

    #[test]
    fn a_wrong_count_is_found() {
        let memory = small(64, 4096).broken();
        put(&memory, TABLE, Key::Integer(1), 2, None);
        assert_eq!(memory.verify().miscounted_tables, Vec::<u16>::new());
        memory.view().region.counter(0, TABLE.number)[1].fetch_add(1, Relaxed);
        memory.view().region.counter(0, 200)[0].fetch_add(1, Relaxed);
        assert_eq!(memory.verify().miscounted_tables, [TABLE.number, 200]);
    }
}
