//! Decoded blocks, kept for whoever reads them next: bounded in bytes, shared by threads and tables.
//!
//! ```text
//! (table, offset) ── hash ──► set:   | tag | tag | … 8     32 bits of the hash; 0 = empty
//!                                    | used bits           CLOCK: read since the hand passed
//!                                    | ghost | ghost | … 6 tags that were asked for lately, and are not here
//!                                    | block | block | … 8 pointers: `block.rs`
//!                                    | hints | hints | … 8 where a block's first entries start, roughly
//! ```
//! 1. A hit takes no lock and writes nothing that other threads read, but for a used bit that was not set.
//! 2. A block never changes. Whoever holds one keeps it alive, evicted or not.
//! 3. The bytes of the blocks in the sets never exceed the bound. A block that does not fit is simply not kept.
//! 4. Tags and hints are just that: a slot may be torn between two writers. What a block is and where its entries start,
//!    it says itself.
//!
//! Once the cache is full, a block enters when it is asked for a second time within a while, while its tag is a ghost: to
//! decode all of a block, and to evict another, for every key that is read once would cost more than the cache gives.
//!
//! Hints let the misses on a block's front and on the entry in it overlap; without, the second would wait for the first.
//!
//! CLOCK: F. J. Corbató, "A Paging Experiment with the Multics System" (1968).

mod block;

pub use block::CachedValue;
pub(crate) use block::Hit;

use crate::log::header::LogHeader;
use arc_swap::ArcSwapAny;
use block::{Block, Key, Place, STARTS, Starts, weight};
use hammerspace_os::{prefetch, process};
use std::fmt;
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

/// As many as fill the first line of a set.
const GHOSTS: usize = 6;

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
    /// The ghost to be replaced next, modulo their number.
    oldest: AtomicU32,
    ghosts: [AtomicU32; GHOSTS],
    blocks: [ArcSwapAny<Option<Block>>; WAYS],
    /// Where the first entries start in their blocks, roughly: a byte each.
    hints: [[AtomicU64; HINTS]; WAYS],
}

/// What a cache of so many bytes may keep: its slots are made at once, and more than there is memory would end the process.
fn bound(bytes: usize) -> usize {
    bytes.min(process::memory())
}

impl BlockCache {
    /// A cache that keeps up to `bytes` of decoded blocks, no more than the machine has memory, and what is needed to find entries in them. It takes 3 % more, at
    /// once, for the slots, of which there is one for every 2 KiB: smaller blocks may run out of slots before bytes.
    pub fn new(bytes: usize) -> Self {
        let bytes = bound(bytes);
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

    /// Whether the block `key`, of `len` bytes at most, should be put here.
    fn wants(&self, key: Key, len: usize) -> bool {
        let (set, tag) = self.place(key);
        self.bytes() + len <= self.bytes_max || set.was_asked_for(tag)
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
    /// Whether the tag is a ghost, which it will be from now on.
    fn was_asked_for(&self, tag: u32) -> bool {
        if self.ghosts.iter().any(|ghost| ghost.load(Relaxed) == tag) {
            return true;
        }
        let oldest = self.oldest.fetch_add(1, Relaxed) as usize % GHOSTS;
        self.ghosts[oldest].store(tag, Relaxed);
        false
    }

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
        f.debug_struct("BlockCache")
            .field("bytes", &self.bytes())
            .field("bytes_max", &self.bytes_max)
            .finish_non_exhaustive()
    }
}

/// The part of a cache that is a table's.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    cache: Arc<BlockCache>,
    table: u64,
    /// Most bytes that a block has.
    block_size: u32,
    /// A hint of 8 bits counts units of so many bits: as few as its largest blocks need.
    unit_bits: u32,
}

