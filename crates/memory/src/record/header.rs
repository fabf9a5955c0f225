//! The first word of a record: what it is, and how long.
//!
//! ```text
//! from the lowest bit on:
//! | value_len 16 | key_len 16 | table 16 | kind 6 | granule 4 | sequenced 1 | expiring 1 | large 1 | grown 1 | extended 1 | 0 1 |
//! ```
//!
//! - A `key_len` of 65535 marks an integer key of one word. An empty byte key has 0.
//! - The value has room up to a whole granule of `8 << granule` bytes (0: just what it takes), and the record
//!   ends at a whole word. What lies beyond the value is slack: a value may grow into it, and then only this
//!   word changes.
//! - The version that callers see is the record's sequence, with the value's length in place of the
//!   D-segment. So this one word changes a value and its version.
//! - `large` means that the value is not here: see `large.rs`. `grown` means that it was appended to since a
//!   cleaner last moved it.
//! - `extended` means that an extension follows the expiry: see `record.rs`. The last bit is reserved, and
//!   zero.

use crate::record::key::{KEY_LEN_MAX, Key};
use crate::region::geometry::WORD;

/// The longest value that lies in its record, as long as its length has bits for; a longer one lies in
/// several. In tests it is short, so that all schedules have long values.
pub(crate) const INLINE_MAX: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 } - 1;

/// The table of the parts of long values, which fill segments to the end: they have no slack, but for
/// growing.
pub(crate) const TABLE_OF_PARTS: u16 = u16::MAX;

const LEN: u64 = (1 << 16) - 1;
const INTEGER: u64 = LEN;
const GRANULE_MAX: u32 = 15;
pub(crate) const SEQUENCE_SHIFT: u32 = 16;

/// The first word of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header(pub(crate) u64);

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

impl Header {
    const GRANULE: u64 = 15 << Self::GRANULE_SHIFT;
    const GRANULE_SHIFT: u32 = 54;
    const SEQUENCED: u64 = 1 << 58;
    const EXPIRING: u64 = 1 << 59;
    const LARGE: u64 = 1 << 60;
    const GROWN: u64 = 1 << 61;
    pub(crate) const EXTENDED: u64 = 1 << 62;
    const RESERVED: u64 = 1 << 63;
    /// Bytes of the longest record that this build writes: without an extension.
    pub(crate) const SIZE_MAX: u64 = 3 * WORD + KEY_LEN_MAX as u64 + INLINE_MAX as u64;

    #[inline]
    pub(crate) fn new(table: u16, key: Key<'_>, value_len: usize, traits: &Traits) -> Self {
        debug_assert!(value_len <= INLINE_MAX && key.len() <= KEY_LEN_MAX);
        let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        Self(
            value_len as u64
                | code_of(key) << 16
                | u64::from(table) << 32
                | u64::from(traits.kind) << 48
                | u64::from(granule_of_new(table, value_len)) << Self::GRANULE_SHIFT
                | flag(traits.sequence.is_some(), Self::SEQUENCED)
                | flag(traits.expiry.is_some(), Self::EXPIRING)
                | flag(traits.is_large, Self::LARGE),
        )
    }

    #[inline]
    pub(crate) fn value_len(self) -> usize {
        field(self.0, 0, 16) as usize
    }

    /// The same record with a longer value.
    #[inline]
    pub(crate) fn grown_to(self, value_len: usize) -> Self {
        Self(self.0 & !LEN | value_len as u64 | Self::GROWN)
    }

    /// The same record elsewhere, with a longer value and some slack behind it, and without its extension:
    /// that is of the old value.
    #[inline]
    pub(crate) fn regrown_to(self, value_len: usize) -> Self {
        Self(self.grown_to(value_len).with_granule(granule_of_grown(value_len)).0 & !Self::EXTENDED)
    }

