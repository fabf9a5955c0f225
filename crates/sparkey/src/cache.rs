//! Decoded blocks, kept for whoever reads them next: bounded in bytes, shared by threads and tables.
//!
//! ```text
//! (table, offset) ── hash ──► set:   | tag | tag | … 8     32 bits of the hash; 0 = empty
//!                                    | used bits           CLOCK: read since the hand passed
//!                                    | block | block | … 8
//!                                        │
//!                                        ▼
//! block:  table, offset, next | starts of entries 0, stride, 2 stride, … | decoded bytes
//! ```
//! 1. A hit takes no lock and writes nothing that other threads read, but for a used bit that was not set.
//! 2. A block never changes. Whoever holds one keeps it alive, evicted or not.
//! 3. The bytes of the blocks in the sets never exceed the bound. A block that does not fit is simply not kept.
//! 4. Tags are hints: what a block is says the block. So slots may be torn between two writers, and nobody is misled.
//!
//! Blocks enter unused: one that is read just once leaves before those that were read again.

use crate::log::entry::Head;
use crate::log::header::LogHeader;
use arc_swap::{ArcSwapAny, Guard};
use hammerspace_bytes::field::get_u64;
use hammerspace_os::prefetch;
use std::fmt;
use std::mem::size_of;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use triomphe::ThinArc;

/// A bounded cache of decoded blocks, for [`Table::with_cache`](crate::Table::with_cache). Any number of tables and threads
/// may share one.
pub struct BlockCache {
    sets: Box<[Set]>,
    bytes_max: usize,
    /// Bytes of the blocks in the sets, and of those about to enter.
    bytes: AtomicUsize,
    /// The slot to be looked at next when room is needed.
    hand: AtomicUsize,
}

const WAYS: usize = 8;

/// Lines to ask for where an entry starts: head, key and the begin of its value.
const LINES_AHEAD: usize = 3;

/// Bytes per slot. Half of what a block usually takes: so sets are half full, and rarely overflow.
const BYTES_PER_SLOT: usize = 2048;

/// Words of hints for one block.
const HINTS: usize = STARTS / 8;

/// Slots that blocks of one hash share.
#[repr(align(64))]
#[derive(Default)]
struct Set {
    tags: [AtomicU32; WAYS],
    /// A bit per slot.
    used: AtomicU32,
    blocks: [ArcSwapAny<Option<Block>>; WAYS],
    /// Where the first entries start in their blocks, roughly: a byte each.
    hints: [[AtomicU64; HINTS]; WAYS],
}

impl BlockCache {
    /// A cache that keeps up to `bytes` of decoded blocks and what is needed to find entries in them. It takes 1 % of that
    /// at once, the rest as blocks come. Blocks of less than 2 KiB may be evicted before that many bytes are full.
    pub fn new(bytes: usize) -> Self {
        let sets = (bytes / BYTES_PER_SLOT).div_ceil(WAYS).max(1);
        Self {
            sets: (0..sets).map(|_| Set::default()).collect(),
            bytes_max: bytes,
            bytes: AtomicUsize::new(0),
            hand: AtomicUsize::new(0),
        }
    }

    /// The bound it was made with.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Bytes that it keeps now.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    #[inline]
    fn place(&self, key: Key) -> (&Set, u32) {
        let hash = key.hash();
        let at = (u128::from(hash) * self.sets.len() as u128) >> 64;
        // The high bits chose the set.
        (&self.sets[at as usize], hash as u32 | 1)
    }

    /// The block `key`, if it is there; asks for entry `index` of it, on a hint.
    #[inline]
    fn get(&self, key: Key, index: u32, unit_bits: u32) -> Option<Hit> {
        let (set, tag) = self.place(key);
        for way in 0..WAYS {
            if set.tags[way].load(Relaxed) != tag {
                continue;
            }
            let guard = set.blocks[way].load();
            let Some(block) = guard.as_ref() else { continue };
            if let Some(hints) = set.hints[way].get(index as usize / 8) {
                let hint = hints.load(Relaxed) >> (index % 8 * 8) & 0xff;
                for line in 0..LINES_AHEAD {
                    prefetch(&block.slice, ((hint as usize) << unit_bits) + line * 64);
                }
            }
            if block.header.header.key == key {
                if set.used.load(Relaxed) & 1 << way == 0 {
                    set.used.fetch_or(1 << way, Relaxed);
                }
                return Some(Hit(guard));
            }
        }
        None
    }

    fn put(&self, block: Block, unit_bits: u32) {
        let (set, tag) = self.place(block.header.header.key);
        if !self.make_room(weight(&block)) {
            return;
        }
        let way = set.victim(tag);
        for (word, hints) in set.hints[way].iter().zip(block.header.header.starts.hints(unit_bits)) {
            word.store(hints, Relaxed);
        }
        set.used.fetch_and(!(1 << way), Relaxed);
        self.count_out(set.blocks[way].swap(Some(block)).as_ref());
        set.tags[way].store(tag, Relaxed);
    }

