//! What a header says about its table, counted.

use super::header::IndexHeader;
use super::slot::Shape;

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

    /// Counts a table from left to right, and calls `broken` where Robin Hood order is.
    pub(crate) fn of(table: &[u8], shape: Shape, mut broken: impl FnMut(usize, String)) -> Self {
        let mut counts = Self::default();
        let last = shape.get(table, shape.capacity - 1);
        let (mut before, mut before_displacement) = (last, shape.displacement(shape.capacity - 1, last.hash));
        for at in 0..shape.capacity {
            let slot = shape.get(table, at);
            // As Spotify counts: an empty slot "collides" with a hash of 0 before it, except around the end.
            let collides = slot.hash == before.hash && !before.is_empty() && (at > 0 || !slot.is_empty());
            counts.collisions += u64::from(collides);
            let mut displacement = 0;
            if !slot.is_empty() {
                displacement = shape.displacement(at, slot.hash);
                let most = if before.is_empty() { 0 } else { before_displacement + 1 };
                if displacement > most {
                    broken(at, format!("is {displacement} from home where at most {most} can be"));
                }
                counts.entries += 1;
                counts.max_displacement = counts.max_displacement.max(displacement as u64);
                counts.total_displacement += displacement as u64;
            }
            (before, before_displacement) = (slot, displacement);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::HashSize;
    use super::super::slot::Slot;
    use super::*;

    fn counts(slots: &[(u64, u64)]) -> (Counts, Vec<usize>) {
        let shape = Shape::new(HashSize::Four, 4, 0, slots.len());
        let mut table = vec![0; slots.len() * 8];
        for (at, (hash, address)) in slots.iter().enumerate() {
            shape.set(&mut table, at, Slot { hash: *hash, address: *address });
        }
        let mut broken = Vec::new();
        let counts = Counts::of(&table, shape, |at, _| broken.push(at));
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
        assert_eq!(broken, []);
    }

    #[test]
    fn broken_order_is_found_where_it_is() {
        assert_eq!(counts(&[(0, 84), (0, 0), (0, 90)]).1, [2], "displaced without a neighbour");
        assert_eq!(counts(&[(0, 84), (4, 90), (0, 96), (3, 99), (0, 0)]).1, [1], "a jump of more than one");
    }
}
