//! The directory: which piece has the keys of a prefix.
//!
//! ```text
//! root:  | which of the two directories 8 | depth 8 |         entry: | depth of the piece 8 | number of the piece 56 |
//! ```
//!
//! A directory of depth `d` has `2^d` entries, indexed by the first `d` bits of the hash. A piece of a lesser depth has several of
//! them, side by side. To double, the other directory is filled and the root then points there: in one store, so that nobody
//! sees one's entries at the other's depth.
//!
//! Depths only grow. So an entry that is the same as before has been the same all the time, even where its piece was freed and
//! used again meanwhile.

use crate::geometry::BUCKET;
use crate::region::{ROOT, Region};
use crate::sync::Ordering::{Acquire, Relaxed};
use crate::sync::fence;

/// The directory in use, and how many bits of the hash it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Root(pub(crate) u64);

impl Root {
    pub(crate) fn new(which: u64, depth: u32) -> Self {
        Self(which & 1 | u64::from(depth) << 8)
    }

    #[inline]
    pub(crate) fn load(region: &Region) -> Self {
        Self(region.load(ROOT))
    }

    pub(crate) fn which(self) -> u64 {
        self.0 & 1
    }

    /// No more than the tags have bits, whatever the word says.
    pub(crate) fn depth(self) -> u32 {
        (self.0 >> 8 & 31) as u32
    }

    /// Which entry a hash has.
    #[inline]
    pub(crate) fn index(self, hash: u64) -> u64 {
        // In two steps: at depth 0 one shift by 64 would be none.
        hash >> 1 >> (63 - self.depth())
    }

    #[inline]
    pub(crate) fn address(self, region: &Region, index: u64) -> u64 {
        region.layout.directory(self.which(), index)
    }
}

/// A piece, and how many bits of the hash its keys have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry(pub(crate) u64);

impl Entry {
    pub(crate) fn new(region: &Region, piece: u64, depth: u32) -> Self {
        Self(region.layout.piece_number(piece) << 8 | u64::from(depth))
    }

    /// Where its piece starts.
    #[inline]
    pub(crate) fn piece(self, region: &Region) -> u64 {
        region.layout.piece(self.0 >> 8)
    }

    pub(crate) fn depth(self) -> u32 {
        (self.0 & 31) as u32
    }

    /// How many slots of the piece are full.
    pub(crate) fn count(self, region: &Region) -> u64 {
        let piece = self.piece(region);
        let of_bucket =
            |bucket: u64| region.line(piece + bucket * BUCKET)[1..].iter().filter(|slot| slot.load(Relaxed) != 0);
        (0..region.layout.buckets()).map(|bucket| of_bucket(bucket).count() as u64).sum()
    }
}

/// Root and entry of a hash: where its key is looked for, and whether that is still so.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) root: Root,
    pub(crate) entry: Entry,
    /// Where the entry stands.
    at: u64,
}

impl Place {
    #[inline]
    pub(crate) fn of(region: &Region, hash: u64) -> Self {
        let root = Root::load(region);
        let at = root.address(region, root.index(hash));
        Self { root, entry: Entry(region.load(at)), at }
    }

    /// Whether the directory still says what it said.
    #[inline]
    pub(crate) fn is_current(self, region: &Region) -> bool {
        Root::load(region) == self.root && region.load(self.at) == self.entry.0
    }

    /// The same, once everything loaded before has been loaded: then what was not found was not there.
    #[inline]
    pub(crate) fn is_current_after(self, region: &Region) -> bool {
        fence(Acquire);
        self.is_current(region)
    }
}
