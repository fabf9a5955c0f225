//! A record: what a segment holds, back to back.
//!
//! ```text
//! | header 8 B | [version 8 B] | [expiry 8 B] | key, value, slack … up to a whole granule |
//! ```
//!
//! - The header says what it is and how long: `header.rs`.
//! - Key and value follow each other without a gap.
//! - `version` is disk slot 16 | sequence 48, `expiry` milliseconds since 1970, 48 | zero 16: the disk log will need them.
//!
//! A record's bytes are written before anything names it, and never changed while something does. Three exceptions, all made
//! under the lock of the key's bucket: bytes beyond the value, the header when the value grows over them, and the one word
//! of an integer value.

use hammerspace_error::{Error, Kind, Result};

use crate::geometry::WORD;
use crate::header::{Header, INLINE_MAX, SEQUENCE_SHIFT};
use crate::key::{KEY_LEN_MAX, Key, OwnedKey};
use crate::region::Region;
use crate::sync::Ordering::Relaxed;
use crate::words::{Bytes, begin_with};

/// A record at its address, with the header it had when it was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) address: u64,
    pub(crate) header: Header,
    /// Bytes of it all, as the header says: worked out once, since a change asks for them time and again.
    pub(crate) size: u64,
}

impl Record {
    #[inline]
    pub(crate) fn new(address: u64, header: Header) -> Self {
        Self { address, header, size: header.size() }
    }

    /// Looks at the record at `address`; the value is not shorter than the header says.
    #[inline]
    pub(crate) fn at(region: &Region, address: u64) -> Self {
        Self::new(address, Header(region.load(address)))
    }

    /// Refuses a record that runs out of its segment: an owner must not count, copy or write there.
    #[inline]
    pub(crate) fn check(self, region: &Region) -> Result<()> {
        if region.layout.holds(self.address, self.size) { Ok(()) } else { Err(self.damaged()) }
    }

    #[cold]
    fn damaged(self) -> Error {
        let finding = format!("the key's record claims {} bytes, and runs out of its segment", self.size);
        let error = Error::new(Kind::Corrupt, finding).at(self.address);
        error.remedy("`hammerspace store verify` tells what else is damaged; save the rest, and create the store anew")
    }

    /// Whether its value may grow to this length where it lies.
    #[inline]
    pub(crate) fn has_room_for(self, value_len: usize) -> bool {
        let grown = self.header.grown_to(value_len);
        let is_told = !self.header.is_versioned() || self.header.version_of(0) <= grown.version_of(0);
        is_told && value_len <= INLINE_MAX && grown.size() == self.size && !self.header.is_large()
    }

    #[inline]
    fn key_address(self) -> u64 {
        self.address + self.header.prefix()
    }

    #[inline]
    pub(crate) fn value_address(self) -> u64 {
        self.key_address() + self.header.key_len()
    }

    /// Whether it is the record of this key of this table.
    #[inline]
    pub(crate) fn is_of(self, region: &Region, table: u16, key: Key<'_>) -> bool {
        self.value_of(region, table, key).is_some()
    }

    /// Its value, if it is the record of this key of this table.
    #[inline]
    pub(crate) fn value_of<'r>(self, region: &'r Region, table: u16, key: Key<'_>) -> Option<Bytes<'r>> {
        if self.header.table() != table || !self.header.has_key_as_long_as(key) {
            return None;
        }
        let words = region.words(self.key_address());
        match key {
            Key::Integer(key) => {
                let (first, value) = words.split_first()?;
                (first.load(Relaxed) == key).then(|| Bytes::new(value, 0, self.header.value_len()))
            }
            Key::Bytes(key) => begin_with(words, key).then(|| Bytes::new(words, key.len(), self.header.value_len())),
        }
    }

    pub(crate) fn key(self, region: &Region) -> OwnedKey {
        if self.header.has_integer_key() {
            return OwnedKey::Integer(region.load(self.key_address()));
        }
        let mut bytes = Vec::new();
        region.bytes(self.key_address(), self.header.key_len().min(KEY_LEN_MAX as u64) as usize).append_to(&mut bytes);
        OwnedKey::Bytes(bytes)
    }

    /// The hash its key is found by. `scratch` is for keys of bytes.
    pub(crate) fn hash(self, region: &Region, scratch: &mut Vec<u8>) -> u64 {
        let key = if self.header.has_integer_key() {
            Key::Integer(region.load(self.key_address()))
        } else {
            scratch.clear();
            region.bytes(self.key_address(), self.header.key_len().min(KEY_LEN_MAX as u64) as usize).append_to(scratch);
            Key::Bytes(scratch)
        };
        key.hash(region.seed, self.header.table())
    }

    #[inline]
    pub(crate) fn version(self, region: &Region) -> Option<u64> {
        self.header.is_versioned().then(|| self.header.version_of(region.load(self.address + WORD) >> SEQUENCE_SHIFT))
    }

    /// When it ceases to be, in milliseconds since 1970.
    #[inline]
    pub(crate) fn expiry(self, region: &Region) -> Option<u64> {
        let address = self.address + WORD * (1 + u64::from(self.header.is_versioned()));
        self.header.is_expiring().then(|| region.load(address) & ((1 << 48) - 1))
    }

    /// Its value: of a damaged record that says it has more, as much as a record can have.
    #[inline]
    pub(crate) fn value(self, region: &Region) -> Bytes<'_> {
        region.bytes(self.value_address(), self.header.value_len().min(INLINE_MAX))
    }

    /// Writes all of the record but its value and its sequence; gives where the value goes. Nothing names the record yet.
    #[inline]
    pub(crate) fn write(self, region: &Region, expiry: Option<u64>, key: Key<'_>) -> u64 {
        let word = |offset: u64, value: u64| region.word(self.address + offset).store(value, Relaxed);
        word(0, self.header.0);
        if let Some(expiry) = expiry {
            word(self.header.prefix() - WORD, expiry);
        }
        let address = self.key_address();
        match key {
            Key::Integer(key) => word(self.header.prefix(), key),
            Key::Bytes(bytes) => region.write_bytes(address, bytes),
        }
        address + key.len() as u64
    }

    /// Writes a copy of this record where `to` is to be, which differs in what comes after the value at most.
    #[inline]
    pub(crate) fn copy(self, region: &Region, to: Self) {
        region.copy_words(self.address + WORD, to.address + WORD, self.size.min(to.size) - WORD);
        region.word(to.address).store(to.header.0, Relaxed);
    }

    /// Replaces the sequence of a record that nothing names yet.
    #[inline]
    pub(crate) fn set_sequence(self, region: &Region, sequence: u64) {
        region.word(self.address + WORD).store(sequence << SEQUENCE_SHIFT, Relaxed);
    }
}
