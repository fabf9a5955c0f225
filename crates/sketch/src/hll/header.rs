//! The three bytes that every value begins with.

use hammerspace_bytes::Field;
use hammerspace_error::{Error, Kind as ErrorKind, Result};

use super::Params;

/// The bytes of a header, as `docs/format/hll.md` lists them.
pub const FIELDS: [Field; 3] = [
    Field { name: "version_and_kind", offset: 0, size: 1 },
    Field { name: "size", offset: 1, size: 1 },
    Field { name: "storage", offset: 2, size: 1 },
];

/// Where the body begins.
pub(super) const HEADER_LEN: usize = 3;
/// The only version of the format that there is.
const VERSION: u8 = 1;

/// In which way a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing is known of the set; no union with it is known either.
    Undefined = 0,
    /// The set has no elements.
    Empty = 1,
    /// A sorted list of hashes, so the count is exact.
    Explicit = 2,
    /// Index and rank of the registers that are not zero.
    Sparse = 3,
    /// All registers.
    Full = 4,
}

impl Kind {
    /// In the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Undefined, Self::Empty, Self::Explicit, Self::Sparse, Self::Full];

    /// As the format calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undefined => "UNDEFINED",
            Self::Empty => "EMPTY",
            Self::Explicit => "EXPLICIT",
            Self::Sparse => "SPARSE",
            Self::Full => "FULL",
        }
    }
}

/// The header of a value.
pub(super) fn write(kind: Kind, params: Params) -> [u8; HEADER_LEN] {
    let [size, storage] = params.to_bytes();
    [VERSION << 4 | kind as u8, size, storage]
}

/// What the header of a value says.
#[inline]
pub(super) fn read(bytes: &[u8]) -> Result<(Kind, Params)> {
    let Some([first, size, storage]) = bytes.first_chunk::<HEADER_LEN>().copied() else {
        let finding = format!("an HLL of {} bytes; the header alone has {HEADER_LEN}", bytes.len());
        return Err(corrupt(finding).at(bytes.len() as u64));
    };
    check_version(first >> 4)?;
    let Some(kind) = Kind::ALL.get(usize::from(first & 15)).copied() else {
        return Err(corrupt(format!("an HLL of kind {}; the last is 4, FULL", first & 15)).at(0));
    };
    Ok((kind, Params::from_bytes([size, storage])?))
}

fn check_version(version: u8) -> Result<()> {
    match version {
        VERSION => Ok(()),
        0 => Err(corrupt("an HLL of schema version 0; the first is 1").at(0)),
        _ => Err(Error::new(ErrorKind::Unsupported, format!("an HLL of schema version {version}; this build reads 1"))
            .at(0)
            .remedy("read it with a newer build, or write it as version 1")),
    }
}

/// The bytes of a value break a promise of the format.
#[cold]
pub(super) fn corrupt(finding: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, finding).remedy("restore the value, or count its elements again")
}
