//! The walk from a key's wanted slot to the right, over the slots that hold its hash.
//!
//! Robin Hood order makes it short: a key that arrives takes the slot of one that is nearer home. So displacement grows by
//! one per slot at most, and ends our walk. A table may be full (1 and 3 puts get 1 and 3 slots) and may be damaged, so
//! the walk also ends after `capacity` slots; never by hope for an empty one.

use super::slot::{Shape, Slot};

/// The slots that hold `hash`, with their numbers.
pub(crate) struct Probe<'a> {
    table: &'a [u8],
    shape: Shape,
    hash: u64,
    at: usize,
    displacement: usize,
}

impl<'a> Probe<'a> {
    #[inline]
    pub(crate) fn new(table: &'a [u8], shape: Shape, hash: u64) -> Self {
        Self { table, shape, hash, at: shape.wanted(hash), displacement: 0 }
    }
}

impl Iterator for Probe<'_> {
    type Item = (usize, Slot);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.displacement < self.shape.capacity {
            let (at, displacement) = (self.at, self.displacement);
            let resident = self.shape.get(self.table, at);
            if resident.is_empty() {
                break;
            }
            // Equal hashes want the same slot: no need to ask how far this resident is from home.
            if resident.hash == self.hash {
                (self.at, self.displacement) = (self.shape.after(at), displacement + 1);
                return Some((at, resident));
            }
            // Once the resident is nearer home than we would be, our key cannot lie further right.
            if displacement > self.shape.displacement(at, resident.hash) {
                break;
            }
            (self.at, self.displacement) = (self.shape.after(at), displacement + 1);
        }
        self.displacement = self.shape.capacity;
        None
    }
}