    /// Counts in `weight` more bytes, and evicts as many as are too many. Says whether there is room.
    fn make_room(&self, weight: usize) -> bool {
        if weight > self.bytes_max {
            return false;
        }
        let mut bytes = self.bytes.fetch_add(weight, Relaxed) + weight;
        // Once around to clear used bits, and once to evict.
        let mut steps = 2 * self.sets.len() * WAYS;
        while bytes > self.bytes_max && steps > 0 {
            let hand = self.hand.fetch_add(1, Relaxed) % (self.sets.len() * WAYS);
            let (set, way) = (&self.sets[hand / WAYS], hand % WAYS);
            let is_used = set.used.fetch_and(!(1 << way), Relaxed) & 1 << way != 0;
            if !is_used && set.blocks[way].load().is_some() {
                set.tags[way].store(0, Relaxed);
                self.count_out(set.blocks[way].swap(None).as_ref());
            }
            (bytes, steps) = (self.bytes(), steps - 1);
        }
        if bytes > self.bytes_max {
            self.bytes.fetch_sub(weight, Relaxed);
        }
        bytes <= self.bytes_max
    }

    fn count_out(&self, block: Option<&Block>) {
        if let Some(block) = block {
            self.bytes.fetch_sub(weight(block), Relaxed);
        }
    }
}

impl Set {
    /// The slot for a block with this tag: one that has it already or is empty, or else one unused.
    fn victim(&self, tag: u32) -> usize {
        let tagged = |tag| self.tags.iter().position(|other| other.load(Relaxed) == tag);
        if let Some(way) = tagged(tag).or_else(|| tagged(0)) {
            return way;
        }
        let used = self.used.load(Relaxed);
        let unused = (!used).trailing_zeros() as usize;
        if unused < WAYS {
            return unused;
        }
        self.used.store(0, Relaxed);
        tag as usize / 2 % WAYS
    }
}

impl fmt::Debug for BlockCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCache").field("bytes", &self.bytes()).field("bytes_max", &self.bytes_max).finish()
    }
}

/// Which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    table: u64,
    offset: u64,
}

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        // Two rounds of multiply and fold.
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        fold(fold(self.offset ^ 0x9e37_79b9_7f4a_7c15, self.table | 0xa076_1d64_0000_0001), 0xe703_7ed1_a0b4_28db)
    }
}

/// The part of a cache that is a table's.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    cache: Arc<BlockCache>,
    table: u64,
    /// A hint of 8 bits counts units of so many bits: as few as its largest blocks need.
    unit_bits: u32,
}

impl Shelf {
    /// A part of `cache` that no other table has; for blocks of up to `block_size` bytes.
    pub(crate) fn new(cache: Arc<BlockCache>, block_size: u32) -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        let unit_bits = (u32::BITS - block_size.leading_zeros()).saturating_sub(8);
        Self { cache, table: TABLES.fetch_add(1, Relaxed), unit_bits }
    }

    /// The block at `offset` of the log, if it is there, for somebody who wants its entry `index`.
    #[inline]
    pub(crate) fn get(&self, offset: usize, index: u32) -> Option<Hit> {
        self.cache.get(self.key(offset), index, self.unit_bits)
    }

    /// Keeps the block at `offset`, which decodes to `bytes`, if there is room for it. The next one is at `next`.
    pub(crate) fn put(&self, bytes: &[u8], offset: usize, next: usize, header: &LogHeader) {
        let place = Place { key: self.key(offset), next, starts: Starts::of(bytes, header) };
        self.cache.put(ThinArc::from_header_and_slice(place, bytes), self.unit_bits);
    }

    #[inline]
    fn key(&self, offset: usize) -> Key {
        Key { table: self.table, offset: offset as u64 }
    }
}

/// A block that was found. Holds it without touching a counter that other threads touch.
pub(crate) struct Hit(Guard<Option<Block>>);

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

/// A decoded block, all of it in one piece of memory.
pub(crate) type Block = ThinArc<Place, u8>;

/// Where a block belongs, and where its entries start.
pub(crate) struct Place {
    key: Key,
    /// Offset of the block after it.
    next: usize,
    starts: Starts,
}

/// Starts that are kept with a block.
const STARTS: usize = 32;

/// Where entries start in a decoded block: every one, or every 2nd, 4th, 8th, … of many.
struct Starts {
    /// The n-th known start is that of entry n << `stride_bits`.
    stride_bits: u32,
    known: usize,
    at: [u32; STARTS],
}

impl Starts {
    /// Those of the block `bytes`, up to its end or to what breaks the rules of `header`.
    fn of(bytes: &[u8], header: &LogHeader) -> Self {
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
        if index % (1 << self.stride_bits) != 0 {
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
    fn hints(&self, unit_bits: u32) -> [u64; HINTS] {
        if self.stride_bits > 0 {
            return [0; HINTS];
        }
        let bytes = self.at.map(|at| (at >> unit_bits) as u8);
        std::array::from_fn(|word| get_u64(&bytes, 8 * word))
    }
}

/// Bytes that `block` takes, with its counter and what an allocator adds.
fn weight(block: &Block) -> usize {
    block.slice.len() + size_of::<Place>() + 4 * size_of::<usize>()
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
