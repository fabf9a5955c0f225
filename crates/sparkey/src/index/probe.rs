//! The walk from a key's wanted slot to the right, over the slots that hold its hash.
//!
//! Robin Hood order makes it short: a key that arrives takes the slot of one that is nearer home. So displacement grows by
//! one per slot at most, and ends our walk. A table may be full (1 and 3 puts get 1 and 3 slots) and may be damaged, so
//! the walk also ends after `capacity` slots; never by hope for an empty one.
//!
//! Slots are looked at in groups of four, without a branch between them. How far a key lies from home is a coin toss that the
//! processor cannot predict, and it would wait for the slots to arrive from memory before it starts on the next key. For the
//! same reason all of this is inlined, always.
#![expect(clippy::inline_always, reason = "see above")]

use super::header::HashSize;
use super::slot::{Shape, Slot};
use hammerspace_bytes::field::get_uint;

/// Slots that are looked at together. At a load of 0.77 a key that is there lies 1.7 slots from home on average.
pub(crate) const GROUP: usize = 4;

/// The slots that hold `hash`, with their numbers.
pub(crate) struct Probe<'a> {
    table: &'a [u8],
    shape: Shape,
    hash: u64,
    /// The first slot of the group, and how far it lies from home.
    at: usize,
    displacement: usize,
    group: Group,
}

/// What was seen of some slots side by side.
#[derive(Clone, Copy)]
struct Group {
    /// How many there are.
    len: usize,
    /// A bit for each that has our hash and was not handed out yet, the lowest for the first.
    matches: u32,
    /// Whether one of them is empty.
    empty: bool,
}

impl<'a> Probe<'a> {
    #[inline(always)]
    pub(crate) fn new(table: &'a [u8], shape: Shape, hash: u64) -> Self {
        let at = shape.wanted(hash);
        Self { table, shape, hash, at, displacement: 0, group: Group::at(table, shape, at, 0, hash) }
    }

    /// Whether our key cannot lie behind the group: there is an empty slot before, or a key that is nearer home than ours
    /// would be, or we have come around.
    #[expect(clippy::needless_bitwise_bool, reason = "one branch that is nearly always taken, not three that may be")]
    #[inline(always)]
    fn is_over(&self) -> bool {
        let last = self.group.len - 1;
        let (at, displacement) = (self.at + last, self.displacement + last);
        self.group.empty
            | (displacement + 1 >= self.shape.capacity)
            | (displacement > self.shape.displacement(at, self.shape.get(self.table, at).hash))
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.at += self.group.len;
        if self.at == self.shape.capacity {
            self.at = 0;
        }
        self.displacement += self.group.len;
        self.group = Group::at(self.table, self.shape, self.at, self.displacement, self.hash);
    }
}

impl Iterator for Probe<'_> {
    type Item = (usize, Slot);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.group.matches != 0 {
                let at = self.at + self.group.matches.trailing_zeros() as usize;
                self.group.matches &= self.group.matches - 1;
                let slot = self.shape.get(self.table, at);
                // An empty slot looks like one with a hash of 0.
                if !slot.is_empty() {
                    return Some((at, slot));
                }
            } else if self.is_over() {
                return None;
            } else {
                self.advance();
            }
        }
    }
}

impl Group {
    /// Looks at the slots from `at` on: one by one where the table ends soon, or the walk.
    #[inline(always)]
    fn at(table: &[u8], shape: Shape, at: usize, displacement: usize, hash: u64) -> Self {
        let slots = &table[at * shape.slot_size()..];
        if shape.capacity - at < GROUP || shape.capacity - displacement < GROUP {
            return Self::one(shape.get(slots, 0), hash);
        }
        match (shape.hash_size, shape.address_size) {
            (HashSize::Four, 4) => Self::four::<4, 4>(slots, hash),
            (HashSize::Four, _) => Self::four::<4, 8>(slots, hash),
            (HashSize::Eight, 4) => Self::four::<8, 4>(slots, hash),
            (HashSize::Eight, _) => Self::four::<8, 8>(slots, hash),
        }
    }

    #[cold]
    fn one(slot: Slot, hash: u64) -> Self {
        Self { len: 1, matches: u32::from(slot.hash == hash), empty: slot.is_empty() }
    }

    #[inline(always)]
    fn four<const HASH: usize, const ADDRESS: usize>(slots: &[u8], hash: u64) -> Self {
        let slots = &slots[..GROUP * (HASH + ADDRESS)];
        let mut group = Self { len: GROUP, matches: 0, empty: false };
        for nth in 0..GROUP {
            let offset = nth * (HASH + ADDRESS);
            group.matches |= u32::from(get_uint(slots, offset, HASH) == hash) << nth;
            group.empty |= get_uint(slots, offset + HASH, ADDRESS) == 0;
        }
        group
    }
}
