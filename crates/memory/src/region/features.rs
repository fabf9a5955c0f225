//! Features: what a region may use beyond its format, one bit each, in three words of the superblock.
//!
//! | word | a build that does not know a set bit |
//! |---|---|
//! | `FEATURES_READ` | refuses to read or own the region |
//! | `FEATURES_WRITE` | reads the region, but refuses to own it |
//! | `FEATURES_INFO` | ignores the bit |
//!
//! A bit of `FEATURES_READ` is set when the region is made, since a reader looks at the word once, when it
//! attaches. An owner may set a bit of the other two at any time before it writes the first byte that needs
//! it.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Access;

use crate::region::{FEATURES_READ, FEATURES_WRITE};

/// In `FEATURES_READ`: a segment may expire as a whole.
pub(crate) const SEGMENT_EXPIRY: u64 = 1;

/// Features that this build can read.
const KNOWN_TO_READERS: u64 = SEGMENT_EXPIRY;
/// Features that this build can write. A segment with an expiry is not among them: its region has a bit here
/// as well.
const KNOWN_TO_OWNERS: u64 = 0;

/// Refuses a region with features that this build does not know.
pub(crate) fn check(access: Access, [read, write]: [u64; 2]) -> Result<()> {
    match (read & !KNOWN_TO_READERS, write & !KNOWN_TO_OWNERS, access) {
        (0, 0, _) | (0, _, Access::Read) => Ok(()),
        (0, unknown, Access::Write) => Err(refused(FEATURES_WRITE, unknown, "write")
            .remedy("read it as an attached store, or own it with a build that knows them")),
        (unknown, ..) => Err(refused(FEATURES_READ, unknown, "read").remedy("use a build that knows them")),
    }
}

#[cold]
fn refused(at: u64, unknown: u64, verb: &str) -> Error {
    Error::new(Kind::Unsupported, format!("the region has features {unknown:#x}, which this build cannot {verb}"))
        .at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_feature_keeps_out_those_it_concerns() {
        let unknown = 1 << 63;
        for (features, reads, owns) in [
            ([0, 0], true, true),
            ([SEGMENT_EXPIRY, 0], true, true),
            ([0, unknown], true, false),
            ([unknown, 0], false, false),
            ([unknown | SEGMENT_EXPIRY, unknown], false, false),
        ] {
            for (access, is_let_in) in [(Access::Read, reads), (Access::Write, owns)] {
                let checked = check(access, features);
                assert_eq!(checked.is_ok(), is_let_in, "{features:?}");
                assert!(checked.err().is_none_or(|error| error.kind() == Kind::Unsupported));
            }
        }
    }
}
