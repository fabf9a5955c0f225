//! A record: what a segment holds, back to back.
//!
//! ```text
//! | head 8 B | [version 8 B] | [expiry 8 B] | key, value, slack … up to a whole granule |
//!
//! head, from its lowest bit on:
//! | value_len 17 | key_len 17 | kind 6 | table 16 | granule 4 | versioned 1 | expiring 1 | large 1 | grown 1 |
//! ```
//!
//! - `key_len` 131071 says that the key is an integer, one word; an empty key of bytes has 0.
//! - Key and value follow each other without a gap. The value has room up to a whole granule of `8 << granule` bytes (0: just what
//!   it takes), and the record ends at a whole word. What lies beyond the value is slack: a value may grow into it, and then
//!   only the head changes.
//! - `version` is disk slot 16 | sequence 48, `expiry` milliseconds since 1970, 48 | zero 16: the disk log will need them.
//! - The version that callers see is the sequence, and in the place of the disk slot how long the value is. So one word, the head,
//!   changes a value and its version.
//! - `large` says that the value is not here: see `large.rs`. `grown` that something was appended since a cleaner came by.
//!
//! A record's bytes are written before anything names it, and never changed while something does. Three exceptions, all made
//! under the lock of the key's bucket: bytes beyond the value, the head when the value grows over them, and the one word
//! of an integer value.

use hammerspace_error::{Error, Kind, Result};
use twox_hash::XxHash3_64;

use crate::geometry::WORD;
use crate::region::Region;
use crate::sync::Ordering::Relaxed;
use crate::words::{Bytes, begin_with};

/// The longest key, in bytes.
pub const KEY_LEN_MAX: usize = 1 << 16;
/// The longest value that lies in its record; what is longer lies in several. Tests have short ones, to have it in all sorts of schedules.
pub(crate) const INLINE_MAX: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };

/// The table of the parts of long values, which fill segments to the end: they have no slack, but for growing.
pub(crate) const TABLE_OF_PARTS: u16 = u16::MAX;

const INTEGER: u64 = (1 << 17) - 1;
const GRANULE_MAX: u32 = 15;
const SEQUENCE_SHIFT: u32 = 16;

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
    #[inline]
    fn len_code(self) -> u64 {
        match self {
            Key::Integer(_) => INTEGER,
            Key::Bytes(bytes) => bytes.len() as u64,
        }
    }

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

/// The first word of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head(pub(crate) u64);

/// What a record is made with, beside its key and value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    pub(crate) kind: u8,
    pub(crate) sequence: Option<u64>,
    pub(crate) expiry: Option<u64>,
    pub(crate) is_large: bool,
}

const fn field(word: u64, shift: u32, bits: u32) -> u64 {
    word >> shift & ((1 << bits) - 1)
}

impl Head {
    const GRANULE: u64 = 15 << 56;
    const VERSIONED: u64 = 1 << 60;
    const EXPIRING: u64 = 1 << 61;
    const LARGE: u64 = 1 << 62;
    const GROWN: u64 = 1 << 63;
    /// Bytes of the longest record.
    pub(crate) const SIZE_MAX: u64 = 3 * WORD + KEY_LEN_MAX as u64 + INLINE_MAX as u64;

    #[inline]
    pub(crate) fn new(table: u16, key: Key<'_>, value_len: usize, traits: &Traits) -> Self {
        debug_assert!(value_len <= INLINE_MAX && key.len() <= KEY_LEN_MAX);
        let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        Self(
            value_len as u64
                | key.len_code() << 17
                | u64::from(traits.kind) << 34
                | u64::from(table) << 40
                | u64::from(granule_of_new(table, value_len)) << 56
                | flag(traits.sequence.is_some(), Self::VERSIONED)
                | flag(traits.expiry.is_some(), Self::EXPIRING)
                | flag(traits.is_large, Self::LARGE),
        )
    }

    #[inline]
    pub(crate) fn value_len(self) -> usize {
        field(self.0, 0, 17) as usize
    }

    /// The same record with a longer value.
    #[inline]
    pub(crate) fn grown_to(self, value_len: usize) -> Self {
        Self(self.0 & !((1 << 17) - 1) | value_len as u64 | Self::GROWN)
    }

    /// The same record elsewhere, with a longer value and some slack behind it.
    #[inline]
    pub(crate) fn regrown_to(self, value_len: usize) -> Self {
        self.grown_to(value_len).with_granule(granule_of_grown(value_len))
    }

    /// As it is written after a cleaner came by, never longer: a value that did not grow since the last time keeps the slack of one that is put.
    #[inline]
    pub(crate) fn cleaned(self) -> Self {
        if self.has_grown() {
            return Self(self.0 & !Self::GROWN);
        }
        self.with_granule(self.granule().min(granule_of_new(self.table(), self.value_len())))
    }

