//! A first look at the slots of a key: the wanted one and its next neighbours side by side, without a branch between them.
//!
//! How far a key lies from home is a coin toss that no processor foresees, and until the slots have come from memory it could
//! not know that it guessed wrong: all that it had begun for the next key would be lost. So the few slots where nearly all keys
//! lie are compared in one straight line, and if need be the next few, and so on. What lies around the table's end is left to
//! [`Probe`](super::probe::Probe). For the same reason the widths of the slots are constants here, and all is inlined, always: a
//! result that goes through memory holds up the processor.
#![expect(clippy::inline_always, reason = "see above")]

use super::header::IndexHeader;
use super::slot::Shape;
use hammerspace_bytes::field::get_uint;
use std::hint::select_unpredictable;

/// How many slots are looked at side by side, if each has `size` bytes. At a load of 0.77 a key that is there lies 1.7 slots
/// from home on average.
pub(crate) const fn slots(size: usize) -> usize {
    if size == 8 { 8 } else { 6 }
}

/// What a first look tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupProbe {
    /// The first slot with the hash has this address, packed.
    Seen(u64),
    /// No slot of the table has the hash.
    Absent,
    /// It takes a walk to know.
    Unclear,
}

impl GroupProbe {
    /// Looks at the table after the header of `index`, whose slots have hashes of `HASH` bytes and addresses of `ADDRESS` bytes,
    /// for a `hash` that wants slot `wanted`.
    #[inline(always)]
    pub(crate) fn at<const HASH: usize, const ADDRESS: usize>(
        index: &[u8],
        shape: &Shape,
        hash: u64,
        wanted: usize,
    ) -> Self {
        let (size, count) = const { (HASH + ADDRESS, slots(HASH + ADDRESS)) };
        let mut next = wanted;
        loop {
            // At the end of the table the walk goes around.
            if next + count > shape.capacity {
                return Self::Unclear;
            }
            let start = IndexHeader::SIZE + next * size;
            let Some(slots) = index.get(start..start + count * size) else { return Self::Unclear };
            let hash_of = |nth: usize| get_uint(slots, nth * size, HASH);
            let address_of = |nth: usize| get_uint(slots, nth * size + HASH, ADDRESS);
            let mut first = 0;
            for nth in (0..count).rev() {
                first = select_unpredictable(hash_of(nth) == hash, address_of(nth), first);
            }
            // An empty slot has the hash 0, perhaps ours, and the address 0.
            if first != 0 {
                return Self::Seen(first);
            }
            next += count;
            // Our key lies no further right than a key that is nearer home than ours would be: see `Probe`.
            let nearer = shape.wanted_of::<HASH>(hash_of(count - 1)).wrapping_sub(wanted + 1) < next - 1 - wanted;
            if nearer | (address_of(count - 1) == 0) {
                return Self::Absent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::HashSize;
    use super::super::probe::Probe;
    use super::super::slot::Slot;
    use super::*;
    use fastrand::Rng;

    /// A Robin Hood table after a header that nobody looks at, with addresses from 1 on.
    fn index(shape: &Shape, hashes: &[u64]) -> Vec<u8> {
        let mut index = vec![0; IndexHeader::SIZE + shape.table_len().unwrap()];
        let table = &mut index[IndexHeader::SIZE..];
        for (address, hash) in (1..).zip(hashes) {
            let (mut at, mut carried) = (shape.wanted(*hash), Slot { hash: *hash, address });
            loop {
                let resident = shape.get(table, at);
                if resident.is_empty() {
                    break shape.set(table, at, carried);
                }
                if shape.displacement(at, resident.hash) < shape.displacement(at, carried.hash) {
                    shape.set(table, at, carried);
                    carried = resident;
                }
                at = shape.after(at);
            }
        }
        index
    }

    /// How many probes contradict the walk, and how many tell nothing.
    fn contradictions<const HASH: usize, const ADDRESS: usize>(
        index: &[u8],
        shape: &Shape,
        hashes: impl Iterator<Item = u64>,
    ) -> (usize, usize) {
        let (mut wrong, mut unclear) = (0, 0);
        for hash in hashes {
            let walked = Probe::new(&index[IndexHeader::SIZE..], *shape, hash).next().map(|(_, slot)| slot.address);
            match GroupProbe::at::<HASH, ADDRESS>(index, shape, hash, shape.wanted_of::<HASH>(hash)) {
                GroupProbe::Seen(address) => wrong += usize::from(walked != Some(address)),
                GroupProbe::Absent => wrong += usize::from(walked.is_some()),
                GroupProbe::Unclear => unclear += 1,
            }
        }
        (wrong, unclear)
    }

    /// Tables of many sizes, hashes that are there and such that are not, among them some that want one slot, and 0.
    fn check<const HASH: usize, const ADDRESS: usize>(hash_size: HashSize) {
        let seed = Rng::new().u64(..);
        let mut rng = Rng::with_seed(seed);
        for capacity in (1..40).chain([1000]) {
            let shape = Shape::new(hash_size, ADDRESS, 0, capacity);
            let mut hash = || match rng.u8(..8) {
                0 => rng.u64(..4) * capacity as u64 + rng.u64(..capacity as u64) / 8 * 8,
                _ => rng.u64(..1 << 32),
            };
            let there: Vec<u64> = (0..=capacity * 3 / 4).map(|_| hash()).collect();
            let absent: Vec<u64> = (0..capacity).map(|_| hash()).collect();
            let (index, all) = (index(&shape, &there), there.iter().chain(&absent).copied());
            let (wrong, unclear) = contradictions::<HASH, ADDRESS>(&index, &shape, all);
            assert_eq!(wrong, 0, "seed {seed}, capacity {capacity}");
            assert!(
                capacity < 1000 || unclear < 100,
                "seed {seed}: a group probe should nearly always do, not {unclear}"
            );
        }
    }

    #[test]
    fn a_group_probe_never_contradicts_the_walk() {
        check::<4, 4>(HashSize::Four);
        check::<4, 8>(HashSize::Four);
        check::<8, 4>(HashSize::Eight);
        check::<8, 8>(HashSize::Eight);
    }

    #[test]
    fn canary_a_slot_in_the_wrong_place_is_noticed() {
        let shape = Shape::new(HashSize::Four, 4, 0, 100);
        let mut index = index(&shape, &[10, 110]);
        // The second of two keys that want one slot, behind a gap: the walk ends there, the group probe does not see gaps.
        let table = &mut index[IndexHeader::SIZE..];
        shape.set(table, 13, shape.get(table, 11));
        shape.set(table, 11, Slot::EMPTY);
        assert_eq!(contradictions::<4, 4>(&index, &shape, [110].into_iter()).0, 1);
    }
}
