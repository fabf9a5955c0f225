//! Live entries, in log order.
//!
//! A put is live if the index points to it. To ask the index costs a cache miss for each put, in an order that no processor
//! foresees; so this is done in one of three ways:
//!
//! - Where the index counts as many keys as puts, and no garbage, every put is live and the index is not asked at all. That is
//!   its header's promise, and is taken at its word for that many puts; should there be more, they are asked about.
//! - Where nothing is compressed, a scout goes before, hashes keys, and asks for the slots that will be looked at.
//! - In blocks, decoding takes longer than the miss.

use crate::index::Index;
use crate::index::header::IndexHeader;
use crate::log::entries::{Entries, plain_entry};
use crate::log::entry::Entry;
use crate::table::Table;
use hammerspace_error::Result;

/// Entries that the scout looks at in one go.
const AHEAD: usize = 64;

/// Iterates over the live entries of a [`Table`], in log order. Ends after an error.
pub struct Live<'a, L, I> {
    table: &'a Table<L, I>,
    entries: Entries<'a>,
    /// Puts that are live by the word of the header.
    promised: u64,
    scout: Option<Scout<'a>>,
}

/// Reads uncompressed entries ahead of time.
struct Scout<'a> {
    data: &'a [u8],
    /// Where the next entry starts that it has not seen.
    at: usize,
    /// Hashes of the keys that it saw last.
    hashes: [u64; AHEAD],
    /// Entries that the reader has seen.
    read: usize,
}

impl<'a, L: AsRef<[u8]>, I: AsRef<[u8]>> Live<'a, L, I> {
    /// Over `entries`, whose first is at `offset`.
    pub(crate) fn new(table: &'a Table<L, I>, entries: Entries<'a>, offset: usize) -> Self {
        let promised = promised(table.index().header());
        let scout = (promised == 0 && table.is_plain()).then(|| Scout::new(table.data(), offset));
        Self { table, entries, promised, scout }
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
        if self.promised > 0 {
            self.promised -= 1;
            return self.entries.next_where(|entry| entry.is_put());
        }
        let (table, index) = (self.table, self.table.index());
        match &mut self.scout {
            Some(scout) => self.entries.next_where(|entry| {
                let hash = scout.advance(index);
                entry.is_put() && table.holds(hash, entry.address)
            }),
            None => self.entries.next_where(|entry| entry.is_put() && table.has(&entry.key, entry.address)),
        }
    }
}

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> std::iter::FusedIterator for Live<'_, L, I> {}

impl<'a> Scout<'a> {
    fn new(data: &'a [u8], at: usize) -> Self {
        Self { data, at, hashes: [0; AHEAD], read: 0 }
    }

    /// The hash of the key that the reader is at.
    #[inline]
    fn advance<I: AsRef<[u8]>>(&mut self, index: &Index<I>) -> u64 {
        let place = self.read % AHEAD;
        if place == 0 {
            self.look_ahead(index);
        }
        self.read += 1;
        self.hashes[place]
    }

    /// Hashes some more keys, then asks for their slots: all at once, as a core waits for several as long as for one.
    fn look_ahead<I: AsRef<[u8]>>(&mut self, index: &Index<I>) {
        for hash in &mut self.hashes {
            // The end, or damage that the reader will meet.
            let Some((entry, next)) = plain_entry(self.data, self.at).ok() else {
                break;
            };
            self.at = next;
            *hash = index.hash(&entry.key);
        }
        for hash in self.hashes {
            index.prefetch(index.shape().wanted(hash));
        }
    }
}
