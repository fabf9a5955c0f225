//! Growing the index by one page: 64 KiB are read and 128 KiB written, no record is looked at, and no reader
//! waits.

use crate::index::REACH_MAX;
use crate::index::bucket::HomeBucket;
use crate::index::directory::{Entry, Place, Root};
use crate::index::slot::Slot;
use crate::region::geometry::{BUCKET, SLOTS, WORD};
use crate::region::{ROOT, Region};
use crate::sync::Ordering::Relaxed;

/// Why a page could not be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unsplit {
    /// The hashes of its keys begin with the same 22 bits, or the directory has no room for a longer prefix.
    TooDeep,
    /// Nobody opens the lock of this bucket.
    Stuck(u64),
}

/// Makes an index of one empty page.
pub(crate) fn initialize(region: &Region, page: u64) {
    clear(region, page, 0);
    let root = Root::new(0, 0);
    region.store(root.address(region, 0), Entry::new(region, page, 0).0);
    region.store(ROOT, root.0);
}

/// Splits the page that `place` shows for `hash` into the two pages given, and gives the old one back. Splits
/// take turns: the caller holds the lock of all of them, and has seen that `place` is current.
pub(crate) fn split(region: &Region, place: Place, hash: u64, to: [u64; 2], incarnation: u64) -> Result<u64, Unsplit> {
    let depth = place.depth(region) + 1;
    if depth > region.layout.depth_max {
        return Err(Unsplit::TooDeep);
    }
    let old = place.entry.page(region);
    let homes = |page: u64| (0..region.layout.buckets()).map(move |bucket| HomeBucket::at(region, page, bucket, 0));
    if let Some(stuck) = homes(old).position(|home| !home.wait_for_lock(incarnation)) {
        homes(old).take(stuck).for_each(HomeBucket::unlock);
        return Err(Unsplit::Stuck(old + stuck as u64 * BUCKET));
    }
    for page in to {
        clear(region, page, incarnation);
    }
    if !distribute(region, old, to, depth) {
        // Both halves of a page fit into a page, but for hashes that somebody chose. A reader may still be
        // looking at what the new pages were before.
        for page in to {
            empty(region, page);
        }
        homes(old).for_each(HomeBucket::unlock);
        return Err(Unsplit::TooDeep);
    }
    if place.root.depth() < depth {
        double(region, place.root);
    }
    publish(region, hash, to, depth);
    // Before a key in the new pages can change: whoever is still looking at the old one must not find what it
    // was.
    empty(region, old);
    to.into_iter().flat_map(homes).for_each(HomeBucket::unlock);
    Ok(old)
}

/// Makes a page empty, its buckets locked by `lock` (0: open).
fn clear(region: &Region, page: u64, lock: u64) {
    for bucket in (0..region.layout.buckets()).map(|bucket| page + bucket * BUCKET) {
        region.store(bucket, lock);
    }
    empty(region, page);
}

/// Empties the slots of a page; its headers, and so its locks, stay.
pub(crate) fn empty(region: &Region, page: u64) {
    for bucket in (0..region.layout.buckets()).map(|bucket| page + bucket * BUCKET) {
        for slot in 1..=SLOTS {
            region.store(bucket + slot * WORD, Slot::EMPTY.0);
        }
    }
}

/// Gives each slot of `old` to the page that its key's hash now belongs to. Says whether all found room.
fn distribute(region: &Region, old: u64, to: [u64; 2], depth: u32) -> bool {
    let mut halves = to.map(|page| Half::new(region, page));
    let mut fits = true;
    for bucket in 0..region.layout.buckets() {
        for slot in region.line(old + bucket * BUCKET)[1..].iter().map(|slot| Slot(slot.load(Relaxed))) {
            let home = bucket.wrapping_sub(slot.displacement()) & region.layout.bucket_mask;
            // What lies beyond the reach of its home nobody finds: damage alone puts it there.
            // All homes are locked: a slot that is still reserved was left by an owner that died.
            if !slot.is_empty()
                && !slot.is_reserved()
                && slot.displacement() <= HomeBucket::at(region, old, home, 0).reach()
            {
                let half = &mut halves[(slot.prefix() >> (64 - depth) & 1) as usize];
                fits &= half.take(home, slot);
            }
        }
    }
    fits
}

/// A new page, which the directory does not show: nobody else writes to it. So its buckets fill from the
/// left, and how far is known without a look at them.
struct Half<'r> {
    region: &'r Region,
    page: u64,
    /// How many slots of each bucket.
    taken: Vec<u64>,
}

impl<'r> Half<'r> {
    fn new(region: &'r Region, page: u64) -> Self {
        Self { region, page, taken: vec![0; region.layout.buckets() as usize] }
    }

