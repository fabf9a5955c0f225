//! The directory: which page has the keys of a prefix.
//!
//! ```text
//! root:  | which of the two directories 8 | depth 8 |         entry: | depth of the page 8 | number of the page 36 | stamp 20: 0 |
//! ```
//!
//! A directory of depth `d` has `2^d` entries, indexed by the first `d` bits of the hash. A page of a lesser
//! depth has several of them, side by side. To double, the other directory is filled and the root then points
//! there: in one store, so that nobody sees one's entries at the other's depth.
//!
//! Depths only grow. So an entry that is the same as before has been the same all the time, even where its
//! page was freed and used again meanwhile. Once depths may shrink, the stamp tells an entry from an earlier
//! one for the same page: readers compare it, and know nothing else about it.

use hammerspace_error::{Error, Kind, Result};

use crate::index::slot::Slot;
use crate::region::geometry::BUCKET;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{LIMIT, ROOT, Region};
use crate::sync::Ordering::{Acquire, Relaxed};
use crate::sync::fence;

/// The directory in use, and how many bits of the hash it takes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Root(pub(crate) u64);

impl Root {
    pub(crate) fn new(which: u64, depth: u32) -> Self {
        Self(which & 1 | u64::from(depth) << 8)
    }

    #[inline]
    pub(crate) fn load(region: &Region) -> Self {
        region.root()
    }

    /// Refuses a root by which nothing could be found, or looked for in good time.
    pub(crate) fn check(region: &Region) -> Result<Self> {
        let root = Self(region.load(ROOT));
        let (at, finding) = if !root.can_be(region) || root != Self::load(region) {
            (ROOT, format!("the root {:#x} of the index is none", root.0))
        } else if region.limit() != region.load(LIMIT) {
            (LIMIT, format!("the region may have {} segments, it says, and has no tables for them", region.load(LIMIT)))
        } else {
            return Ok(root);
        };
        let error = Error::new(Kind::Corrupt, finding).at(at);
        Err(error.remedy("delete the store and create it anew"))
    }

    /// Whether it is one by its bits.
    pub(crate) fn can_be(self, region: &Region) -> bool {
        self.depth() <= region.layout.depth_max && self == Self::new(self.which(), self.depth())
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

/// In place of a page that has no memory: outside of every region, and so are all its buckets.
pub(crate) const NOWHERE: u64 = 1 << 62;

const NUMBER_SHIFT: u32 = 8;
const NUMBER: u64 = (1 << 36) - 1;

/// A page, and how many bits of the hash its keys have in common.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Entry(pub(crate) u64);

impl Entry {
    pub(crate) fn new(region: &Region, page: u64, depth: u32) -> Self {
        Self(region.layout.index_page_number(page) << NUMBER_SHIFT | u64::from(depth))
    }

    /// Where its page starts, by its own word: there may be no memory.
    #[inline]
    pub(crate) fn claimed_piece(self, region: &Region) -> u64 {
        region.layout.index_page(self.0 >> NUMBER_SHIFT & NUMBER)
    }

    /// Where its page starts; [`NOWHERE`] if that is no place that has memory.
    #[inline]
    pub(crate) fn page(self, region: &Region) -> u64 {
        let page = self.claimed_piece(region);
        if region.has_page(page) { page } else { NOWHERE }
    }

    pub(crate) fn depth(self) -> u32 {
        (self.0 & 31) as u32
    }

    /// Whether it names a page that has its memory in a segment of the index, of no greater depth than the
    /// root's.
    pub(crate) fn is_page_of(self, region: &Region, root: Root) -> bool {
        let page = self.page(region);
        Segment::of(region, page)
            .is_some_and(|segment| segment.state() == SegmentState::Index && page - segment.start() < segment.used())
            && self == Self::new(region, page, self.depth())
            && self.depth() <= root.depth()
    }

    /// The slots of the page that are full.
    pub(crate) fn slots(self, region: &Region) -> impl Iterator<Item = Slot> {
        let page = self.page(region);
        let of_bucket = move |bucket: u64| region.line(page.wrapping_add(bucket * BUCKET))[1..].iter();
        let slots = (0..region.layout.buckets()).flat_map(of_bucket);
        slots.map(|slot| Slot(slot.load(Relaxed))).filter(|slot| !slot.is_empty())
    }
}

/// The first hash whose prefix of `depth` bits is the next one; 0 after the last.
pub(crate) fn next_prefix(hash: u64, depth: u32) -> u64 {
    // How many hashes have a prefix in common; all 2^64 of them are 0.
    let width = 1_u64.checked_shl(64 - depth).unwrap_or(0);
    (hash & !width.wrapping_sub(1)).wrapping_add(width)
}

/// Root and entry of a hash: where its key is looked for, and whether that is still so.
#[derive(Clone, Copy, Default)]
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

    /// How many bits of the hash the page's keys have in common: no more than there can be, whatever the
    /// directory says.
    pub(crate) fn depth(self, region: &Region) -> u32 {
        self.entry.depth().min(self.root.depth()).min(region.layout.depth_max)
    }

    /// That its entry names no page of the index.
    #[cold]
    pub(crate) fn damaged(self) -> Error {
        let finding = format!("the directory's entry {:#x} names no page of the index", self.entry.0);
        let error = Error::new(Kind::Corrupt, finding).at(self.at);
        error.remedy("attach to it and save what can be read, then remove the store and create it anew")
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