    /// As it is written after a cleaner came by, never longer: a value that did not grow since the last time
    /// keeps the slack of one that is put.
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
        field(self.0, Self::GRANULE_SHIFT, 4) as u32
    }

    #[inline]
    fn with_granule(self, granule: u32) -> Self {
        Self(self.0 & !Self::GRANULE | u64::from(granule) << Self::GRANULE_SHIFT)
    }

    #[inline]
    fn key_code(self) -> u64 {
        field(self.0, 16, 16)
    }

    /// Whether its key is of this one's kind and length.
    #[inline]
    pub(crate) fn has_key_as_long_as(self, key: Key<'_>) -> bool {
        self.key_code() == code_of(key)
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
        field(self.0, 48, 6) as u8
    }

    #[inline]
    pub(crate) fn table(self) -> u16 {
        field(self.0, 32, 16) as u16
    }

    #[inline]
    pub(crate) fn is_versioned(self) -> bool {
        self.0 & Self::SEQUENCED != 0
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

    /// Whether an extension follows the expiry.
    #[inline]
    pub(crate) fn is_extended(self) -> bool {
        self.0 & Self::EXTENDED != 0
    }

    /// Whether its value may change where it lies: it is here, and no extension says anything about it.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.0 & (Self::LARGE | Self::EXTENDED) == 0
    }

    /// Bytes in front of the key, but for the extension: how long that is, it says itself.
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

    /// Bytes of the whole record, but for the extension.
    #[inline]
    pub(crate) fn size(self) -> u64 {
        self.prefix() + self.body()
    }

    /// Whether a record may have this header.
    #[inline]
    pub(crate) fn can_be(self) -> bool {
        self.0 & Self::RESERVED == 0 && self.value_len() <= INLINE_MAX
    }

    /// The version of the record that begins so and has this sequence. It is another one, and greater, for
    /// each length.
    #[inline]
    pub(crate) fn version_of(self, sequence: u64) -> u64 {
        sequence << SEQUENCE_SHIFT | self.value_len() as u64
    }
}

/// The granule for a value that has just grown to `len` bytes: a quarter of it or less, so that what is
/// copied while a value grows byte by byte is a fixed multiple of what is appended, and an eighth of its
/// memory is slack at most, on average.
#[inline]
fn granule_of_grown(len: usize) -> u32 {
    ((len / 4).max(8).ilog2() - 3).min(GRANULE_MAX)
}

/// The granule for a value that is put: a sixty-fourth of it or less. So long values of all lengths have few
/// sizes, and one finds room where another was (`holes.rs`), for a hundredth of their memory.
#[inline]
fn granule_of_new(table: u16, len: usize) -> u32 {
    if table == TABLE_OF_PARTS { 0 } else { (len / 64).max(8).ilog2() - 3 }
}

