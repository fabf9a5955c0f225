//! Keys in flight: what many of them need of memory is asked for before each has its turn, so that their
//! misses of the cache take place at the same time.
//!
//! ```text
//! hash, and ask for the bucket  ──  some keys later: look for the slot, and ask for its record  ──  as many later: the key's turn
//! ```

use hammerspace_error::Result;

use crate::index::bucket::HomeBucket;
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::region::Region;
use crate::region::geometry::BUCKET;
use crate::sync::AtomicU64;

/// How many keys wait for their buckets, and as many for their records. The processor has room for some ten
/// to twenty misses.
const AHEAD: usize = 16;

/// A key that is on its way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Prefetched<'r> {
    pub(crate) hash: u64,
    /// The page that the directory showed for it.
    pub(crate) place: Place,
    /// The first slot that may be the key's, and where it stands.
    pub(crate) slot: Option<(&'r AtomicU64, Slot)>,
}

impl<'r> Prefetched<'r> {
    /// Looks at the directory.
    #[inline]
    pub(crate) fn start(region: &'r Region, hash: u64) -> Self {
        Self { hash, place: Place::of(region, hash), slot: None }
    }

    /// Asks for the home, wherever the entry says that it is: to ask for what has no memory does nothing.
    #[inline]
    fn ask_for_home(self, region: &Region) {
        let page = self.place.entry.claimed_piece(region);
        region.prefetch(HomeBucket::at(region, page, self.hash & region.layout.bucket_mask, self.hash).address());
    }

    /// Looks at the buckets, for the slot.
    #[expect(clippy::inline_always, reason = "see `read::read_prefetched`")]
    #[inline(always)]
    pub(crate) fn look(self, region: &'r Region) -> Self {
        Self { slot: HomeBucket::new(region, self.place, self.hash).find(|at, slot| Some((at, slot))), ..self }
    }
}

/// Gives each of `count` keys its turn, in order, the memory asked for that it will read. `hash` gives the
/// hash of one.
#[inline]
pub(crate) fn for_each_prefetched<'r>(
    region: &'r Region,
    count: usize,
    hash: impl Fn(usize) -> u64,
    mut turn: impl FnMut(usize, Prefetched<'r>) -> Result<()>,
) -> Result<()> {
    let mut waiting = [Prefetched::default(); 2 * AHEAD];
    let place = |key: usize| key % (2 * AHEAD);
    for step in 0..count + 2 * AHEAD {
        // Those that come first make room for those that come last.
        if let Some(key) = step.checked_sub(2 * AHEAD) {
            turn(key, waiting[place(key)])?;
        }
        if let Some(key) = step.checked_sub(AHEAD).filter(|key| *key < count) {
            let prefetched = waiting[place(key)].look(region);
            if let Some((_, slot)) = prefetched.slot {
                ask_for_record(region, slot);
            }
            waiting[place(key)] = prefetched;
        }
        if step < count {
            let prefetched = Prefetched::start(region, hash(step));
            prefetched.ask_for_home(region);
            waiting[place(step)] = prefetched;
        }
    }
    Ok(())
}

/// Asks for the home of a hash, where the directory shows it now, and gives that place.
#[inline]
pub(crate) fn ask_for_home(region: &Region, hash: u64) -> Place {
    let prefetched = Prefetched::start(region, hash);
    prefetched.ask_for_home(region);
    prefetched.place
}

/// Asks for the first lines of the record that a slot names.
#[inline]
pub(crate) fn ask_for_record(region: &Region, slot: Slot) {
    for line in 0..3 {
        region.prefetch(slot.address() + line * BUCKET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::key::Key;
    use crate::testing::fixture::{TABLE, small};

    #[test]
    fn every_key_has_one_turn_in_order_with_its_own_slot() {
        let memory = small(64, 4096);
        for key in 0..50 {
            memory.put(TABLE, Key::Integer(key), b"value").unwrap();
        }
        let region = memory.view().region;
        let hash = |key: usize| memory.hash(TABLE, Key::Integer(key as u64));
        // None, fewer and more than are in flight, and some of them not there.
        for count in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 2 * AHEAD, 2 * AHEAD + 1, 100] {
            let mut turns = Vec::new();
            let mut note = |key: usize, prefetched: Prefetched<'_>| {
                assert_eq!((prefetched.hash, prefetched.slot.is_some()), (hash(key), key < 50), "key {key} of {count}");
                turns.push(key);
                Ok(())
            };
            for_each_prefetched(region, count, hash, &mut note).unwrap();
            assert_eq!(turns, (0..count).collect::<Vec<_>>());
        }
    }
}
