//! What a header says about its table, counted.

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
