//! A slot: eight bytes, always changed as a whole.
//!
//! ```text
//! from its lowest bit on: | location 37 | disk 1 | displacement 4 | tag 22: the first bits of the hash |
//! location:               the record's address in words; of a record on disk alone: | offset 21 | D-segment 16 |
//! ```
//!
//! Zero is an empty slot: no record lies at the start of the region. A *reserved* slot has location 1, where
//! none lies either: no lookup finds it. `disk` is zero until there is a log.

use crate::region::geometry::WORD;

const LOCATION: u64 = (1 << 37) - 1;
/// The location of what is reserved.
const RESERVED: u64 = 1;
const MATCH_SHIFT: u32 = 38;
const TAG_SHIFT: u32 = 42;

/// The content of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(pub(crate) u64);

impl Slot {
    pub(crate) const EMPTY: Self = Self(0);

    /// A slot for this hash, this far from its home.
    #[inline]
    pub(crate) fn new(hash: u64, displacement: u64, address: u64) -> Self {
        Self(hash >> TAG_SHIFT << TAG_SHIFT | displacement << MATCH_SHIFT | (address / WORD))
    }

    /// A slot that is kept for a key of this hash, and names no record: it leads to a word of the superblock,
    /// where there are none.
    #[inline]
    pub(crate) fn reserved(hash: u64, displacement: u64) -> Self {
        Self::new(hash, displacement, RESERVED * WORD)
    }

    /// Whether it is kept for a key that is not there yet.
    pub(crate) fn is_reserved(self) -> bool {
        self.0 & LOCATION == RESERVED
    }

    /// The same key's slot, its record elsewhere.
    pub(crate) fn moved_to(self, address: u64) -> Self {
        Self(self.0 & !LOCATION | (address / WORD))
    }

    /// The same slot, its key's record where it is, this far from home.
    pub(crate) fn displaced(self, displacement: u64) -> Self {
        Self(self.0 & !(15 << MATCH_SHIFT) | displacement << MATCH_SHIFT)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Where its record lies.
    pub(crate) fn address(self) -> u64 {
        (self.0 & LOCATION) * WORD
    }

    pub(crate) fn displacement(self) -> u64 {
        self.0 >> MATCH_SHIFT & 15
    }

    /// The first 22 bits of the hash, where the hash has them.
    pub(crate) fn prefix(self) -> u64 {
        self.0 >> TAG_SHIFT << TAG_SHIFT
    }

    /// Whether it may name the record of a key of this hash, found this far from the key's home.
    #[inline]
    pub(crate) fn may_be(self, hash: u64, displacement: u64) -> bool {
        let wanted = Self::new(hash, displacement, 0);
        // The rest is the location: neither that of an empty slot nor that of a reserved one. A single
        // comparison, since lookups ask seven times.
        (RESERVED + 1..1 << MATCH_SHIFT).contains(&(self.0 ^ wanted.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_gives_back_what_it_was_made_of() {
        let hash = 0xfedc_ba98_7654_3210;
        let slot = Slot::new(hash, 15, (1 << 40) - 8);
        assert_eq!((slot.address(), slot.displacement()), ((1 << 40) - 8, 15));
        assert!(slot.may_be(hash, 15) && !slot.may_be(hash, 14) && !slot.may_be(hash ^ 1 << 42, 15));
        assert!(slot.may_be(hash ^ 1, 15), "the tag is the first 22 bits");
        assert_eq!(slot.prefix(), hash >> 42 << 42);
        let moved = slot.moved_to(4096).displaced(2);
        assert_eq!((moved.address(), moved.displacement(), moved.prefix()), (4096, 2, slot.prefix()));
        assert!(!Slot::EMPTY.may_be(0, 0) && Slot::EMPTY.is_empty());
        assert!(!Slot::new(hash, 3, 0).may_be(hash, 3), "no record is there");
        let reserved = Slot::reserved(hash, 3);
        assert!(reserved.is_reserved() && !slot.is_reserved() && !Slot::EMPTY.is_reserved());
        assert!(!reserved.may_be(hash, 3) && !Slot::new(0, 0, 8).may_be(0, 0), "nor is one there");
        assert!(Slot::new(0, 0, 16).may_be(0, 0) && Slot::new(hash, 0, (1 << 40) - 8).may_be(hash, 0));
    }
}
