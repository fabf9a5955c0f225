//! Keys, and the hashes they are found by.

use twox_hash::XxHash3_64;

use crate::region::geometry::WORD;

/// The longest key, in bytes. (A record has 16 bits for the length, and one value of them marks integer
/// keys.)
pub const KEY_LEN_MAX: usize = (1 << 16) - 2;

/// What a value is found by: an integer, or bytes. The integer 7 and the bytes of the word 7 are two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key<'a> {
    /// Eight bytes, compared as a word.
    Integer(u64),
    /// Up to [`KEY_LEN_MAX`] bytes.
    Bytes(&'a [u8]),
}

impl From<u64> for Key<'_> {
    fn from(key: u64) -> Self {
        Self::Integer(key)
    }
}

impl<'a> From<&'a [u8]> for Key<'a> {
    fn from(key: &'a [u8]) -> Self {
        Self::Bytes(key)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Key<'a> {
    fn from(key: &'a [u8; N]) -> Self {
        Self::Bytes(key)
    }
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(key: &'a str) -> Self {
        Self::Bytes(key.as_bytes())
    }
}

impl<'a> From<&'a String> for Key<'a> {
    fn from(key: &'a String) -> Self {
        Self::Bytes(key.as_bytes())
    }
}

impl<'a> From<&'a Vec<u8>> for Key<'a> {
    fn from(key: &'a Vec<u8>) -> Self {
        Self::Bytes(key)
    }
}

impl<'a> From<&'a OwnedKey> for Key<'a> {
    fn from(key: &'a OwnedKey) -> Self {
        key.as_key()
    }
}

impl Key<'_> {
    /// Bytes the key takes in a record.
    #[inline]
    pub(crate) fn len(self) -> usize {
        match self {
            Key::Integer(_) => WORD as usize,
            Key::Bytes(bytes) => bytes.len(),
        }
    }

    /// The hash of this key of this table. Integers keep their distinctness, bytes are hashed by XXH3.
    #[inline]
    pub(crate) fn hash(self, seed: u64, table: u16) -> u64 {
        let seed = seed.wrapping_add(u64::from(table).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match self {
            Key::Integer(key) => mix(key ^ seed),
            Key::Bytes(bytes) => hash_bytes(seed, bytes),
        }
    }
}

/// A call of its own: it is long, and lookups of integers are not to make room for it.
#[inline(never)]
fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection.
#[inline]
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// A key read back from a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnedKey {
    /// As [`Key::Integer`].
    Integer(u64),
    /// As [`Key::Bytes`].
    Bytes(Vec<u8>),
}

impl OwnedKey {
    /// The key as it is asked for.
    pub fn as_key(&self) -> Key<'_> {
        match self {
            Self::Integer(key) => Key::Integer(*key),
            Self::Bytes(bytes) => Key::Bytes(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_bytes_are_different_keys_and_tables_do_not_meet() {
        let hashes = [
            Key::Integer(7).hash(1, 1),
            Key::Integer(7).hash(1, 2),
            Key::Integer(7).hash(2, 1),
            Key::Bytes(&7u64.to_le_bytes()).hash(1, 1),
            Key::Bytes(b"").hash(1, 1),
        ];
        for (at, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..at].contains(hash));
        }
    }
}
