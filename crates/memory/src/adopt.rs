//! Tidying up after an owner: what is in a region is consistent for readers at every instant, and so it is when its owner dies.
//!
//! - Locks of buckets: open by the new incarnation.
//! - Segments that were open or being cleaned are closed. What was moved and what was not is both there; slots say what counts.
//! - A split that had begun to show its pieces takes that back: the old piece has the same keys until the last entry is changed.
//! - Free segments and free pieces are what the ledger and the directory do not show in use.
//!
//! Takes time in proportion to segments and directory entries: milliseconds for a hundred million keys. Counts of dead bytes may be
//! off by what was in hand; the cleaner finds out.

use std::collections::{HashSet, VecDeque};

use crate::index::directory::{Entry, Root};
use crate::pool::Pool;
use crate::region::{INCARNATION, Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Use};

/// Begins the next incarnation of a region whose owner is gone. Gives what is free, and how many bytes of records are live.
pub(crate) fn adopt(region: &Region) -> (Pool, u64) {
    // Never 0, which is an open lock.
    let next = (region.load(INCARNATION) + 1) & 0xffff_ffff;
    region.store(INCARNATION, next.max(1));
    take_back_half_shown(region);
    let shown = shown_pieces(region);
    let (mut free, mut pieces) = (VecDeque::new(), Vec::new());
    let (mut live, mut index_segments) = (0, 0);
    for segment in (0..region.load(SEGMENTS_FRESH)).map(|number| Segment::new(region, number)) {
        match segment.usage() {
            Use::Free => free.push_back(segment.number),
            Use::Index => {
                index_segments += 1;
                let piece_size = region.layout.piece_size;
                let of_segment = (0..region.layout.pieces_per_segment()).map(|i| segment.start() + i * piece_size);
                pieces.extend(of_segment.filter(|piece| !shown.contains(piece)));
            }
            Use::Open(stream) | Use::Cleaning(stream) | Use::Closed(stream) => {
                segment.set_usage(Use::Closed(stream));
                live += segment.live();
            }
        }
    }
    (Pool::new(free, pieces, index_segments), live)
}

/// Makes all entries of a piece show it again, where a split had begun to show its halves.
fn take_back_half_shown(region: &Region) {
    let root = Root::load(region);
    let entry = |index: u64| Entry(region.load(root.address(region, index)));
    for index in 0..1 << root.depth() {
        let mine = entry(index);
        let span = 1_u64 << root.depth().saturating_sub(mine.depth());
        let first = index & !(span - 1);
        // Halves are shown from the first entry on: where that is another's, they were about to be.
        if entry(first) != mine {
            (first..first + span).for_each(|entry| region.store(root.address(region, entry), mine.0));
        }
    }
}

/// The pieces that the directory shows.
fn shown_pieces(region: &Region) -> HashSet<u64> {
    let root = Root::load(region);
    (0..1 << root.depth()).map(|index| Entry(region.load(root.address(region, index))).piece(region)).collect()
}
