//! The index (`.spi`): from a key's hash to the address of its put in the log.
//!
//! ```text
//! | header 112 B | slot 0 | slot 1 | … | slot capacity-1 |      slot = hash (4|8 B) + address (4|8 B), little-endian
//! ```
//! What always holds in a sound index (`verify` checks it):
//! 1. Address 0 means empty. No entry can lie there, since the log's header does.
//! 2. Walking right, with wrap-around, displacement grows by at most one per slot, and is 0 after an empty slot.
//! 3. There may be *no* empty slot: the rule `1 | 1.3 * puts` gives capacity 1 to one put and 3 to three.
//! 4. Every live key of the log's first `data_end` bytes has exactly one slot, and nobody else has any.
//!
//! On open the header's own contradictions are refused, and a table that the file does not hold. Everything else is
//! refused by the access that meets it.

pub(crate) mod as_c;
pub(crate) mod builder;
pub(crate) mod bulk;
pub(crate) mod counts;
pub(crate) mod group_probe;
pub(crate) mod header;
pub(crate) mod probe;
pub(crate) mod slot;
pub(crate) mod update;
pub(crate) mod verify;

use crate::{LogHeader, fault};
use group_probe::GroupProbe;
use hammerspace_error::Result;
use hammerspace_os::prefetch;
use header::{DATA_END, FILE_IDENTIFIER, HashSize, IndexHeader, MAX_KEY_LEN, MAX_VALUE_LEN};
use probe::Probe;
use slot::Shape;
use std::path::{Path, PathBuf};

/// An index, opened for reading: its header, checked, and the bytes it lies in.
#[derive(Clone, Debug)]
pub struct Index<B> {
    bytes: B,
    header: IndexHeader,
    shape: Shape,
    file: Option<PathBuf>,
}

impl<B: AsRef<[u8]>> Index<B> {
    /// Opens the index in `bytes`, from its header: constant time. Bytes after the table are ignored, as in C.
    pub fn open(bytes: B) -> Result<Self> {
        let header = IndexHeader::parse(bytes.as_ref())?;
        let (len, shape) = (bytes.as_ref().len(), Shape::of(&header));
        let fits = shape.table_len().is_some_and(|table| table <= len - IndexHeader::SIZE);
        if !fits {
            let (slots, size) = (header.hash_capacity, header.slot_size());
            return Err(fault::index(len, format!("the index ends here, short of its {slots} slots of {size} bytes")));
        }
        Ok(Self { bytes, header, shape, file: None })
    }

    /// Names the file that the bytes come from, for errors to come.
    #[must_use]
    pub fn named(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// What the index says about itself.
    pub fn header(&self) -> &IndexHeader {
        &self.header
    }

    /// The bytes as opened.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives the bytes back.
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// The hash of `key` under the seed of this index.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.shape.hash_size.hash(key, self.header.hash_seed)
    }

    /// The same, where it is known that hashes have `HASH` bytes.
    #[inline]
    pub(crate) fn hash_of<const HASH: usize>(&self, key: &[u8]) -> u64 {
        let size = if HASH == HashSize::Four.bytes() { HashSize::Four } else { HashSize::Eight };
        size.hash(key, self.header.hash_seed)
    }

    /// The slots that hold `hash`.
    #[inline]
    pub(crate) fn probe(&self, hash: u64) -> Probe<'_> {
        Probe::new(self.table(), self.shape, hash)
    }

    /// A first look at those slots.
    #[expect(clippy::inline_always, reason = "see there")]
    #[inline(always)]
    pub(crate) fn probe_group<const HASH: usize, const ADDRESS: usize>(&self, hash: u64, wanted: usize) -> GroupProbe {
        GroupProbe::at::<HASH, ADDRESS>(self.bytes(), &self.shape, hash, wanted)
    }

    /// Asks for the slots that a lookup looks at first, from the `wanted` one on.
    #[inline]
    pub(crate) fn prefetch(&self, wanted: usize) {
        let slot_size = self.shape.slot_size();
        let start = IndexHeader::SIZE + wanted * slot_size;
        prefetch(self.bytes(), start);
        prefetch(self.bytes(), start + group_probe::slots(slot_size) * slot_size - 1);
    }

    #[inline]
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The bytes of the slots.
    #[inline]
    pub(crate) fn table(&self) -> &[u8] {
        &self.bytes.as_ref()[IndexHeader::SIZE..][..self.shape.capacity * self.shape.slot_size()]
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

/// Refuses an index that cannot be one of this log.
pub(crate) fn check_pair(log: &LogHeader, index: &IndexHeader) -> Result<()> {
    let refuse = |offset, finding| {
        let remedy = "rebuild the index with `hammerspace sparkey writehash`, or restore both files from one copy";
        Err(fault::index(offset, finding).remedy(remedy))
    };
    let (ours, theirs) = (index.file_identifier, log.file_identifier);
    if ours != theirs {
        let finding = format!("the index belongs to a log with file_identifier {ours:#010x}, not {theirs:#010x}");
        return refuse(FILE_IDENTIFIER.offset, finding);
    }
    for (field, ours, theirs) in [
        (DATA_END, index.data_end, log.data_end),
        (MAX_KEY_LEN, index.max_key_len, log.max_key_len),
        (MAX_VALUE_LEN, index.max_value_len, log.max_value_len),
    ] {
        if ours > theirs {
            let finding =
                format!("the index belongs to a longer log: its {} is {ours}, the log's {theirs}", field.name);
            return refuse(field.offset, finding);
        }
    }
    Ok(())
}