    /// Puts a slot as near to its home as there is room. `false` where there is none near enough.
    fn take(&mut self, home: u64, slot: Slot) -> bool {
        let mask = self.region.layout.bucket_mask;
        let bucket = |right: u64| ((home + right) & mask) as usize;
        let room = (0..=REACH_MAX.min(mask)).find(|right| self.taken[bucket(*right)] < SLOTS);
        let Some(right) = room else { return false };
        let taken = &mut self.taken[bucket(right)];
        *taken += 1;
        HomeBucket::at(self.region, self.page, home, 0).place(right, *taken, slot);
        true
    }
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

/// Shows the new pages, the first half of the prefix's entries first. In between some entries show the old
/// page, which has the same keys and is locked; a new owner that finds it so takes the first half back
/// (`adopt.rs`).
fn publish(region: &Region, hash: u64, to: [u64; 2], depth: u32) {
    let root = Root::load(region);
    let span = 1 << (root.depth() - depth);
    let first = root.index(hash) & !(2 * span - 1);
    for (half, page) in to.into_iter().enumerate() {
        let entry = Entry::new(region, page, depth);
        let start = first + half as u64 * span;
        for index in start..start + span {
            region.store(root.address(region, index), entry.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::geometry::Geometry;

    /// More than a home's keys may take.
    const BUCKETS: u64 = 32;

    /// A region with three pages, of which the first is in use.
    fn region() -> (Region, [u64; 3]) {
        let geometry = Geometry { segment_size: 8192, segments_max: 1, buckets: BUCKETS };
        let region = crate::testing::fixture::region(geometry);
        let pages = [0, 1, 2].map(|page| region.layout.segment(0) + page * region.layout.index_page_size);
        initialize(&region, pages[0]);
        (region, pages)
    }

    /// The record that a hash leads to.
    fn found(region: &Region, page: u64, hash: u64) -> Option<u64> {
        HomeBucket::at(region, page, hash % BUCKETS, hash).find(|_, slot| Some(slot.address()))
    }

    /// Keys from everywhere, and as many of one home as there can be.
    #[test]
    fn each_slot_goes_to_the_half_of_its_hash() {
        for home in [None, Some(3)] {
            let (region, [old, left, right]) = region();
            let keys: Vec<u64> =
                (0..(1 + REACH_MAX) * SLOTS).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let hashes = keys.iter().map(|key| home.map_or(*key, |home| key / BUCKETS * BUCKETS + home));
            let slots: Vec<(u64, u64)> = hashes.zip((16..).step_by(8)).collect();
            for &(hash, address) in &slots {
                let (at, slot) = HomeBucket::at(&region, old, hash % BUCKETS, hash).reserve(hash).unwrap();
                at.store(slot.moved_to(address).0, Relaxed);
            }
            split(&region, Place::of(&region, 0), 0, [left, right], 1).unwrap();
            for (hash, address) in slots {
                let halves = [left, right].map(|page| found(&region, page, hash));
                let wanted = if hash >> 63 == 0 { [Some(address), None] } else { [None, Some(address)] };
                assert_eq!(halves, wanted, "{hash:#x}");
            }
        }
    }

    #[test]
    fn a_home_has_so_much_room() {
        let (region, [_, left, _]) = region();
        let mut half = Half::new(&region, left);
        let most = (1 + REACH_MAX) * SLOTS;
        assert_eq!((0..=most).find(|key| !half.take(BUCKETS - 1, Slot::new(0, 0, 8 + 8 * key))), Some(most));
        assert_eq!(HomeBucket::at(&region, left, BUCKETS - 1, 0).reach(), REACH_MAX);
    }

    /// The last home has as many keys as it can, so that they lie around the end of the page, and the first
    /// home's are behind them. A half gets all in the order of the page: those in the last bucket at last,
    /// where none is left that is near enough.
    #[test]
    fn a_split_that_fails_leaves_everything_as_it_was() {
        let (region, [old, left, right]) = region();
        let of_home = |home, count| (0..count).map(move |key| key * BUCKETS + home);
        let hashes: Vec<u64> = of_home(BUCKETS - 1, (1 + REACH_MAX) * SLOTS).chain(of_home(0, SLOTS)).collect();
        let slots: Vec<(u64, u64)> = hashes.into_iter().zip((16..).step_by(8)).collect();
        for &(hash, address) in &slots {
            let (at, slot) = HomeBucket::at(&region, old, hash % BUCKETS, hash).reserve(hash).unwrap();
            at.store(slot.moved_to(address).0, Relaxed);
        }
        let slots_of = |page| Entry::new(&region, page, 1).slots(&region).collect::<Vec<_>>();
        let before = slots_of(old);
        assert_eq!(split(&region, Place::of(&region, 0), 0, [left, right], 1), Err(Unsplit::TooDeep));
        assert_eq!([old, left, right].map(slots_of), [before, Vec::new(), Vec::new()]);
        let locked = (0..BUCKETS).filter(|bucket| region.load(old + bucket * BUCKET) & 1 != 0);
        assert_eq!(locked.count(), 0);
    }

    /// Nobody found it before.
    #[test]
    fn a_slot_beyond_the_reach_of_its_home_is_not_found_again() {
        let (region, [old, left, right]) = region();
        HomeBucket::at(&region, old, 1, 1).place(2, 1, Slot::new(1, 0, 16));
        assert_eq!(found(&region, old, 1), Some(16));
        region.store(old + BUCKET, 0);
        split(&region, Place::of(&region, 0), 0, [left, right], 1).unwrap();
        let records = |page| Entry::new(&region, page, 1).slots(&region).count();
        assert_eq!([left, right].map(records), [0, 0]);
    }
}
