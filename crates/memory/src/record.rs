//! A record: what a segment holds, back to back.
//!
//! ```text
//! | header 8 B | [sequence 8 B] | [expiry 8 B] | [extension] | key, value, slack … up to a whole granule |
//! sequence:   | D-segment 16 | sequence 48 |
//! expiry:     | milliseconds since 1970, 48 | 0 16 |
//! extension:  | checksum 32 | words 8 | 0 24 |, and so many words
//! ```
//!
//! - The header says what it is and how long: `header.rs`.
//! - Key and value follow each other without a gap.
//! - This build writes no extension. It skips one, a cleaner moves it along, and whatever writes the value
//!   anew drops it.
//!
//! A record's bytes are written before anything names it, and never change while something does. There are
//! three exceptions, all made under the lock of the key's bucket: bytes beyond the value, the header when the
//! value grows over them, and the one word of an integer value.

pub(crate) mod header;
pub(crate) mod key;

use hammerspace_error::{Error, Kind, Result};

use crate::record::header::{Header, INLINE_MAX, SEQUENCE_SHIFT};
use crate::record::key::{KEY_LEN_MAX, Key, OwnedKey};
use crate::region::Region;
use crate::region::geometry::WORD;
use crate::region::words::{Bytes, begin_with};
use crate::sync::Ordering::Relaxed;

/// A record at its address, with the header it had when it was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) address: u64,
    pub(crate) header: Header,
    /// Bytes of its extension.
    pub(crate) extension: u64,
    /// Bytes of it all, with its extension: worked out once, since a change asks for them time and again.
    pub(crate) size: u64,
}

/// The first word of the extension of the record at `address`: 0 where that does not lie in the record's
/// segment.
#[cold]
fn extension(region: &Region, address: u64, header: Header) -> u64 {
    let prefix = header.prefix();
    if region.layout.holds(address, prefix + WORD) { region.load(address + prefix) } else { 0 }
}

impl Record {
    /// A record without an extension, as it is to be.
    #[inline]
    pub(crate) fn new(address: u64, header: Header) -> Self {
        Self { address, header, extension: 0, size: header.size() }
    }

    /// The record at `address`, if a segment is there that has its memory.
    #[inline]
    pub(crate) fn of(region: &Region, address: u64) -> Option<Self> {
        region.generation(address).map(|_| Self::at(region, address))
    }

    /// Looks at the record at `address`, which lies in a segment that has its memory; the value is not
    /// shorter than the header says.
    #[inline]
    pub(crate) fn at(region: &Region, address: u64) -> Self {
        let header = Header(region.load(address));
        let extension =
            if header.is_extended() { WORD * (1 + (extension(region, address, header) >> 32 & 0xff)) } else { 0 };
        // Reads do not ask for the size. So nothing above may: else it would be worked out for them too.
        Self { address, header, extension, size: header.size() + extension }
    }

    /// The same record at another address, with this header; its extension moves along.
    #[inline]
    pub(crate) fn moved_to(self, address: u64, header: Header) -> Self {
        Self { address, header, extension: self.extension, size: header.size() + self.extension }
    }

    /// Whether it may be a record: those bits are zero that always are.
    #[inline]
    pub(crate) fn can_be(self, region: &Region) -> bool {
        self.header.can_be() && (!self.header.is_extended() || extension(region, self.address, self.header) >> 40 == 0)
    }

    /// Whether its key and its value end in its segment, behind which there may be no memory.
    #[inline]
    pub(crate) fn fits(self, region: &Region) -> bool {
        let size = region.layout.segment_size;
        let end = self.value_address() - self.address + self.header.value_len() as u64;
        (self.address & (size - 1)) + end <= size
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
        value_len <= INLINE_MAX && self.header.grown_to(value_len).size() == self.size && self.header.is_plain()
    }

