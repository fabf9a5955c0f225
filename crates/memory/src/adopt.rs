//! Tidying up after an owner: what is in a region is consistent for readers at every instant, and so it is when its owner dies.
//!
//! - Locks of buckets: open by the new incarnation.
//! - Segments that were being cleaned are closed. What was moved and what was not is both there; slots say what counts.
//! - Segments that were open stay so: heads go on in them before they take others. Otherwise each owner would leave behind some that
//!   are nearly empty, and a cleaner would gain nothing from them that it could see.
//! - A split that had begun to show its pieces takes that back: the old piece has the same keys until the last entry is changed.
//! - Free segments and free pieces are what the ledger and the directory do not show in use. Such pieces are emptied, since a reader
//!   may still be in one that had been shown; and one that is shown no more is not used again by this owner, so that a reader who
//!   finds an entry as it was can still take it for the same.
//!
//! Takes time in proportion to segments and directory entries: milliseconds for a hundred million keys. Counts of dead bytes may be
//! off by what was in hand; the cleaner finds out.

use std::collections::HashSet;

use hammerspace_error::{Error, Kind, Result};

use crate::index::directory::{Entry, Root};
use crate::index::split;
use crate::pool::Pool;
use crate::region::{INCARNATION, LIMIT, ROOT, Region, SEGMENTS_FRESH};
use crate::segment::{Segment, Use};

/// Begins the next incarnation of a region whose owner is gone. Gives what is free, and how many bytes of records are live.
pub(crate) fn adopt(region: &Region) -> Result<(Pool, u64)> {
    check(region)?;
    // Never 0, which is an open lock.
    let next = (region.load(INCARNATION) + 1) & 0xffff_ffff;
    region.store(INCARNATION, next.max(1));
    let taken_back = take_back_half_shown(region);
    let shown = shown_pieces(region);
    let (mut pool, mut live) = (Pool::default(), 0);
    for segment in (0..region.load(SEGMENTS_FRESH)).map(|number| Segment::new(region, number)) {
        match segment.usage() {
            Use::Free => pool.free.push_back(segment.number),
            Use::Index => {
                pool.index_segments += 1;
                let piece_size = region.layout.piece_size;
                let of_segment = (0..region.layout.pieces_per_segment()).map(|i| segment.start() + i * piece_size);
                for piece in of_segment.filter(|piece| !shown.contains(piece)) {
                    split::empty(region, piece);
                    if !taken_back.contains(&piece) {
                        pool.pieces.push(piece);
                    }
                }
            }
            Use::Open(stream) => {
                pool.open.push((stream, segment.number));
                live += segment.live();
            }
            Use::Cleaning(stream) | Use::Closed(stream) => {
                segment.set_usage(Use::Closed(stream));
                live += segment.live();
            }
        }
    }
    Ok((pool, live))
}

/// Refuses a region whose tables an owner could not go by.
fn check(region: &Region) -> Result<()> {
    let corrupt = |at: u64, finding: String| {
        let error = Error::new(Kind::Corrupt, finding).at(at);
        Err(error.remedy("save what can be read with `attach`, then delete the store and create it anew"))
    };
    for (at, name) in [(LIMIT, "LIMIT"), (SEGMENTS_FRESH, "SEGMENTS_FRESH")] {
        let (segments, most) = (region.load(at), region.layout.segments_max);
        if segments > most {
            return corrupt(at, format!("{name} is {segments}, and there are {most} segments at most"));
        }
    }
    let root = Root::load(region);
    if root.depth() > region.layout.depth_max {
        return corrupt(ROOT, format!("the directory has depth {}", root.depth()));
    }
    for number in 0..region.load(SEGMENTS_FRESH) {
        let used = Segment::new(region, number).used();
        if used > region.layout.segment_size {
            return corrupt(region.layout.ledger(number), format!("segment {number} counts {used} bytes"));
        }
    }
    for at in (0..1 << root.depth()).map(|index| root.address(region, index)) {
        let entry = Entry(region.load(at));
        let number =
            region.layout.segment_of(entry.piece(region)).filter(|number| *number < region.load(SEGMENTS_FRESH));
        let is_index = number.is_some_and(|number| Segment::new(region, number).usage() == Use::Index);
        if !is_index || entry.depth() > root.depth() {
            return corrupt(at, format!("the directory's entry {:#x} names no piece of the index", entry.0));
        }
    }
    Ok(())
}

/// Makes all entries of a piece show it again, where a split had begun to show its halves. Gives the halves that were shown.
fn take_back_half_shown(region: &Region) -> HashSet<u64> {
    let root = Root::load(region);
    let entry = |index: u64| Entry(region.load(root.address(region, index)));
    let mut halves = HashSet::new();
    for index in 0..1 << root.depth() {
        let mine = entry(index);
        let span = 1_u64 << root.depth().saturating_sub(mine.depth());
        let first = index & !(span - 1);
        // Halves are shown from the first entry on: where that is another's, they were about to be.
        if entry(first) != mine {
            for other in first..first + span {
                if entry(other) != mine {
                    halves.insert(entry(other).piece(region));
                    region.store(root.address(region, other), mine.0);
                }
            }
        }
    }
    halves
}

/// The pieces that the directory shows.
fn shown_pieces(region: &Region) -> HashSet<u64> {
    let root = Root::load(region);
    (0..1 << root.depth()).map(|index| Entry(region.load(root.address(region, index))).piece(region)).collect()
}
