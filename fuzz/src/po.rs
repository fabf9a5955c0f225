//! `.po`: what was read, printed again or compiled to a `.mo`, gives the same pairs.

use crate::catalogue::{Reader, pairs, print_po, write_mo};
use hammerspace_load::{mo, po};

/// Checks the reader on `data`.
pub fn check(data: &[u8]) {
    check_reader(&po::read, data);
}

pub(crate) fn check_reader(read: &Reader, data: &[u8]) {
    // A byte of a legacy charset becomes three of UTF-8 at most.
    let Some(read_first) = pairs(read, data, 3) else { return };
    assert_eq!(pairs(read, &print_po(&read_first), 1).as_ref(), Some(&read_first), "printed and read again");
    assert_eq!(pairs(&mo::read, &write_mo(&read_first), 1).as_ref(), Some(&read_first), "compiled and read");
}
