//! Records: what becomes of one key.
//!
//! ```text
//! | checksum 4 | length 4 | sequence 8 | table 2 | key_len 2 | change 1 | kind 1 | flags 2 |
//! | [kept 8] | [expiry 8] | key | operand | zeros
//! ```

use hammerspace_bytes::Field;

/// Bytes of a record in front of its optional words.
const HEAD: usize = 24;
/// What records, and therefore blocks, are a multiple of.
pub(crate) const ALIGN: usize = 8;

pub(crate) const CHECKSUM: Field = Field::u32("checksum", 0);
const LENGTH: Field = Field::u32("length", 4);
const SEQUENCE: Field = Field::u64("sequence", 8);

const INTEGER: u16 = 1;
const KEPT: u16 = 2;
const EXPIRING: u16 = 4;
const LARGE: u16 = 8;
const OF_BATCH: u16 = 16;
const KNOWN_FLAGS: u16 = INTEGER | KEPT | EXPIRING | LARGE | OF_BATCH;

const REMOVED: u8 = 1;
const WRITTEN: u8 = 2;
const GROWN: u8 = 3;
const NUMBER: u8 = 4;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key<'b> {
    /// A number.
    Integer(u64),
    /// Bytes.
    Bytes(&'b [u8]),
}

/// What becomes of a key's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'b> {
    /// It goes.
    Removed,
    /// It is written as a whole.
    Written {
        /// What the value is.
        kind: u8,
        /// The bytes.
        value: &'b [u8],
        /// Whether they say where a long value lies.
        is_large: bool,
        /// When the record ends, in milliseconds since 1970.
        expiry: Option<u64>,
    },
    /// From this length on the value grows by these bytes.
    Grown(u64, &'b [u8]),
    /// The value becomes this number.
    Number(u64),
}

/// A change of one key, as the log holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'b> {
    /// The number of the change.
    pub sequence: u64,
    /// The sequence that the key's record keeps, and shows as its version.
    pub kept: Option<u64>,
    /// The number of the table.
    pub table: u16,
    /// The key.
    pub key: Key<'b>,
    /// What becomes of it.
    pub change: Change<'b>,
    /// Whether it is part of a batch.
    pub is_of_batch: bool,
}

impl Record<'_> {
    /// Appends the record to `out`.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + HEAD, 0);
        let (change, kind, mut flags) = match self.change {
            Change::Removed => (REMOVED, 0, 0),
            Change::Written { kind, is_large, .. } => (WRITTEN, kind, if is_large { LARGE } else { 0 }),
            Change::Grown(..) => (GROWN, 0, 0),
            Change::Number(_) => (NUMBER, 0, 0),
        };
        if let Some(kept) = self.kept {
            flags |= KEPT;
            out.extend_from_slice(&kept.to_le_bytes());
        }
        if let Change::Written { expiry: Some(expiry), .. } = self.change {
            flags |= EXPIRING;
            out.extend_from_slice(&expiry.to_le_bytes());
        }
        let key_len = match self.key {
            Key::Integer(key) => {
                flags |= INTEGER;
                out.extend_from_slice(&key.to_le_bytes());
                8
            }
            Key::Bytes(key) => {
                out.extend_from_slice(key);
                key.len()
            }
        };
        match self.change {
            Change::Removed => {}
            Change::Written { value, .. } => append_bytes(value, out),
            Change::Grown(from, bytes) => {
                out.extend_from_slice(&from.to_le_bytes());
                append_bytes(bytes, out);
            }
            Change::Number(word) => out.extend_from_slice(&word.to_le_bytes()),
        }
        if self.is_of_batch {
            flags |= OF_BATCH;
        }
        out.resize(start + (out.len() - start).next_multiple_of(ALIGN), 0);
        let record = &mut out[start..];
        LENGTH.set(record, record.len() as u64);
        SEQUENCE.set(record, self.sequence);
        record[16..18].copy_from_slice(&self.table.to_le_bytes());
        record[18..20].copy_from_slice(&(key_len as u16).to_le_bytes());
        (record[20], record[21]) = (change, kind);
        record[22..24].copy_from_slice(&flags.to_le_bytes());
        let checksum = crc32c::crc32c(&record[CHECKSUM.size..]);
        CHECKSUM.set(record, u64::from(checksum));
    }
}