impl Share {
    /// A part of `cache` that no other table has; for blocks of up to `block_size` bytes.
    pub(crate) fn new(cache: Arc<BlockCache>, block_size: u32) -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        let unit_bits = (u32::BITS - block_size.leading_zeros()).saturating_sub(8);
        Self { cache, table: TABLES.fetch_add(1, Relaxed), block_size, unit_bits }
    }

    /// The block at `offset` of the log, if it is there, for somebody who wants its entry `index`.
    #[inline]
    pub(crate) fn get(&self, offset: usize, index: u32) -> Option<Hit> {
        self.cache.get(self.key(offset), index, self.unit_bits)
    }

    /// Whether the block at `offset`, which is not here, should be.
    pub(crate) fn wants(&self, offset: usize) -> bool {
        self.cache.wants(self.key(offset), self.block_size as usize)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compression;
    use fastrand::Rng;

    fn header() -> LogHeader {
        LogHeader { max_value_len: 1000, max_key_len: 1000, ..LogHeader::empty(1, Compression::Snappy, 4096) }
    }

    /// A block that tells its offset: puts of the empty key.
    fn block(offset: usize) -> Vec<u8> {
        [&[1, 8][..], &(offset as u64).to_le_bytes()].concat().repeat(1 + offset * 7919 % 300)
    }

    /// Reads a block through the cache, and holds it against what it should be.
    fn read(share: &Share, offset: usize) -> bool {
        let Some(hit) = share.get(offset, 1) else {
            share.put(&block(offset), offset, offset + 1, &header());
            return false;
        };
        assert_eq!((hit.bytes(), hit.next()), (&block(offset)[..], offset + 1), "another block");
        true
    }

    fn share_of(bytes: usize) -> Share {
        Share::new(Arc::new(BlockCache::new(bytes)), 4096)
    }

    fn counted(cache: &BlockCache) -> usize {
        let blocks = cache.sets.iter().flat_map(|set| &set.blocks);
        blocks.filter_map(|block| block.load().as_ref().map(weight)).sum()
    }

    #[test]
    fn no_cache_is_larger_than_memory() {
        assert!((1 << 20..=process::memory()).contains(&bound(usize::MAX)));
        assert_eq!(bound(1 << 20), 1 << 20);
    }

    #[test]
    fn what_was_put_is_found_and_its_bytes_are_counted() {
        let share = share_of(1 << 20);
        for round in 0..2 {
            for offset in 0..200 {
                assert_eq!(read(&share, offset), round == 1, "block {offset}");
            }
        }
        assert_eq!(share.cache.bytes(), counted(&share.cache));
        assert!(Share::new(Arc::clone(&share.cache), 4096).get(0, 0).is_none(), "another table's");
    }

    #[test]
    fn the_bound_holds_and_what_is_used_stays() {
        let share = share_of(100_000);
        for offset in 0..10_000 {
            read(&share, offset);
            assert!(offset < 10 || read(&share, 7), "a block that is read all the time is evicted");
            assert!(share.cache.bytes() <= share.cache.bytes_max());
        }
        assert_eq!(share.cache.bytes(), counted(&share.cache));
        assert!(share.cache.bytes() > share.cache.bytes_max() / 2);
    }

    #[test]
    fn a_full_cache_takes_what_is_asked_for_twice() {
        let share = Share::new(Arc::new(BlockCache::new(100_000)), 1 << 15);
        assert!(share.wants(0), "there is room");
        (0..1000).for_each(|offset| assert!(!read(&share, offset)));
        assert!(!share.wants(2000), "asked for once");
        assert!(share.wants(2000), "asked for twice");
        assert_eq!((3000..4000).filter(|offset| share.wants(*offset)).count(), 0);
        assert!(!share.wants(2000), "that was long ago");
    }

    #[test]
    fn a_block_larger_than_the_cache_is_not_kept() {
        for bytes in [0, 1, 500] {
            let share = share_of(bytes);
            assert!(!read(&share, 299) && !read(&share, 299));
            assert_eq!(share.cache.bytes(), 0);
        }
    }

    #[test]
    fn threads_get_the_blocks_they_ask_for() {
        let share = share_of(200_000);
        let hits: usize = std::thread::scope(|scope| {
            let reader = |seed| {
                let share = &share;
                move || {
                    let mut rng = Rng::with_seed(seed);
                    (0..20_000).filter(|_| read(share, rng.usize(..300).min(rng.usize(..300)))).count()
                }
            };
            let threads: Vec<_> = (0..4).map(|seed| scope.spawn(reader(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(hits > 1000, "{hits} hits");
        assert_eq!(share.cache.bytes(), counted(&share.cache));
    }

    #[test]
    #[should_panic(expected = "another block")]
    fn canary_a_block_of_another_place_is_noticed() {
        let share = share_of(1 << 20);
        share.put(&block(2), 1, 2, &header());
        read(&share, 1);
    }
}
