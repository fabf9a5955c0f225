//! What we say about bytes that break the format: finding, offset, remedy.

use hammerspace_error::{Error, Kind};

/// The log breaks a promise of its format at `offset`.
#[cold]
pub(crate) fn log(offset: usize, finding: impl Into<String>) -> Error {
    Error::new(Kind::Corrupt, finding)
        .at(offset as u64)
        .remedy("restore the log from a copy; what precedes this offset can be saved with `hammerspace sparkey dump`")
}

/// The index breaks a promise of its format at `offset`.
#[cold]
pub(crate) fn index(offset: usize, finding: impl Into<String>) -> Error {
    Error::new(Kind::Corrupt, finding)
        .at(offset as u64)
        .remedy("rebuild the index from its log with `hammerspace sparkey writehash`")
}

/// The file is fine, but newer than we are.
#[cold]
pub(crate) fn newer(offset: usize, finding: impl Into<String>) -> Error {
    Error::new(Kind::Unsupported, finding).at(offset as u64).remedy("read it with a newer build")
}

/// The caller asked for something that the format cannot hold.
#[cold]
pub(crate) fn invalid(finding: impl Into<String>) -> Error {
    Error::new(Kind::Invalid, finding)
}
