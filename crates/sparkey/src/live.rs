//! Live entries, in log order.
//!
//! A put is live if the index points to it. To ask the index costs a cache miss for each put, in an order that no processor
//! foresees; so it is asked as little as can be:
//!
//! - Where the index counts as many keys as puts, and no garbage, every put is live and the index is not asked at all. That is
//!   its header's promise, and is taken at its word for that many puts; should there be more, they are asked about.
//! - Where nothing is compressed, the index is asked about the first puts. Who goes on after these will probably go on to the end:
//!   then all slots are read once, from left to right, for a [`LiveBitmap`] of the puts that they point to.
//! - In blocks, decoding takes longer than the miss.

use crate::fast_path::{SlotShape, dispatch};
use crate::index::Index;
use crate::index::header::IndexHeader;
use crate::log::entries::Entries;
use crate::log::entry::Entry;
use crate::table::Table;
use hammerspace_bytes::field::get_uint;
use hammerspace_error::Result;

/// To ask about one put takes about as long as to read so many slots in a row.
const SLOTS_FOR_ONE: usize = 64;

/// Iterates over the live entries of a [`Table`], in log order. Ends after an error.
pub struct Live<'a, L, I> {
    table: &'a Table<L, I>,
    entries: Entries<'a>,
    /// Puts that are live by the word of the header.
    promised: u64,
    /// Puts to ask about before there shall be a bitmap.
    patience: usize,
    bitmap: LiveBitmap,
}

impl<'a, L: AsRef<[u8]>, I: AsRef<[u8]>> Live<'a, L, I> {
    /// Over `entries`.
    pub(crate) fn new(table: &'a Table<L, I>, entries: Entries<'a>) -> Self {
        let patience = if table.slot_shape() == SlotShape::General {
            usize::MAX
        } else {
            table.index().shape().capacity / SLOTS_FOR_ONE
        };
        let bitmap = LiveBitmap::of_parts(PART.max(table.data().len() / PARTS));
        Self { table, entries, promised: promised(table.index().header()), patience, bitmap }
    }
}

/// The puts that must all be live, from the first on: each of them made a key.
fn promised(index: &IndexHeader) -> u64 {
    if index.num_entries == index.num_puts && index.garbage_size == 0 { index.num_puts } else { 0 }
}

impl<'a, L: AsRef<[u8]>, I: AsRef<[u8]>> Iterator for Live<'a, L, I> {
    type Item = Result<Entry<'a>>;

    #[expect(
        clippy::inline_always,
        clippy::redundant_closure_for_method_calls,
        reason = "as `next_where`; and lifetimes"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let Self { table, entries, promised, patience, bitmap } = self;
        if *promised > 0 {
            *promised -= 1;
            return entries.next_where(|entry| entry.is_put());
        }
        if *patience == 0 {
            return entries.next_where(|entry| entry.is_put() && bitmap.has(table, entry.address.offset as usize));
        }
        entries.next_where(|entry| {
            *patience = patience.saturating_sub(1);
            entry.is_put() && table.has(&entry.key, entry.address)
        })
    }
}

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> std::iter::FusedIterator for Live<'_, L, I> {}

/// Which offsets of a part of an uncompressed log the index points to.
///
/// Takes a bit for every two bytes of the part, which no two puts share. The index is read again for the next part.
struct LiveBitmap {
    start: usize,
    /// Bytes of the log in a part, at most.
    most: usize,
    /// A bit for every two bytes from `start` on: the shortest put has two. The last word is for offsets outside the part.
    bits: Vec<u64>,
}

/// Bytes of the log in one part: 32 MiB of memory.
const PART: usize = 512 << 20;

/// Parts of a longer log, at most.
const PARTS: usize = 32;

/// Bytes of the log that share a word.
const WORD: usize = 2 * 64;

impl LiveBitmap {
    /// None taken yet.
    fn of_parts(most: usize) -> Self {
        Self { start: 0, most, bits: Vec::new() }
    }

