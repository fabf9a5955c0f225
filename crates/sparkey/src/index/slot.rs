//! Slots: how the table is cut, and where a key belongs in it.
//!
//! ```text
//! slot:     | hash 4|8 B | address 4|8 B |                 little-endian; address 0 = empty
//! address:  | offset in the log …………………… | index in block |
//!                                          entry_block_bits
//! ```

use super::header::{HashSize, IndexHeader};
use crate::log::entry::Address;
use hammerspace_bytes::Modulus;
use hammerspace_bytes::field::get_uint;

/// A key's hash, and where its put lies in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) hash: u64,
    pub(crate) address: u64,
}

impl Slot {
    pub(crate) const EMPTY: Self = Self { hash: 0, address: 0 };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.address == 0
    }
}

/// How a table is cut into slots. Every method takes the table's bytes: `capacity * slot_size` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) hash_size: HashSize,
    pub(crate) address_size: usize,
    pub(crate) block_bits: u32,
    pub(crate) capacity: usize,
    /// The capacity again: a division would cost as much as all else a lookup computes.
    modulus: Modulus,
}

impl Shape {
    pub(crate) fn new(hash_size: HashSize, address_size: usize, block_bits: u32, capacity: usize) -> Self {
        Self { hash_size, address_size, block_bits, capacity, modulus: Modulus::new(capacity as u64) }
    }

    /// The shape that a checked header describes.
    pub(crate) fn of(header: &IndexHeader) -> Self {
        Self::new(
            header.hash_size,
            header.address_size as usize,
            header.entry_block_bits,
            header.hash_capacity as usize,
        )
    }

    #[inline]
    pub(crate) fn slot_size(&self) -> usize {
        self.hash_size.bytes() + self.address_size
    }

    /// Bytes of the whole table, if memory can hold as many.
    pub(crate) fn table_len(&self) -> Option<usize> {
        self.capacity.checked_mul(self.slot_size())
    }

    /// Where slot `at` lies in the file.
    pub(crate) fn offset(&self, at: usize) -> usize {
        IndexHeader::SIZE + at * self.slot_size()
    }

    #[expect(clippy::inline_always, reason = "done for every slot of a table")]
    #[inline(always)]
    pub(crate) fn get(&self, table: &[u8], at: usize) -> Slot {
        match (self.hash_size, self.address_size) {
            (HashSize::Four, 4) => get::<4, 4>(table, at),
            (HashSize::Four, _) => get::<4, 8>(table, at),
            (HashSize::Eight, 4) => get::<8, 4>(table, at),
            (HashSize::Eight, _) => get::<8, 8>(table, at),
        }
    }

    #[expect(clippy::inline_always, reason = "done for every slot of a table")]
    #[inline(always)]
    pub(crate) fn set(&self, table: &mut [u8], at: usize, slot: Slot) {
        match (self.hash_size, self.address_size) {
            (HashSize::Four, 4) => set::<4, 4>(table, at, slot),
            (HashSize::Four, _) => set::<4, 8>(table, at, slot),
            (HashSize::Eight, 4) => set::<8, 4>(table, at, slot),
            (HashSize::Eight, _) => set::<8, 8>(table, at, slot),
        }
    }

    /// The slot that a key with this hash would have to itself in an empty table.
    #[inline]
    pub(crate) fn wanted(&self, hash: u64) -> usize {
        self.modulus.of(hash) as usize
    }

    /// The same, where it is known that hashes have `HASH` bytes, and that there are fewer slots than hashes.
    #[inline]
    pub(crate) fn wanted_of<const HASH: usize>(&self, hash: u64) -> usize {
        if HASH == HashSize::Four.bytes() { self.modulus.of_short(hash as u32) as usize } else { self.wanted(hash) }
    }

    /// How far slot `at` lies to the right of the one that `hash` wants.
    #[inline]
    pub(crate) fn displacement(&self, at: usize, hash: u64) -> usize {
        let wanted = self.wanted(hash);
        if at >= wanted { at - wanted } else { at + self.capacity - wanted }
    }

    /// The slot to the right, around the end.
    #[inline]
    pub(crate) fn after(&self, at: usize) -> usize {
        if at + 1 == self.capacity { 0 } else { at + 1 }
    }

    /// The address as a slot holds it; `None` if the slot is too small for it.
    #[inline]
    pub(crate) fn pack(&self, address: Address) -> Option<u64> {
        let packed = address.offset << self.block_bits | u64::from(address.index);
        let fits = u64::from(address.index) >> self.block_bits == 0
            && packed >> self.block_bits == address.offset
            && (self.address_size == 8 || u32::try_from(packed).is_ok());
        fits.then_some(packed)
    }

    /// The address that a slot holds.
    #[inline]
    pub(crate) fn unpack(&self, packed: u64) -> Address {
        let index = packed & ((1 << self.block_bits) - 1);
        Address { offset: packed >> self.block_bits, index: index as u32 }
    }
}

/// Slot `at`, of widths that the compiler knows: one is read for every slot of a table.
#[inline]
fn get<const HASH: usize, const ADDRESS: usize>(table: &[u8], at: usize) -> Slot {
    let slot = &table[at * (HASH + ADDRESS)..][..HASH + ADDRESS];
    Slot { hash: get_uint(slot, 0, HASH), address: get_uint(slot, HASH, ADDRESS) }
}

#[inline]
fn set<const HASH: usize, const ADDRESS: usize>(table: &mut [u8], at: usize, slot: Slot) {
    let (hash, address) = table[at * (HASH + ADDRESS)..][..HASH + ADDRESS].split_at_mut(HASH);
    hash.copy_from_slice(&slot.hash.to_le_bytes()[..HASH]);
    address.copy_from_slice(&slot.address.to_le_bytes()[..ADDRESS]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(hash_size: HashSize, address_size: usize, block_bits: u32) -> Shape {
        Shape::new(hash_size, address_size, block_bits, 3)
    }

    #[test]
    fn slots_of_every_size_come_back_and_leave_their_neighbours_alone() {
        for (hash_size, address_size) in
            [(HashSize::Four, 4), (HashSize::Four, 8), (HashSize::Eight, 4), (HashSize::Eight, 8)]
        {
            let shape = shape(hash_size, address_size, 0);
            let mut table = vec![0; shape.table_len().unwrap()];
            let slot = Slot { hash: 0x8123_4567, address: 0xfedc_ba98 };
            shape.set(&mut table, 1, slot);
            assert_eq!(shape.get(&table, 1), slot);
            assert_eq!([0, 2].map(|at| shape.get(&table, at)), [Slot::EMPTY; 2]);
        }
    }

    #[test]
    fn addresses_that_do_not_fit_are_not_packed() {
        let address = Address { offset: 1 << 28, index: 15 };
        assert_eq!(shape(HashSize::Four, 4, 3).pack(address), None, "the index takes 4 bits");
        assert_eq!(shape(HashSize::Four, 4, 4).pack(address), None, "the address takes 33");
        assert_eq!(shape(HashSize::Four, 8, 4).pack(address), Some(1 << 32 | 15));
        assert_eq!(shape(HashSize::Four, 8, 4).unpack(1 << 32 | 15), address);
        assert_eq!(shape(HashSize::Four, 8, 31).pack(Address { offset: 1 << 40, index: 0 }), None);
    }

    #[test]
    fn displacement_goes_around_the_end() {
        let shape = shape(HashSize::Four, 4, 0);
        assert_eq!([0, 1, 2].map(|at| shape.displacement(at, 5)), [1, 2, 0]);
        assert_eq!([0, 1, 2].map(|at| shape.after(at)), [1, 2, 0]);
    }
}
