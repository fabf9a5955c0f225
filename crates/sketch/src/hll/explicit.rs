//! The body of an EXPLICIT value: hashes as signed big-endian 64-bit integers, strictly ascending.

use hammerspace_error::Result;

use super::header::{HEADER_LEN, corrupt};

/// A sorted list of hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explicit<'a>(&'a [[u8; 8]]);

impl<'a> Explicit<'a> {
    pub(super) const EMPTY: Explicit<'static> = Explicit(&[]);

    pub(super) fn open(body: &'a [u8]) -> Result<Self> {
        match body.as_chunks() {
            (hashes, []) => Ok(Self(hashes)),
            (hashes, rest) => {
                let finding = format!("an EXPLICIT HLL with {} bytes of a hash at its end; a hash has 8", rest.len());
                Err(corrupt(finding).at(offset(hashes.len())))
            }
        }
    }

    pub(super) fn verify(self) -> Result<()> {
        match self.0.array_windows().position(|[left, right]| i64::from_be_bytes(*left) >= i64::from_be_bytes(*right)) {
            None => Ok(()),
            Some(at) => Err(corrupt("an EXPLICIT HLL with hashes that do not ascend").at(offset(at + 1))),
        }
    }

    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = u64> + use<'a> {
        self.0.iter().map(|hash| u64::from_be_bytes(*hash))
    }

    /// Where a hash is, or where it belongs.
    pub(super) fn search(self, hash: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&hash.cast_signed(), |other| i64::from_be_bytes(*other))
    }
}

/// Where in the value the hash of this number lies.
fn offset(number: usize) -> u64 {
    (HEADER_LEN + 8 * number) as u64
}

/// Inserts a hash where it belongs.
pub(super) fn insert(value: &mut Vec<u8>, number: usize, hash: u64) {
    let at = HEADER_LEN + 8 * number;
    value.splice(at..at, hash.to_be_bytes());
}

/// Sorts hashes as a list has them, and drops those that come twice.
pub(super) fn sorted(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_by_key(|hash| hash.cast_signed());
    hashes.dedup();
    hashes
}