    #[inline]
    fn key_address(self) -> u64 {
        self.address + self.header.prefix() + self.extension
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
        if self.header.table() != table || !self.header.has_key_as_long_as(key) || !self.fits(region) {
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

    /// Writes all of the record but its value and its sequence; gives where the value goes. Nothing names the
    /// record yet.
    #[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
    #[inline(always)]
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

    /// Writes a copy of this record where `to` is to be, which differs in what comes after the value at most,
    /// and in lacking its extension.
    #[inline]
    pub(crate) fn copy(self, region: &Region, to: Self) {
        if self.extension == to.extension {
            region.copy_words(self.address + WORD, to.address + WORD, self.size.min(to.size) - WORD);
        } else {
            self.copy_without_extension(region, to);
        }
        region.word(to.address).store(to.header.0, Relaxed);
    }

    #[cold]
    fn copy_without_extension(self, region: &Region, to: Self) {
        let prefix = self.header.prefix();
        region.copy_words(self.address + WORD, to.address + WORD, prefix - WORD);
        let len = (self.size - self.extension).min(to.size) - prefix;
        region.copy_words(self.key_address(), to.key_address(), len);
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
    use crate::index::bucket::HomeBucket;
    use crate::index::directory::Place;
    use crate::index::slot::Slot;
    use crate::region::segment::{Segment, SegmentState, Stream};
    use crate::sound::Memory;
    use crate::sync::AtomicU64;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::change::Change;

    const KEY: Key<'static> = Key::Integer(7);
    const VALUE_LEN: u64 = 80;
    /// A checksum, and two words.
    const EXTENSION: [u64; 3] = [2 << 32 | 0xabcd, 0x1111, 0x2222];

    fn record(memory: &Memory) -> Record {
        let (region, hash) = (memory.view().region, memory.hash(TABLE, KEY));
        let at = |_: &AtomicU64, slot: Slot| Some(Record::at(region, slot.address()));
        HomeBucket::new(region, Place::of(region, hash), hash).find(at).unwrap()
    }

    /// A store with a record as a later build writes it: it has an extension, and a value of 80 bytes.
    fn extended() -> Memory {
        let memory = small(64, 4096);
        memory.put_until(TABLE, KEY, &[1; 104], Some(1 << 47)).unwrap();
        let (region, plain) = (memory.view().region, record(&memory));
        region.store(plain.address, plain.header.0 & !((1 << 16) - 1) | Header::EXTENDED | VALUE_LEN);
        for (word, value) in EXTENSION.into_iter().chain([7]).enumerate() {
            region.store(plain.address + 16 + word as u64 * WORD, value);
        }
        region.write_bytes(record(&memory).value_address(), &[2; 80]);
        assert_eq!(record(&memory).size, plain.size);
        memory.broken()
    }

    fn value(memory: &Memory) -> Vec<u8> {
        let mut value = Vec::new();
        let meta = memory.view().get(TABLE.number, KEY, &mut value).unwrap().expect("it is there");
        assert_eq!(meta.expiry, Some(1 << 47));
        value
    }

    #[test]
    fn an_extension_is_skipped() {
        let memory = extended();
        assert_eq!(value(&memory), [2; 80]);
        memory.put(TABLE, Key::Integer(8), b"behind it").unwrap();
        assert_eq!((memory.verify().records, memory.verify().findings), (2, vec![]));
    }

    #[test]
    fn a_cleaner_moves_an_extension_along() {
        let memory = extended();
        let (region, before) = (memory.view().region, record(&memory));
        Segment::of(region, before.address).unwrap().set_usage(SegmentState::Closed(Stream::LONG));
        memory.owner().take_writer_slot().head(Stream::LONG).close(region);
        Segment::of(region, before.address).unwrap().mark_dead(4000);
        assert!(memory.clean().unwrap());
        let after = record(&memory);
        assert_ne!(after.address, before.address);
        let words = [2, 3, 4].map(|word| region.load(after.address + word * WORD));
        assert_eq!((words, value(&memory)), (EXTENSION, vec![2; 80]));
    }

    #[test]
    fn a_value_that_changes_leaves_its_extension_behind() {
        // As much longer as the extension is: it is not taken for slack.
        for len in [1, 24] {
            let memory = extended();
            memory.append(TABLE, KEY, 0, &vec![3; len]).unwrap();
            assert_eq!(value(&memory), [vec![2; 80], vec![3; len]].concat());
            assert!(!record(&memory).header.is_extended());
        }
        let memory = extended();
        memory.update(TABLE, KEY, |_| Change::Word { kind: 0, word: 5 }).unwrap();
        assert!(!record(&memory).header.is_extended() && value(&memory) == 5_u64.to_le_bytes());
    }

    /// Behind a segment there may be no memory.
    #[test]
    fn nothing_of_a_record_is_looked_for_behind_its_segment() {
        let memory = extended();
        let (region, record) = (memory.view().region, record(&memory));
        let end = (record.address / 4096 + 1) * 4096;
        let [last, next] = [end - 8, end].map(|at| region.load(at));
        region.store(end, u64::MAX);
        region.store(end - 8, record.header.0);
        assert_eq!(Record::at(region, end - 8).extension, 8, "no more than its first word");
        assert!(!Record::at(region, end - 8).fits(region) && record.fits(region));
        region.store(end - 8, last);
        region.store(end, next);
    }

    #[test]
    fn an_extension_that_cannot_be_is_no_record() {
        let memory = extended();
        let (region, record) = (memory.view().region, record(&memory));
        assert!(record.can_be(region));
        for bit in 40..64 {
            region.store(record.address + record.header.prefix(), EXTENSION[0] | 1 << bit);
            assert!(!record.can_be(region));
        }
        assert!(!Record::new(0, Header(1 << 63)).can_be(region), "nor is a header with the last bit");
    }
}