#[inline]
fn code_of(key: Key<'_>) -> u64 {
    match key {
        Key::Integer(_) => INTEGER,
        Key::Bytes(bytes) => bytes.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    #[test]
    fn a_header_gives_back_what_it_was_made_of() {
        let long = vec![7; KEY_LEN_MAX];
        let keys = [Key::Integer(u64::MAX), Key::Bytes(b""), Key::Bytes(&long)];
        for (key, value_len) in keys.into_iter().flat_map(|key| [0, 1, 100, INLINE_MAX].map(|len| (key, len))) {
            let traits = Traits { kind: 63, sequence: Some(1), expiry: None, is_large: true };
            let header = Header::new(65535, key, value_len, &traits);
            assert_eq!((header.value_len(), header.kind(), header.table()), (value_len, 63, 65535));
            assert_eq!(header.key_len(), key.len() as u64);
            assert!(header.is_versioned() && !header.is_expiring() && header.is_large());
            assert_eq!(header.size(), 16 + (key.len() + value_len).next_multiple_of(8) as u64);
        }
    }

    #[test]
    fn slack_is_used_up_before_a_record_moves() {
        let of = |len: usize| Header::new(1, Key::Integer(1), 0, &Traits::default()).regrown_to(len);
        let header = of(800);
        assert_eq!((granule_of_grown(800), header.size()), (4, 16 + 896));
        let has_room = |header, len| Record::new(0, header).has_room_for(len);
        assert!(has_room(header, 896) && !has_room(header, 897) && !has_room(of(INLINE_MAX), INLINE_MAX + 1));
        let grown = header.grown_to(896);
        assert_eq!((grown.size(), grown.value_len(), grown.kind()), (16 + 896, 896, 0));
        // The first cleaner keeps the slack of what has grown, the second does not.
        let once = header.cleaned();
        assert_eq!((once.size(), once.cleaned().size()), (16 + 896, 16 + 800));
    }

    /// Who has seen a version must not take another value of the record for that one.
    #[test]
    fn each_length_that_a_value_may_grow_to_is_another_version() {
        let of = |len: u64, sequence| {
            let traits = Traits { sequence, ..Traits::default() };
            Header(Header::new(1, Key::Integer(1), 0, &traits).with_granule(GRANULE_MAX).0 | len)
        };
        for sequence in [4, 5] {
            let mut versions = (0..1 << 16).map(|len| of(len, Some(0)).version_of(sequence));
            assert!(versions.by_ref().is_sorted_by(|one, next| one < next));
            assert_eq!(of(LEN, Some(0)).version_of(sequence) + 1, of(0, Some(0)).version_of(sequence + 1));
        }
    }

    /// The same fields at the same bits as on the format's page.
    #[test]
    fn a_header_is_what_its_page_says() {
        let page = include_str!("../../../../docs/format/region.md");
        let line = page.lines().find_map(|line| line.strip_prefix("header:    ")).expect("the page has it");
        let mut bit = 0;
        let fields: Vec<(&str, u64)> = line
            .split('|')
            .map(str::trim)
            .filter(|field| !field.is_empty())
            .map(|field| {
                let (name, bits) = field.rsplit_once(' ').expect("a name and a number of bits");
                let bits: u32 = bits.parse().unwrap();
                let mask = ((1_u128 << bits) - 1) as u64;
                bit += bits;
                (name, mask << (bit - bits))
            })
            .collect();
        let flags = [
            ("sequenced", Header::SEQUENCED),
            ("expiring", Header::EXPIRING),
            ("large", Header::LARGE),
            ("grown", Header::GROWN),
            ("extended", Header::EXTENDED),
            ("0", Header::RESERVED),
        ];
        let key = Header::new(0, Key::Integer(0), 0, &Traits::default()).0;
        let table = Header::new(u16::MAX, Key::Bytes(b""), 0, &Traits::default()).0;
        let kind = Header::new(0, Key::Bytes(b""), 0, &Traits { kind: 63, ..Traits::default() }).0;
        let numbers = [
            ("value_len", Header(0).grown_to(LEN as usize).0 & !Header::GROWN),
            ("key_len", key),
            ("table", table),
            ("kind", kind),
            ("granule", Header::GRANULE),
        ];
        assert_eq!(fields, [&numbers[..], &flags[..]].concat());
        assert_eq!(bit, 64);
    }

    #[test]
    fn long_values_have_few_sizes_and_little_slack() {
        let taken = |len: usize| len.next_multiple_of(8 << granule_of_new(1, len));
        assert!((1..1 << 16).all(|len| taken(len) - len < (len / 64).max(8) && taken(len) <= 1 << 16));
        let sizes: std::collections::BTreeSet<usize> = (5_000..=15_000).map(taken).collect();
        assert!(sizes.len() <= 110, "{}", sizes.len());
    }

    #[test]
    fn cleaners_leave_the_slack_of_what_is_put_and_none_to_parts() {
        let long = |table, len: u64| {
            let short = Header::new(table, Key::Bytes(&[0; 16]), 0, &Traits::default());
            Header(short.0 | len)
        };
        let of_put = granule_of_new(1, 10_000);
        let cleaned = |granule| long(1, 10_000).with_granule(granule).cleaned().granule();
        assert_eq!([0, of_put - 1, of_put, of_put + 1].map(cleaned), [0, of_put - 1, of_put, of_put]);
        assert_eq!(long(TABLE_OF_PARTS, (1 << 16) - 24).with_granule(10).cleaned().size(), 1 << 16);
        let new = |table| Header::new(table, Key::Integer(1), INLINE_MAX, &Traits::default()).granule();
        assert_eq!((new(TABLE_OF_PARTS), new(1)), (0, granule_of_new(1, INLINE_MAX)));
    }

    /// Else it might be refused where there is no room, as a value that has grown by its last word can have
    /// no slack.
    #[test]
    fn what_is_as_long_as_before_takes_no_more_than_before() {
        let header = Header::new(1, Key::Bytes(&[0; 7]), 0, &Traits::default());
        let [old, new] = [0, 1].map(|granule| Header(header.0 | 0x401).with_granule(granule));
        assert!(new.size() > old.size());
        assert_eq!((new.within(old.size()), new.within(new.size()), new.within(1)), (old, new, new));
    }

    #[test]
    fn what_growing_copies_is_a_multiple_of_what_is_appended() {
        let mut header = Header::new(1, Key::Integer(1), 0, &Traits::default());
        let mut copied = 0;
        while header.value_len() + 16 <= INLINE_MAX {
            let len = header.value_len() + 16;
            if !Record::new(0, header).has_room_for(len) {
                copied += len;
                header = header.regrown_to(len);
            }
            header = header.grown_to(len);
        }
        assert!(copied < 10 * INLINE_MAX, "{copied} bytes copied for {INLINE_MAX}");
    }
}
