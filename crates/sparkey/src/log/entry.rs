//! One entry of a log: a put or a delete.
//!
//! ```text
//! put:     | VLQ key_len + 1 | VLQ value_len | key | value |
//! delete:  | 0               | VLQ key_len   | key |
//! ```
//! Both VLQs lie in one block always; key and value may run on into the next ones (`block.rs`).

use hammerspace_bytes::vlq::{self, LEN_MAX, Malformed};
use std::borrow::Cow;

/// Keys from here on are outside the format: their length enters the hash as a signed 32-bit number.
pub const KEY_LEN_MAX: usize = i32::MAX as usize;

/// Whether an entry sets a key or removes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// The key has this value from here on.
    Put,
    /// The key has no value from here on. It may never have had one.
    Delete,
}

/// Where an entry starts. Orders as the log does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Offset of the entry's block in the file; of the entry itself where nothing is compressed.
    pub offset: u64,
    /// Entries that start before it in that block; 0 where nothing is compressed.
    pub index: u32,
}

impl Address {
    /// Where the first entry of any log starts.
    pub const FIRST: Self = Self { offset: crate::LogHeader::SIZE as u64, index: 0 };
}

/// An entry as the log holds it. Where nothing is compressed, key and value are slices of the log's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Put or delete.
    pub kind: EntryKind,
    /// The key, which may be empty.
    pub key: Cow<'a, [u8]>,
    /// The value; empty for a delete.
    pub value: Cow<'a, [u8]>,
    /// Where it starts.
    pub address: Address,
}

impl Entry<'_> {
    /// Whether it is a put.
    pub fn is_put(&self) -> bool {
        self.kind == EntryKind::Put
    }

    /// Bytes of the entry before compression: both lengths, key and value.
    pub fn encoded_len(&self) -> u64 {
        Head::of(self.kind, self.key.len(), self.value.len()).entry_len()
    }

    /// The same entry, free of the log and its buffers.
    pub fn into_owned(self) -> Entry<'static> {
        Entry {
            kind: self.kind,
            key: Cow::Owned(self.key.into_owned()),
            value: Cow::Owned(self.value.into_owned()),
            address: self.address,
        }
    }
}

/// The two lengths that an entry begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: EntryKind,
    pub(crate) key_len: u64,
    pub(crate) value_len: u64,
    /// Bytes that the two VLQs take.
    pub(crate) len: usize,
}

impl Head {
    /// The head that a writer gives an entry.
    pub(crate) fn of(kind: EntryKind, key_len: usize, value_len: usize) -> Self {
        let (key_len, value_len) = (key_len as u64, value_len as u64);
        let len = match kind {
            EntryKind::Put => vlq::len(key_len + 1) + vlq::len(value_len),
            EntryKind::Delete => 1 + vlq::len(key_len),
        };
        Self { kind, key_len, value_len, len }
    }

    /// Reads the head at the start of `bytes`. Nothing is promised about the lengths yet.
    #[expect(clippy::inline_always, reason = "a result that goes through memory holds up the processor")]
    #[inline(always)]
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        if let Some([a, low, high]) = bytes.first_chunk()
            && *a < 0x80
            && let Some((b, b_len)) = vlq::read_short(*low, *high)
        {
            return Ok(Self::new(u64::from(*a), b, 1 + b_len));
        }
        Self::parse_long(bytes)
    }

    /// The same where the numbers are longer, or the bytes end.
    #[inline(never)]
    fn parse_long(bytes: &[u8]) -> Result<Self, Malformed> {
        let (a, a_len) = vlq::read(bytes)?;
        let (b, b_len) = vlq::read(&bytes[a_len..])?;
        Ok(Self::new(a, b, a_len + b_len))
    }

    /// From its two numbers, and the bytes that they take.
    #[inline]
    fn new(a: u64, b: u64, len: usize) -> Self {
        match a {
            0 => Self { kind: EntryKind::Delete, key_len: b, value_len: 0, len },
            _ => Self { kind: EntryKind::Put, key_len: a - 1, value_len: b, len },
        }
    }

    /// Bytes of the longest head.
    pub(crate) const LEN_MAX: usize = 2 * LEN_MAX;

    /// The head as an entry begins with it, at the start of `bytes`.
    #[inline]
    pub(crate) fn encode(self, bytes: &mut [u8; Self::LEN_MAX]) -> &[u8] {
        let (a, b) = match self.kind {
            EntryKind::Put => (self.key_len + 1, self.value_len),
            EntryKind::Delete => (0, self.key_len),
        };
        let room = "two numbers have room for two";
        let first = vlq::write(a, bytes.first_chunk_mut().expect(room));
        let second = vlq::write(b, bytes[first..].first_chunk_mut().expect(room));
        &bytes[..first + second]
    }

    /// Bytes of key and value together. Saturates: no real entry is that long, and the caller compares it with bytes.
    #[inline]
    pub(crate) fn payload_len(self) -> u64 {
        self.key_len.saturating_add(self.value_len)
    }

    /// Bytes of the whole entry, before compression.
    #[inline]
    pub(crate) fn entry_len(self) -> u64 {
        self.payload_len().saturating_add(self.len as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_at_every_vlq_step() {
        let lens = [0, 1, 126, 127, 128, 16_382, 16_383, 16_384, 2_097_151];
        for (key_len, value_len) in lens.iter().flat_map(|key| lens.map(|value| (*key, value))) {
            for head in [Head::of(EntryKind::Put, key_len, value_len), Head::of(EntryKind::Delete, key_len, 0)] {
                let mut bytes = [0; Head::LEN_MAX];
                let encoded = head.encode(&mut bytes);
                assert_eq!(encoded.len(), head.len);
                assert_eq!(Head::parse(encoded), Ok(head));
            }
        }
    }

    #[test]
    fn lengths_that_overflow_saturate() {
        let head = Head { kind: EntryKind::Put, key_len: u64::MAX - 1, value_len: u64::MAX, len: 20 };
        assert_eq!(head.entry_len(), u64::MAX);
    }
}
