//! What a writer sees of a record under its lock, and what it then wants.

use std::borrow::Cow;

use crate::parts::large::{self, VALUE_LEN_MAX};
use crate::read::{Meta, RecordMeta};
use crate::record::Record;
use crate::record::header::SEQUENCE_SHIFT;
use crate::record::key::OwnedKey;
use crate::region::Region;

/// A key's record as it is while its lock is held.
pub struct Old<'r> {
    pub(crate) region: &'r Region,
    pub(crate) record: Record,
}

impl Old<'_> {
    /// What is known beside the value.
    #[inline]
    pub fn meta(&self) -> Meta {
        RecordMeta::of(self.region, self.record).meta()
    }

    /// What the value is.
    #[inline]
    pub fn kind(&self) -> u8 {
        self.record.header.kind()
    }

    /// Bytes of the value.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a value that is empty is nothing special")]
    pub fn len(&self) -> u64 {
        match self.large() {
            Some(large) => large.len,
            None => self.record.header.value_len() as u64,
        }
    }

    /// Appends the value to `out`. `false`, and nothing appended, if it lies in parts and one cannot be read.
    #[must_use]
    pub fn read(&self, out: &mut Vec<u8>) -> bool {
        if let Some(large) = self.large() {
            return large::read(self.region, large, out).unwrap_or(false);
        }
        self.record.value(self.region).append_to(out);
        true
    }

    /// The bytes of the value that lie in its record: those of a value in parts say where these are.
    pub fn value_in_record(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.record.value(self.region).append_to(&mut bytes);
        bytes
    }

    /// Whether its value lies in parts, which are records of their own.
    pub fn is_large(&self) -> bool {
        self.record.header.is_large()
    }

    /// The sequence of its last whole write, if it keeps one.
    pub fn sequence(&self) -> Option<u64> {
        self.record.version(self.region).map(|version| version >> SEQUENCE_SHIFT)
    }

    /// The number of its table.
    pub fn table(&self) -> u16 {
        self.record.header.table()
    }

    /// A copy of its key.
    pub fn key(&self) -> OwnedKey {
        self.record.key(self.region)
    }

    /// A value of eight bytes as a little-endian number.
    pub fn word(&self) -> Option<u64> {
        if self.record.header.value_len() != 8 || self.record.header.is_large() {
            return None;
        }
        let address = self.record.value_address();
        let (first, skip) = (self.region.load(address), address % 8 * 8);
        Some(if skip == 0 { first } else { first >> skip | self.region.load(address + 8) << (64 - skip) })
    }

    /// Where a value lies that is too long for its record.
    #[inline]
    pub(crate) fn large(&self) -> Option<PartsRef> {
        self.record.header.is_large().then(|| self.read_large())
    }

    #[cold]
    fn read_large(&self) -> PartsRef {
        PartsRef::of(&self.value_in_record())
    }
}

/// What a record holds in place of a value that is too long for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartsRef {
    /// The number that its parts are found by, used once.
    pub(crate) id: u64,
    /// Bytes of the value.
    pub(crate) len: u64,
}

impl PartsRef {
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    /// What `to_bytes` made; of anything else, something no longer than a value may be.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let word =
            |at: usize| bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().expect("eight")));
        Self { id: word(0), len: word(8).min(VALUE_LEN_MAX) }
    }
}

/// The value of a new record.
#[derive(Clone, Debug)]
pub enum Value<'c> {
    /// These bytes.
    Bytes(Cow<'c, [u8]>),
    /// What was put in parts before.
    Parts(PartsRef),
}

impl<'c> From<&'c [u8]> for Value<'c> {
    fn from(bytes: &'c [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }
}

impl From<PartsRef> for Value<'_> {
    fn from(parts: PartsRef) -> Self {
        Self::Parts(parts)
    }
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub enum Change<'c> {
    /// Nothing.
    Keep,
    /// It goes.
    Delete,
    /// It becomes this.
    Put {
        /// What the value is.
        kind: u8,
        /// The value.
        value: Value<'c>,
        /// When it ceases to be, in milliseconds since 1970.
        expiry: Option<u64>,
    },
    /// Its value grows by these bytes; what else is known of it stays. Where there was none, it begins with
    /// them.
    Append {
        /// What the value is, where there was none.
        kind: u8,
        /// The bytes.
        bytes: &'c [u8],
    },
    /// Its expiry becomes this, and everything else stays. Where there was none, nothing happens.
    Expire(Option<u64>),
    /// Its value, of eight bytes, becomes this little-endian number; its expiry stays. Where there was none,
    /// it begins with it.
    Word {
        /// What the value is.
        kind: u8,
        /// The number.
        word: u64,
    },
}

/// What a caller decides about a record: what becomes of it, and what the caller wants to know of that.
#[derive(Clone, Debug)]
pub struct Decision<'c, R = ()> {
    /// What becomes of the record.
    pub change: Change<'c>,
    /// What [`Updated::result`] will be.
    pub result: R,
}

impl<'c> From<Change<'c>> for Decision<'c> {
    fn from(change: Change<'c>) -> Self {
        Self { change, result: () }
    }
}

/// What came of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated<R = ()> {
    pub(crate) seen: Option<RecordMeta>,
    /// The version that the record has now; `None` where it is gone, or has none.
    pub version: Option<u64>,
    /// What the caller decided last.
    pub result: R,
}

impl<R> Updated<R> {
    /// What was known of the record before; `None` where there was none.
    #[inline]
    pub fn before(&self) -> Option<Meta> {
        self.seen.as_ref().map(RecordMeta::meta)
    }
}