/// A value that says how long it is, since zeros may follow.
fn append_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Takes bytes off the front.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let len = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        self.take(len as usize)
    }
}

impl<'b> Record<'b> {
    /// The record that `bytes` begin with, and how long it is. `None` if there is none, or it is damaged.
    pub fn read(bytes: &'b [u8]) -> Option<(Self, usize)> {
        let head = bytes.get(..HEAD)?;
        let len = LENGTH.get(head) as usize;
        let record = bytes.get(..len).filter(|record| record.len() >= HEAD && len.is_multiple_of(ALIGN))?;
        if u64::from(crc32c::crc32c(&record[CHECKSUM.size..])) != CHECKSUM.get(record) {
            return None;
        }
        Self::parse(record).map(|record| (record, len))
    }

    /// What a record says whose checksum is right.
    fn parse(record: &'b [u8]) -> Option<Self> {
        let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let (key_len, flags) = (usize::from(short(18)), short(22));
        let (change, kind) = (record[20], record[21]);
        let mut rest = Rest(&record[HEAD..]);
        let kept = if flags & KEPT != 0 { Some(rest.word()?) } else { None };
        let expiry = if flags & EXPIRING != 0 { Some(rest.word()?) } else { None };
        let key = rest.take(key_len)?;
        let key = if flags & INTEGER == 0 { Key::Bytes(key) } else { Key::Integer(Rest(key).word()?) };
        let change = match change {
            REMOVED => Change::Removed,
            WRITTEN => Change::Written { kind, value: rest.bytes()?, is_large: flags & LARGE != 0, expiry },
            GROWN => Change::Grown(rest.word()?, rest.bytes()?),
            NUMBER => Change::Number(rest.word()?),
            _ => return None,
        };
        let is_of_batch = flags & OF_BATCH != 0;
        let is_known = flags & !KNOWN_FLAGS == 0;
        is_known.then_some(Self { sequence: SEQUENCE.get(record), kept, table: short(16), key, change, is_of_batch })
    }

    /// Which of `count` threads replays this key: one and the same for all its changes.
    pub(crate) fn share(&self, count: usize) -> usize {
        let hash = match self.key {
            Key::Integer(key) => crc32c::crc32c(&key.to_le_bytes()),
            Key::Bytes(key) => crc32c::crc32c(key),
        };
        hash as usize % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Record<'static>> {
        let written = |value, is_large, expiry| Change::Written { kind: 5, value, is_large, expiry };
        let mut samples = Vec::new();
        for key in [Key::Integer(u64::MAX), Key::Bytes(b""), Key::Bytes(b"a key")] {
            for change in [
                Change::Removed,
                written(b"", false, None),
                written(b"some value", false, Some(7)),
                written(b"0123456789abcdef", true, None),
                Change::Grown(1 << 15, b"more"),
                Change::Number(9),
            ] {
                for (kept, is_of_batch) in [(None, false), (Some(3), true)] {
                    samples.push(Record { sequence: 1 << 40, kept, table: 65535, key, change, is_of_batch });
                }
            }
        }
        samples
    }

    #[test]
    fn a_record_comes_back_and_says_where_it_ends() {
        let mut bytes = Vec::new();
        for sample in samples() {
            sample.append_to(&mut bytes);
        }
        let mut rest = &bytes[..];
        for sample in samples() {
            let (record, len) = Record::read(rest).unwrap();
            assert_eq!(record, sample);
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn no_bit_of_a_record_may_flip_and_nothing_may_be_cut_off() {
        for sample in samples() {
            let mut bytes = Vec::new();
            sample.append_to(&mut bytes);
            for bit in 0..8 * bytes.len() {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Record::read(&damaged), None, "bit {bit} of {sample:?}");
            }
            assert!((0..bytes.len()).all(|len| Record::read(&bytes[..len]).is_none()));
        }
    }
}