    /// Without slack, if it would take more than `size` with it, and not without.
    #[inline]
    pub(crate) fn within(self, size: u64) -> Self {
        let tight = self.with_granule(0);
        if self.size() > size && tight.size() <= size { tight } else { self }
    }

    #[inline]
    fn granule(self) -> u32 {
        field(self.0, 56, 4) as u32
    }

    #[inline]
    fn with_granule(self, granule: u32) -> Self {
        Self(self.0 & !Self::GRANULE | u64::from(granule) << 56)
    }

    #[inline]
    fn key_code(self) -> u64 {
        field(self.0, 17, 17)
    }

    #[inline]
    pub(crate) fn has_integer_key(self) -> bool {
        self.key_code() == INTEGER
    }

    #[inline]
    pub(crate) fn key_len(self) -> u64 {
        if self.has_integer_key() { WORD } else { self.key_code() }
    }

    #[inline]
    pub(crate) fn kind(self) -> u8 {
        field(self.0, 34, 6) as u8
    }

    #[inline]
    pub(crate) fn table(self) -> u16 {
        field(self.0, 40, 16) as u16
    }

    #[inline]
    pub(crate) fn is_versioned(self) -> bool {
        self.0 & Self::VERSIONED != 0
    }

    #[inline]
    pub(crate) fn is_expiring(self) -> bool {
        self.0 & Self::EXPIRING != 0
    }

    /// Whether its value was shorter once, where it lies.
    #[inline]
    pub(crate) fn has_grown(self) -> bool {
        self.0 & Self::GROWN != 0
    }

    /// Whether its value lies in parts, and here what they are found by.
    #[inline]
    pub(crate) fn is_large(self) -> bool {
        self.0 & Self::LARGE != 0
    }

    /// Bytes in front of the key.
    #[inline]
    pub(crate) fn prefix(self) -> u64 {
        WORD * (1 + u64::from(self.is_versioned()) + u64::from(self.is_expiring()))
    }

    /// Bytes that key and value may take before the record has to move.
    #[inline]
    fn body(self) -> u64 {
        let granule = match self.granule() {
            0 => 1,
            code => WORD << code,
        };
        // A power of two: rounded up without dividing, since every change asks several times.
        let value = (self.value_len() as u64 + granule - 1) & !(granule - 1);
        (self.key_len() + value).next_multiple_of(WORD)
    }

    /// Bytes of the whole record.
    #[inline]
    pub(crate) fn size(self) -> u64 {
        self.prefix() + self.body()
    }

    /// Whether a record may have this head: one of ours is neither longer than keys nor than values are.
    #[inline]
    pub(crate) fn can_be(self) -> bool {
        self.value_len() <= INLINE_MAX && (self.has_integer_key() || self.key_code() <= KEY_LEN_MAX as u64)
    }

    /// The version of the record that begins so and has this sequence. It is another one, and greater, for each length up to 65535.
    #[inline]
    pub(crate) fn version_of(self, sequence: u64) -> u64 {
        sequence << SEQUENCE_SHIFT | self.value_len() as u64 & ((1 << SEQUENCE_SHIFT) - 1)
    }
}

/// The granule for a value that has just grown to `len` bytes: a quarter of it or less, so that what is copied while a value
/// grows byte by byte is a fixed multiple of what is appended, and an eighth of its memory is slack at most, on average.
#[inline]
fn granule_of_grown(len: usize) -> u32 {
    ((len / 4).max(8).ilog2() - 3).min(GRANULE_MAX)
}

/// The granule for a value that is put: a sixty-fourth of it or less. So long values of all lengths have few sizes, and one finds room where
/// another was (`holes.rs`), for a hundredth of their memory.
#[inline]
fn granule_of_new(table: u16, len: usize) -> u32 {
    if table == TABLE_OF_PARTS { 0 } else { (len / 64).max(8).ilog2() - 3 }
}

/// A record at its address, with the head it had when it was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) address: u64,
    pub(crate) head: Head,
    /// Bytes of it all, as the head says: worked out once, since a change asks for them time and again.
    pub(crate) size: u64,
}

impl Record {
    #[inline]
    pub(crate) fn new(address: u64, head: Head) -> Self {
        Self { address, head, size: head.size() }
    }

    /// Looks at the record at `address`; the value is not shorter than the head says.
    #[inline]
    pub(crate) fn at(region: &Region, address: u64) -> Self {
        Self::new(address, Head(region.load(address)))
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
        let grown = self.head.grown_to(value_len);
        let is_told = !self.head.is_versioned() || self.head.version_of(0) <= grown.version_of(0);
        is_told && value_len <= INLINE_MAX && grown.size() == self.size && !self.head.is_large()
    }

