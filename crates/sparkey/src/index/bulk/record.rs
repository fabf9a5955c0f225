//! What the table needs to know of an entry.

use super::super::slot::Slot;
use crate::log::entry::EntryKind;

/// An entry: the hash of its key, and where it lies in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) hash: u64,
    /// The address as a slot holds it, times two, plus one for a delete.
    pub(super) tag: u64,
}

/// A record on its way to a partition.
#[derive(Clone, Copy)]
pub(super) struct Routed {
    pub(super) record: Record,
    pub(super) partition: u32,
}

impl Record {
    /// `None` for an address of 64 bits, which takes blocks of 2^30 entries in a log of 4 GiB.
    #[inline]
    pub(super) fn new(hash: u64, address: u64, kind: EntryKind) -> Option<Self> {
        let tag = address << 1 | u64::from(kind == EntryKind::Delete);
        (tag >> 1 == address).then_some(Self { hash, tag })
    }

    #[inline]
    pub(super) fn is_put(self) -> bool {
        self.tag & 1 == 0
    }

    #[inline]
    pub(super) fn slot(self) -> Slot {
        Slot { hash: self.hash, address: self.tag >> 1 }
    }

    pub(super) fn encode(self) -> [u8; size_of::<Self>()] {
        (u128::from(self.hash) | u128::from(self.tag) << 64).to_le_bytes()
    }

    pub(super) fn decode(bytes: [u8; size_of::<Self>()]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self { hash: both as u64, tag: (both >> 64) as u64 }
    }
}
