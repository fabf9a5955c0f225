//! What the index names, all of it, while it changes.

use crate::index::directory::{Place, next_prefix};
use crate::region::Region;

/// Whether some slot names an address like this, which none comes to name meanwhile. O(index): every slot is looked at.
///
/// Slots only move when their piece is split. Then the directory has changed, and the pieces it shows now are looked at instead.
pub(crate) fn any(region: &Region, is_wanted: impl Fn(u64) -> bool) -> bool {
    let mut hash = 0;
    loop {
        let place = Place::of(region, hash);
        if place.entry.slots(region).any(|slot| is_wanted(slot.address())) {
            return true;
        }
        if place.is_current_after(region) {
            hash = next_prefix(hash, place.entry.depth());
            if hash == 0 {
                return false;
            }
        }
    }
}