    #[inline]
    fn key_address(self) -> u64 {
        self.address + self.head.prefix()
    }

    #[inline]
    pub(crate) fn value_address(self) -> u64 {
        self.key_address() + self.head.key_len()
    }

    /// Whether it is the record of this key of this table.
    #[inline]
    pub(crate) fn is_of(self, region: &Region, table: u16, key: Key<'_>) -> bool {
        self.value_of(region, table, key).is_some()
    }

    /// Its value, if it is the record of this key of this table.
    #[inline]
    pub(crate) fn value_of<'r>(self, region: &'r Region, table: u16, key: Key<'_>) -> Option<Bytes<'r>> {
        if self.head.table() != table || self.head.key_code() != key.len_code() {
            return None;
        }
        let words = region.words(self.key_address());
        match key {
            Key::Integer(key) => {
                let (first, value) = words.split_first()?;
                (first.load(Relaxed) == key).then(|| Bytes::new(value, 0, self.head.value_len()))
            }
            Key::Bytes(key) => begin_with(words, key).then(|| Bytes::new(words, key.len(), self.head.value_len())),
        }
    }

    pub(crate) fn key(self, region: &Region) -> OwnedKey {
        if self.head.has_integer_key() {
            return OwnedKey::Integer(region.load(self.key_address()));
        }
        let mut bytes = Vec::new();
        region.bytes(self.key_address(), self.head.key_len().min(KEY_LEN_MAX as u64) as usize).append_to(&mut bytes);
        OwnedKey::Bytes(bytes)
    }

    /// The hash its key is found by. `scratch` is for keys of bytes.
    pub(crate) fn hash(self, region: &Region, scratch: &mut Vec<u8>) -> u64 {
        let key = if self.head.has_integer_key() {
            Key::Integer(region.load(self.key_address()))
        } else {
            scratch.clear();
            region.bytes(self.key_address(), self.head.key_len().min(KEY_LEN_MAX as u64) as usize).append_to(scratch);
            Key::Bytes(scratch)
        };
        key.hash(region.seed, self.head.table())
    }

    #[inline]
    pub(crate) fn version(self, region: &Region) -> Option<u64> {
        self.head.is_versioned().then(|| self.head.version_of(region.load(self.address + WORD) >> SEQUENCE_SHIFT))
    }

    /// When it ceases to be, in milliseconds since 1970.
    #[inline]
    pub(crate) fn expiry(self, region: &Region) -> Option<u64> {
        let address = self.address + WORD * (1 + u64::from(self.head.is_versioned()));
        self.head.is_expiring().then(|| region.load(address) & ((1 << 48) - 1))
    }

