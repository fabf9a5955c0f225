//! Growing the index by one piece: 64 KiB are read and 128 KiB written, no record is looked at, and no reader waits.

use crate::geometry::{BUCKET, SLOTS, WORD};
use crate::index::bucket::Home;
use crate::index::directory::{Entry, Place, Root};
use crate::index::slot::Slot;
use crate::region::{ROOT, Region};

/// Why a piece could not be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unsplit {
    /// The hashes of its keys begin with the same 22 bits, or the directory has no room for a longer prefix.
    TooDeep,
    /// Nobody opens the lock of this bucket.
    Stuck(u64),
}

/// Makes an index of one empty piece.
pub(crate) fn plant(region: &Region, piece: u64) {
    clear(region, piece, 0);
    let root = Root::new(0, 0);
    region.store(root.address(region, 0), Entry::new(region, piece, 0).0);
    region.store(ROOT, root.0);
}

/// Splits the piece that `place` shows for `hash` into the two pieces given, and gives the old one back. Splits take turns: the
/// caller holds the lock of all of them, and has seen that `place` is current.
pub(crate) fn split(region: &Region, place: Place, hash: u64, to: [u64; 2], incarnation: u64) -> Result<u64, Unsplit> {
    let depth = place.depth(region) + 1;
    if depth > region.layout.depth_max {
        return Err(Unsplit::TooDeep);
    }
    let old = place.entry.piece(region);
    let homes = |piece: u64| (0..region.layout.buckets()).map(move |bucket| Home::at(region, piece, bucket, 0));
    if let Some(stuck) = homes(old).position(|home| !home.wait_for_lock(incarnation)) {
        homes(old).take(stuck).for_each(Home::unlock);
        return Err(Unsplit::Stuck(old + stuck as u64 * BUCKET));
    }
    for piece in to {
        clear(region, piece, incarnation);
    }
    if !distribute(region, old, to, depth) {
        // Both halves of a piece fit into a piece, but for hashes that somebody chose. A reader may still be looking at what the new
        // pieces were before.
        for piece in to {
            empty(region, piece);
        }
        homes(old).for_each(Home::unlock);
        return Err(Unsplit::TooDeep);
    }
    if place.root.depth() < depth {
        double(region, place.root);
    }
    publish(region, hash, to, depth);
    // Before a key in the new pieces can change: whoever is still looking at the old one must not find what it was.
    empty(region, old);
    to.into_iter().flat_map(homes).for_each(Home::unlock);
    Ok(old)
}

/// Makes a piece empty, its buckets locked by `lock` (0: open).
fn clear(region: &Region, piece: u64, lock: u64) {
    for bucket in (0..region.layout.buckets()).map(|bucket| piece + bucket * BUCKET) {
        region.store(bucket, lock);
    }
    empty(region, piece);
}

/// Empties the slots of a piece; its headers, and so its locks, stay.
pub(crate) fn empty(region: &Region, piece: u64) {
    for bucket in (0..region.layout.buckets()).map(|bucket| piece + bucket * BUCKET) {
        for slot in 1..=SLOTS {
            region.store(bucket + slot * WORD, Slot::EMPTY.0);
        }
    }
}

/// Gives each slot of `old` to the piece that its key's hash now belongs to. Says whether all found room.
fn distribute(region: &Region, old: u64, to: [u64; 2], depth: u32) -> bool {
    let mut fits = true;
    for bucket in 0..region.layout.buckets() {
        Home::at(region, old, bucket, 0).for_each(|_, slot| {
            let half = (slot.prefix() >> (64 - depth) & 1) as usize;
            fits &= Home::at(region, to[half], bucket, 0).insert(slot);
        });
    }
    fits
}

/// Fills the directory that is not in use with twice as many entries, and then uses it.
fn double(region: &Region, root: Root) {
    let next = Root::new(root.which() ^ 1, root.depth() + 1);
    for index in 0..1 << root.depth() {
        let entry = region.load(root.address(region, index));
        region.store(next.address(region, 2 * index), entry);
        region.store(next.address(region, 2 * index + 1), entry);
    }
    region.store(ROOT, next.0);
}

/// Shows the new pieces, the first half of the prefix's entries first. In between some entries show the old piece, which has the
/// same keys and is locked; a new owner that finds it so takes the first half back (`adopt.rs`).
fn publish(region: &Region, hash: u64, to: [u64; 2], depth: u32) {
    let root = Root::load(region);
    let span = 1 << (root.depth() - depth);
    let first = root.index(hash) & !(2 * span - 1);
    for (half, piece) in to.into_iter().enumerate() {
        let entry = Entry::new(region, piece, depth);
        let start = first + half as u64 * span;
        for index in start..start + span {
            region.store(root.address(region, index), entry.0);
        }
    }
}
