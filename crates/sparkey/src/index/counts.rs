//! What a header says about its table, counted.

use super::header::IndexHeader;
use super::slot::{Shape, Slot};

/// The statistics of a finished table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) entries: u64,
    pub(crate) max_displacement: u64,
    pub(crate) total_displacement: u64,
    pub(crate) collisions: u64,
}

impl Counts {
    /// What a header says.
    pub(crate) fn said_by(header: &IndexHeader) -> Self {
        Self {
            entries: header.num_entries,
            max_displacement: header.max_displacement,
            total_displacement: header.total_displacement,
            collisions: header.hash_collisions,
        }
    }

    /// Counts a whole table, and calls `broken` where Robin Hood order is.
    pub(crate) fn of(table: &[u8], shape: &Shape, broken: impl FnMut(usize, String)) -> Self {
        let mut counts = Self::default();
        counts.add(table, shape, 0, shape.get(table, shape.capacity - 1), broken);
        counts
    }

    /// Counts part of a table from left to right: its bytes, the number of its first slot, and the slot before that.
    #[expect(clippy::needless_bitwise_bool, reason = "see below")]
    pub(crate) fn add(
        &mut self,
        slots: &[u8],
        shape: &Shape,
        first: usize,
        mut before: Slot,
        mut broken: impl FnMut(usize, String),
    ) {
        let at_before = if first > 0 { first } else { shape.capacity } - 1;
        let mut before_displacement = shape.displacement(at_before, before.hash) as u64 * u64::from(!before.is_empty());
        // Slots are empty or not at random, so nothing here depends on it by a branch.
        for offset in 0..slots.len() / shape.slot_size() {
            let (at, slot) = (first + offset, shape.get(slots, offset));
            let (is_there, was_there) = (!slot.is_empty(), !before.is_empty());
            // As Spotify counts: an empty slot "collides" with a hash of 0 before it, except around the end.
            let collides = (slot.hash == before.hash) & was_there & ((at > 0) | is_there);
            let displacement = shape.displacement(at, slot.hash) as u64 * u64::from(is_there);
            let most = before_displacement + u64::from(was_there);
            if displacement > most {
                broken(at, format!("is {displacement} from home where at most {most} can be"));
            }
            self.entries += u64::from(is_there);
            self.max_displacement = self.max_displacement.max(displacement);
            self.total_displacement += displacement;
            self.collisions += u64::from(collides);
            (before, before_displacement) = (slot, displacement);
        }
    }

    /// Adds what others have counted elsewhere in the same table.
    pub(crate) fn join(&mut self, other: &Self) {
        self.entries += other.entries;
        self.max_displacement = self.max_displacement.max(other.max_displacement);
        self.total_displacement += other.total_displacement;
        self.collisions += other.collisions;
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::HashSize;
    use super::*;

    fn counts(slots: &[(u64, u64)]) -> (Counts, Vec<usize>) {
        let shape = Shape::new(HashSize::Four, 4, 0, slots.len());
        let mut table = vec![0; slots.len() * 8];
        for (at, (hash, address)) in slots.iter().enumerate() {
            shape.set(&mut table, at, Slot { hash: *hash, address: *address });
        }
        let mut broken = Vec::new();
        let counts = Counts::of(&table, &shape, |at, _| broken.push(at));
        (counts, broken)
    }

    #[test]
    fn collisions_are_counted_as_spotify_counts_them() {
        for (slots, collisions) in [
            (&[(5, 84)][..], 1),               // the only slot comes after itself
            (&[(0, 0)], 0),                    // but not when it is empty
            (&[(0, 84), (0, 0), (0, 0)], 1),   // an empty slot after a hash of 0
            (&[(0, 0), (2, 84), (0, 90)], 0),  // but not around the end
            (&[(2, 84), (0, 0), (2, 90)], 1),  // around the end, both occupied
            (&[(3, 84), (3, 90), (3, 96)], 3), // and all the way round
            (&[(3, 84), (6, 90), (3, 96)], 1), // only neighbours count
        ] {
            assert_eq!(counts(slots).0.collisions, collisions, "{slots:?}");
        }
    }

    #[test]
    fn displacements_are_counted_around_the_end() {
        let (counts, broken) = counts(&[(2, 84), (0, 0), (2, 90)]);
        assert_eq!((counts.entries, counts.max_displacement, counts.total_displacement), (2, 1, 1));
        assert_eq!(broken, [0_usize; 0]);
    }

    #[test]
    fn broken_order_is_found_where_it_is() {
        assert_eq!(counts(&[(0, 84), (0, 0), (0, 90)]).1, [2], "displaced without a neighbour");
        assert_eq!(counts(&[(0, 84), (4, 90), (0, 96), (3, 99), (0, 0)]).1, [1], "a jump of more than one");
    }
}