    /// Its value: of a damaged record that says it has more, as much as a record can have.
    #[inline]
    pub(crate) fn value(self, region: &Region) -> Bytes<'_> {
        region.bytes(self.value_address(), self.head.value_len().min(INLINE_MAX))
    }

    /// Writes all of the record but its value; gives where that goes. Nothing names it yet.
    #[inline]
    pub(crate) fn write(self, region: &Region, traits: &Traits, key: Key<'_>) -> u64 {
        let word = |offset: u64, value: u64| region.word(self.address + offset).store(value, Relaxed);
        word(0, self.head.0);
        if let Some(sequence) = traits.sequence {
            word(WORD, sequence << SEQUENCE_SHIFT);
        }
        if let Some(expiry) = traits.expiry {
            word(self.head.prefix() - WORD, expiry);
        }
        let address = self.key_address();
        match key {
            Key::Integer(key) => word(self.head.prefix(), key),
            Key::Bytes(bytes) => region.write_bytes(address, bytes),
        }
        address + key.len() as u64
    }

    /// Writes a copy of this record where `to` is to be, which differs in what comes after the value at most.
    #[inline]
    pub(crate) fn copy(self, region: &Region, to: Self) {
        region.copy_words(self.address + WORD, to.address + WORD, self.size.min(to.size) - WORD);
        region.word(to.address).store(to.head.0, Relaxed);
    }

    /// Replaces the sequence of a record that nothing names yet.
    #[inline]
    pub(crate) fn set_sequence(self, region: &Region, sequence: u64) {
        region.word(self.address + WORD).store(sequence << SEQUENCE_SHIFT, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gives_back_what_it_was_made_of() {
        let long = vec![7; KEY_LEN_MAX];
        let keys = [Key::Integer(u64::MAX), Key::Bytes(b""), Key::Bytes(&long)];
        for (key, value_len) in keys.into_iter().flat_map(|key| [0, 1, 100, INLINE_MAX].map(|len| (key, len))) {
            let traits = Traits { kind: 63, sequence: Some(1), expiry: None, is_large: true };
            let head = Head::new(65535, key, value_len, &traits);
            assert_eq!((head.value_len(), head.kind(), head.table()), (value_len, 63, 65535));
            assert_eq!(head.key_len(), key.len() as u64);
            assert!(head.is_versioned() && !head.is_expiring() && head.is_large());
            assert_eq!(head.size(), 16 + (key.len() + value_len).next_multiple_of(8) as u64);
        }
    }

    #[test]
    fn slack_is_used_up_before_a_record_moves() {
        let of = |len: usize| Head::new(1, Key::Integer(1), 0, &Traits::default()).regrown_to(len);
        let head = of(1000);
        assert_eq!((granule_of_grown(1000), head.size()), (4, 16 + 1024));
        let has_room = |head, len| Record::new(0, head).has_room_for(len);
        assert!(has_room(head, 1024) && !has_room(head, 1025) && !has_room(of(INLINE_MAX), INLINE_MAX + 1));
        let grown = head.grown_to(1024);
        assert_eq!((grown.size(), grown.value_len(), grown.kind()), (16 + 1024, 1024, 0));
        // The first cleaner keeps the slack of what has grown, the second does not.
        let once = head.cleaned();
        assert_eq!((once.size(), once.cleaned().size()), (16 + 1024, 16 + 1000));
    }

    /// Who has seen a version must not take another value of the record for that one.
    #[test]
    fn each_length_that_a_value_may_grow_to_is_another_version() {
        let of = |len: u64, sequence| {
            let traits = Traits { sequence, ..Traits::default() };
            Head(Head::new(1, Key::Integer(1), 0, &traits).with_granule(GRANULE_MAX).0 | len)
        };
        for sequence in [4, 5] {
            let versions: Vec<u64> = (0..=1 << 16).map(|len| of(len, Some(0)).version_of(sequence)).collect();
            assert!(versions[..1 << 16].is_sorted_by(|one, next| one < next));
            assert_eq!([versions[0], versions[1 << 16]], [sequence << 16; 2]);
        }
        let room = |len: u64, sequence| {
            [len - 1, len, len + 1].map(|to| Record::new(0, of(len, sequence)).has_room_for(to as usize))
        };
        assert_eq!([room(9, Some(0)), room(9, None)], [[false, true, true], [true; 3]]);
    }

    #[test]
    fn long_values_have_few_sizes_and_little_slack() {
        let taken = |len: usize| len.next_multiple_of(8 << granule_of_new(1, len));
        assert!((1..=1 << 16).all(|len| taken(len) - len < (len / 64).max(8) && taken(len) <= 1 << 16));
        let sizes: std::collections::BTreeSet<usize> = (5_000..=15_000).map(taken).collect();
        assert!(sizes.len() <= 110, "{}", sizes.len());
    }

    #[test]
    fn cleaners_leave_the_slack_of_what_is_put_and_none_to_parts() {
        let long = |table, len: u64| {
            let short = Head::new(table, Key::Bytes(&[0; 16]), 0, &Traits::default());
            Head(short.0 | len)
        };
        let of_put = granule_of_new(1, 10_000);
        let cleaned = |granule| long(1, 10_000).with_granule(granule).cleaned().granule();
        assert_eq!([0, of_put - 1, of_put, of_put + 1].map(cleaned), [0, of_put - 1, of_put, of_put]);
        assert_eq!(long(TABLE_OF_PARTS, (1 << 16) - 24).with_granule(10).cleaned().size(), 1 << 16);
        let new = |table| Head::new(table, Key::Integer(1), INLINE_MAX, &Traits::default()).granule();
        assert_eq!((new(TABLE_OF_PARTS), new(1)), (0, granule_of_new(1, INLINE_MAX)));
    }

    /// Else it might be refused where there is no room, as a value that has grown by its last word can have no slack.
    #[test]
    fn what_is_as_long_as_before_takes_no_more_than_before() {
        let head = Head::new(1, Key::Bytes(&[0; 7]), 0, &Traits::default());
        let [old, new] = [0, 1].map(|granule| Head(head.0 | 0x401).with_granule(granule));
        assert!(new.size() > old.size());
        assert_eq!((new.within(old.size()), new.within(new.size()), new.within(1)), (old, new, new));
    }

    #[test]
    fn what_growing_copies_is_a_multiple_of_what_is_appended() {
        let mut head = Head::new(1, Key::Integer(1), 0, &Traits::default());
        let mut copied = 0;
        while head.value_len() + 16 <= INLINE_MAX {
            let len = head.value_len() + 16;
            if !Record::new(0, head).has_room_for(len) {
                copied += len;
                head = head.regrown_to(len);
            }
            head = head.grown_to(len);
        }
        assert!(copied < 10 * INLINE_MAX, "{copied} bytes copied for {INLINE_MAX}");
    }

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