    /// Whether the index points to the put at `offset`.
    #[inline]
    fn has<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>, offset: usize) -> bool {
        let mut bit = self.bit(offset);
        if bit.0 + 1 >= self.bits.len() {
            self.fill_for(table, offset);
            bit = self.bit(offset);
        }
        self.bits[bit.0] & bit.1 != 0
    }

    /// The word for an offset, perhaps one that does not exist, and the bit in it.
    #[inline]
    fn bit(&self, offset: usize) -> (usize, u64) {
        let from_start = offset.wrapping_sub(self.start);
        (from_start / WORD, 1 << (from_start / 2 % 64))
    }

    /// Takes it for the part of the log that starts at `offset`.
    #[cold]
    fn fill_for<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>, offset: usize) {
        let len = self.most.min(table.data().len() - offset);
        self.start = offset;
        self.bits = vec![0; len.div_ceil(WORD) + 1];
        dispatch!(table.mark_in(self), else unreachable!("blocks are asked about one by one"));
    }

    /// Reads the slots, whose hashes and addresses have so many bytes.
    fn mark<const HASH: usize, const ADDRESS: usize>(&mut self, index: &Index<impl AsRef<[u8]>>) {
        let outside = self.bits.len() - 1;
        for slot in index.table().chunks_exact(HASH + ADDRESS) {
            let address = index.shape().unpack(get_uint(slot, HASH, ADDRESS));
            // Which slots are empty, or point outside, cannot be foreseen: no branch.
            let (word, bit) = self.bit(address.offset as usize);
            self.bits[word.min(outside)] |= bit;
        }
    }
}

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Table<L, I> {
    fn mark_in<const HASH: usize, const ADDRESS: usize>(&self, bitmap: &mut LiveBitmap) {
        bitmap.mark::<HASH, ADDRESS>(self.index());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexOptions, Log, LogOptions, LogWriter, build_index};
    use fastrand::Rng;
    use std::io::Cursor;

    /// Of random puts and deletes, of few keys: most puts are dead.
    fn table(rng: &mut Rng) -> Table<Vec<u8>, Vec<u8>> {
        let mut log = Cursor::new(Vec::new());
        let mut writer = LogWriter::create(&mut log, &LogOptions::default()).unwrap();
        for _ in 0..rng.usize(1..2000) {
            let key = rng.u16(..500).to_le_bytes();
            if rng.u8(..4) == 0 {
                writer.delete(&key)
            } else {
                writer.put(&key[..rng.usize(..=2)], &[0; 9][..rng.usize(..=9)])
            }
            .unwrap();
        }
        writer.finish().unwrap();
        let log = Log::open(log.into_inner()).unwrap();
        let index = Index::open(build_index(&log, &IndexOptions::default()).unwrap()).unwrap();
        Table::join(log, index).unwrap()
    }

    /// Puts about which a bitmap of such parts, and the index asked one by one, do not agree.
    fn disputed(table: &Table<Vec<u8>, Vec<u8>>, part: usize) -> usize {
        let mut bitmap = LiveBitmap::of_parts(part);
        let entries = table.log().entries().map(Result::unwrap).filter(Entry::is_put);
        let disputed = entries
            .filter(|entry| bitmap.has(table, entry.address.offset as usize) != table.has(&entry.key, entry.address));
        disputed.count()
    }

    #[test]
    fn the_bitmap_has_what_the_index_says_when_asked() {
        let seed = Rng::new().u64(..);
        let mut rng = Rng::with_seed(seed);
        for _ in 0..30 {
            let table = table(&mut rng);
            for part in [1, 128, 1000, PART] {
                assert_eq!(disputed(&table, part), 0, "seed {seed}, parts of {part} bytes");
            }
        }
    }

    #[test]
    fn canary_a_slot_that_points_elsewhere_is_noticed() {
        let (log, index) = table(&mut Rng::with_seed(1)).into_parts();
        let (mut bytes, size) = (index.bytes().to_vec(), index.shape().slot_size());
        // The first slot that is taken, whose put nobody will find by its address now.
        let taken = bytes[IndexHeader::SIZE..].chunks_exact_mut(size).find(|slot| slot[size - 1] | slot[size - 4] > 0);
        taken.unwrap()[..4].fill(0xee);
        let table = Table::join(log, Index::open(bytes).unwrap()).unwrap();
        assert_eq!(disputed(&table, PART), 1, "the bitmap looks at addresses only");
    }
}
