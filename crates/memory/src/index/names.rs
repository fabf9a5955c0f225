//! What the index names, all of it, while it changes.

use crate::index::directory::{Place, next_prefix};
use crate::region::Region;

/// Whether some slot names an address like this, which none comes to name meanwhile. O(index): every slot is
/// looked at.
///
/// Slots only move when their page is split. Then the directory has changed, and the pages it shows now are
/// looked at instead.
pub(crate) fn any(region: &Region, is_wanted: impl Fn(u64) -> bool) -> bool {
    let mut hash = 0;
    loop {
        let place = Place::of(region, hash);
        if place.entry.slots(region).any(|slot| is_wanted(slot.address())) {
            return true;
        }
        if place.is_current_after(region) {
            hash = next_prefix(hash, place.depth(region));
            if hash == 0 {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::record::key::Key;
    use crate::testing::fixture::{TABLE, small};

    /// An entry whose depth damage has made that of a huge directory does not make the page be looked at once
    /// for each of its entries.
    #[test]
    fn a_page_is_not_looked_at_again_and_again() {
        let memory = small(32, 4096).broken();
        memory.put(TABLE, Key::Integer(1), b"").unwrap();
        let region = memory.view().region;
        let root = Place::of(region, 0).root;
        region.store(root.address(region, 0), region.load(root.address(region, 0)) | 31);
        let looks = Cell::new(0);
        let is_named = any(region, |_| {
            looks.set(looks.get() + 1);
            assert_eq!(looks.get(), 1, "again");
            false
        });
        assert_eq!((is_named, looks.get()), (false, 1));
    }
}
