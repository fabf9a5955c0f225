//! A decoded block as a cache keeps it, and ways to hold one.
//!
//! ```text
//! | counter | key, next | starts of entries 0, stride, 2 stride, … | decoded bytes |      one piece of memory
//! ```

use super::HINTS;
use crate::log::entry::Head;
use crate::log::header::LogHeader;
use arc_swap::Guard;
use hammerspace_bytes::field::get_u64;
use std::fmt;
use std::mem::size_of;
use std::ops::{Deref, Range};
use triomphe::ThinArc;

/// Which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) table: u64,
    pub(super) offset: u64,
}

impl Key {
    #[inline]
    pub(super) fn hash(self) -> u64 {
        // Two rounds of multiply and fold.
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        fold(fold(self.offset ^ 0x9e37_79b9_7f4a_7c15, self.table | 0xa076_1d64_0000_0001), 0xe703_7ed1_a0b4_28db)
    }
}

/// A decoded block, all of it in one piece of memory.
pub(crate) type Block = ThinArc<Place, u8>;

/// Where a block belongs, and where its entries start.
pub(crate) struct Place {
    pub(super) key: Key,
    /// Offset of the block after it.
    pub(super) next: usize,
    pub(super) starts: Starts,
}

/// Starts that are kept with a block.
pub(super) const STARTS: usize = 32;

/// Where entries start in a decoded block: every one, or every 2nd, 4th, 8th, … of many.
pub(crate) struct Starts {
    /// The n-th known start is that of entry n << `stride_bits`.
    stride_bits: u32,
    known: usize,
    at: [u32; STARTS],
}

impl Starts {
    /// Those of the block `bytes`, up to its end or to what breaks the rules of `header`.
    pub(super) fn of(bytes: &[u8], header: &LogHeader) -> Self {
        let mut starts = Self { stride_bits: 0, known: 0, at: [0; STARTS] };
        let (mut at, mut index) = (0, 0);
        while at < bytes.len() {
            starts.note(at, index);
            // What is broken here is found by whoever reads on from here.
            match Head::parse(&bytes[at..]) {
                Ok(head) if header.admits(head) && head.entry_len() <= (bytes.len() - at) as u64 => {
                    (at, index) = (at + head.entry_len() as usize, index + 1);
                }
                _ => break,
            }
        }
        starts
    }

    fn note(&mut self, at: usize, index: usize) {
        if !index.is_multiple_of(1 << self.stride_bits) {
            return;
        }
        if self.known == STARTS {
            // Every other one makes room for as many more.
            for half in 0..STARTS / 2 {
                self.at[half] = self.at[2 * half];
            }
            (self.known, self.stride_bits) = (STARTS / 2, self.stride_bits + 1);
        }
        self.at[self.known] = at as u32;
        self.known += 1;
    }

    /// The last known start that is not behind entry `index`, and whose it is.
    #[inline]
    fn nearest(&self, index: u32) -> (usize, u32) {
        let nth = (index >> self.stride_bits).min(self.known.saturating_sub(1) as u32);
        (self.at[nth as usize] as usize, nth << self.stride_bits)
    }

    /// What a set keeps of them, a byte each.
    pub(super) fn hints(&self, unit_bits: u32) -> [u64; HINTS] {
        if self.stride_bits > 0 {
            return [0; HINTS];
        }
        let bytes = self.at.map(|at| (at >> unit_bits) as u8);
        std::array::from_fn(|word| get_u64(&bytes, 8 * word))
    }
}

/// Bytes that `block` takes, with its counter and what an allocator adds.
pub(super) fn weight(block: &Block) -> usize {
    block.slice.len() + size_of::<Place>() + 4 * size_of::<usize>()
}

/// A block that was found. Holds it without touching a counter that other threads touch.
pub(crate) struct Hit(pub(super) Guard<Option<Block>>);

impl Hit {
    /// All of it.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.block().slice
    }

    /// Offset of the block after it.
    #[inline]
    pub(crate) fn next(&self) -> usize {
        self.block().header.header.next
    }

    /// The last known start of an entry that is not behind number `index`, and that entry's number.
    #[inline]
    pub(crate) fn nearest(&self, index: u32) -> (usize, u32) {
        self.block().header.header.starts.nearest(index)
    }

    #[inline]
    fn block(&self) -> &Block {
        self.0.as_ref().expect("hits are made of blocks")
    }
}

/// A value in a block that a cache shares with us: derefs to its bytes.
#[derive(Clone)]
pub struct CachedValue {
    block: Block,
    range: Range<usize>,
}

impl CachedValue {
    pub(crate) fn new(hit: Hit, range: Range<usize>) -> Self {
        let block = Guard::into_inner(hit.0).expect("hits are made of blocks");
        Self { block, range }
    }
}

impl Deref for CachedValue {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.block.slice[self.range.clone()]
    }
}

impl PartialEq for CachedValue {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for CachedValue {}

impl fmt::Debug for CachedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compression;

    /// As many puts of the empty key, and where they start.
    fn block(entries: usize) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for entry in 0..entries {
            starts.push(bytes.len());
            bytes.extend([1, (entry % 50) as u8]);
            bytes.extend(vec![0; entry % 50]);
        }
        (bytes, starts)
    }

    fn starts_of(bytes: &[u8]) -> Starts {
        Starts::of(bytes, &LogHeader { max_value_len: 49, ..LogHeader::empty(1, Compression::Snappy, 1 << 20) })
    }

    #[test]
    fn the_nearest_start_is_one_and_near() {
        for entries in [1, 2, 31, 32, 33, 64, 65, 1000] {
            let (bytes, expected) = block(entries);
            let starts = starts_of(&bytes);
            for index in 0..entries as u32 {
                let (at, nearest) = starts.nearest(index);
                assert_eq!(at, expected[nearest as usize]);
                assert!(
                    nearest <= index && (index - nearest) as usize <= entries / (STARTS / 2),
                    "{index} of {entries}"
                );
            }
            let last = starts.nearest(u32::MAX).1;
            assert!((last as usize) < entries);
        }
    }

    #[test]
    fn starts_end_where_the_rules_are_broken() {
        let (mut bytes, expected) = block(20);
        bytes[expected[10] + 1] = 50; // longer than any the header counts
        let starts = starts_of(&bytes);
        assert_eq!(starts.nearest(19), (expected[10], 10));
        assert_eq!(starts_of(&bytes[..expected[5] + 3]).nearest(19), (expected[5], 5));
    }

    #[test]
    fn hints_name_the_units_that_entries_start_in() {
        let (bytes, expected) = block(STARTS);
        let hints = starts_of(&bytes).hints(3);
        for (index, start) in expected.iter().enumerate() {
            assert_eq!(hints[index / 8] >> (index % 8 * 8) & 0xff, *start as u64 / 8);
        }
        assert_eq!(starts_of(&block(STARTS + 1).0).hints(3), [0; HINTS]);
    }
}
