//! `.mo`: what was read, written again or printed as a `.po`, gives the same pairs.

use crate::catalogue::{Pairs, Reader, pairs, print_po, printable, write_mo};
use hammerspace_load::{mo, po};

/// Checks the reader on `data`.
pub fn check(data: &[u8]) {
    check_reader(&mo::read, data);
}

pub(crate) fn check_reader(read: &Reader, data: &[u8]) {
    // Eight times by strings that share bytes, three times by a legacy charset.
    let Some(read_first) = pairs(read, data, 8 * 3) else { return };
    assert_eq!(pairs(read, &write_mo(&read_first), 1).as_ref(), Some(&read_first), "written and read again");
    let printed: Pairs = read_first.into_iter().filter(printable).collect();
    assert_eq!(pairs(&po::read, &print_po(&printed), 1).as_ref(), Some(&printed), "printed and read");
}
