//! Commit blocks: what one write appends, and one sync makes durable.
//!
//! ```text
//! | magic 4 | checksum 4 | offset 8 | length 8 | through 8 | records |
//! ```
//!
//! The checksum is of everything behind it. A block knows the offset at which it stands, so that bytes of a
//! value cannot pass for one. An empty block seals what was appended before: a damaged block in front of it
//! is no torn tail.

use hammerspace_bytes::Field;

use crate::record::ALIGN;

/// Bytes in front of the records.
pub(crate) const HEAD: usize = 32;
const MAGIC_WORD: u64 = u32::from_le_bytes(*b"HBLK") as u64;

const MAGIC: Field = Field::u32("magic", 0);
const CHECKSUM: Field = Field::u32("checksum", 4);
const OFFSET: Field = Field::u64("offset", 8);
const LENGTH: Field = Field::u64("length", 16);
const THROUGH: Field = Field::u64("through", 24);
#[cfg(test)]
pub(crate) const FIELDS: [Field; 5] = [MAGIC, CHECKSUM, OFFSET, LENGTH, THROUGH];

/// A block that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block<'b> {
    /// Every change up to this number is in the log up to here.
    pub(crate) through: u64,
    pub(crate) records: &'b [u8],
}

impl<'b> Block<'b> {
    /// The block at `offset` of a segment. `None` if there is none, or it is damaged.
    pub(crate) fn read(segment: &'b [u8], offset: usize) -> Option<Self> {
        let head = segment.get(offset..offset.checked_add(HEAD)?)?;
        if MAGIC.get(head) != MAGIC_WORD || OFFSET.get(head) != offset as u64 {
            return None;
        }
        let len = usize::try_from(LENGTH.get(head)).ok()?;
        let block = segment.get(offset..)?.get(..HEAD.checked_add(len)?)?;
        let checksum = crc32c::crc32c(&block[OFFSET.offset..]);
        let is_whole = u64::from(checksum) == CHECKSUM.get(head);
        is_whole.then(|| Self { through: THROUGH.get(head), records: &block[HEAD..] })
    }

    /// Bytes of it all.
    pub(crate) fn len(&self) -> usize {
        HEAD + self.records.len()
    }
}

/// Room for a block's head, in front of its records.
pub(crate) fn begin(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(HEAD, 0);
}

/// Gives a buffer of records its head.
pub(crate) fn end(buffer: &mut [u8], offset: u64, through: u64) {
    debug_assert!(buffer.len().is_multiple_of(ALIGN) && offset.is_multiple_of(ALIGN as u64));
    let len = buffer.len() - HEAD;
    for (field, value) in [(MAGIC, MAGIC_WORD), (OFFSET, offset), (LENGTH, len as u64), (THROUGH, through)] {
        field.set(buffer, value);
    }
    let checksum = crc32c::crc32c(&buffer[OFFSET.offset..]);
    CHECKSUM.set(buffer, u64::from(checksum));
}

/// Where the next whole block stands behind `from`.
pub(crate) fn find(segment: &[u8], from: usize) -> Option<usize> {
    (from.next_multiple_of(ALIGN)..segment.len()).step_by(ALIGN).find(|at| Block::read(segment, *at).is_some())
}
