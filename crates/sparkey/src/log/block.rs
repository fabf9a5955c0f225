//! Blocks: a compressed log as one stream of entries, cut into pieces.
//!
//! ```text
//! file:      | header 84 B | VLQ len | packed | VLQ len | packed | …            | data_end
//! decoded:                   |e0|e1|e2 begin……|……e2 end|   |e3|e4|
//! ```
//! 1. A block decodes to 1..=`block_size` bytes.
//! 2. It begins with an entry, or goes on with the last entry of the block before.
//! 3. An entry's two VLQs lie in one block; its key and value may run on into following ones.
//! 4. The block in which such an entry ends holds nothing after it.
//!
//! So memory follows the bytes that really decode; the lengths that an entry claims only say when to stop.

use super::entry::{Address, Entry, EntryKind, Head};
use super::header::LogHeader;
use crate::codec;
use crate::fault;
use hammerspace_bytes::vlq::{self, Malformed};
use hammerspace_error::Result;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// A cursor over the decoded blocks of a log.
pub(crate) struct Blocks<'a> {
    /// The log up to where we may read.
    data: &'a [u8],
    header: &'a LogHeader,
    /// Offset of the block that is open; 0 before the first.
    start: usize,
    /// Offset of the block after it.
    next: usize,
    /// The open block, decoded.
    block: Buffer,
    /// How far it has been read.
    at: usize,
    /// Entries that started in it so far.
    index: u32,
    /// An entry that spans blocks, put together.
    spanning: Vec<u8>,
}

impl<'a> Blocks<'a> {
    /// A cursor over `data`, which is the log from its first byte up to where the caller may look.
    pub(crate) fn new(data: &'a [u8], header: &'a LogHeader) -> Self {
        Self {
            data,
            header,
            start: 0,
            next: LogHeader::SIZE,
            block: Buffer::take(),
            at: 0,
            index: 0,
            spanning: Vec::new(),
        }
    }

    /// Moves to the entry at `address`, over the entries before it in its block.
    pub(crate) fn seek(&mut self, address: Address) -> Result<()> {
        let offset = address.offset as usize;
        if self.start != offset {
            self.open(offset)?;
        }
        (self.at, self.index) = (0, 0);
        while self.index < address.index {
            let head = self.head()?;
            // Only the last entry of a block may leave it, and ours comes after.
            if head.payload_len() >= self.rest().len() as u64 {
                return Err(
                    self.broken(format!("the block has {} entries, and none of number {}", self.index, address.index))
                );
            }
            self.at += head.payload_len() as usize;
        }
        Ok(())
    }

    /// The entry under the cursor, which then stands behind it; `None` at the end.
    pub(crate) fn entry(&mut self) -> Result<Option<Entry<'_>>> {
        if self.rest().is_empty() {
            if self.next == self.data.len() {
                return Ok(None);
            }
            self.open(self.next)?;
        }
        let address = Address { offset: self.start as u64, index: self.index };
        let head = self.head()?;
        let payload = self.payload(head)?;
        let (key, value) = payload.split_at(head.key_len as usize);
        Ok(Some(Entry { kind: head.kind, key: Cow::Borrowed(key), value: Cow::Borrowed(value), address }))
    }

    /// Reads the head under the cursor and holds its lengths against the log's header.
    pub(crate) fn head(&mut self) -> Result<Head> {
        // Rule 4. A block that we opened for its entries starts at 0; one that we ran into was read up to `at`.
        if self.index == 0 && self.at > 0 {
            return Err(self.broken("the block holds more than the end of the entry that it continues"));
        }
        let head = Head::parse(self.rest()).map_err(|malformed| match malformed {
            Malformed::Truncated => self.broken("the block ends within an entry's lengths"),
            Malformed::TooLong => self.broken("an entry's length is no VLQ of 64 bits"),
        })?;
        // Longer than anything the header knows of: refused before blocks are decoded in search of its end.
        let plausible = match head.kind {
            EntryKind::Put => head.key_len <= self.header.max_key_len && head.value_len <= self.header.max_value_len,
            EntryKind::Delete => head.key_len < self.header.delete_size,
        };
        if !plausible {
            return Err(self.broken(format!(
                "a {:?} claims key and value of {} and {} bytes, more than any the header counts",
                head.kind, head.key_len, head.value_len
            )));
        }
        self.at += head.len;
        self.index += 1;
        Ok(head)
    }

    /// The key and value that follow `head`, in one piece.
    fn payload(&mut self, head: Head) -> Result<&[u8]> {
        let len = head.payload_len();
        if len <= self.rest().len() as u64 {
            self.at += len as usize;
            return Ok(&self.block[self.at - len as usize..self.at]);
        }
        let mut spanning = std::mem::take(&mut self.spanning);
        spanning.clear();
        self.read(len, |piece| spanning.extend_from_slice(piece))?;
        self.spanning = spanning;
        Ok(&self.spanning)
    }

    /// Whether the next bytes are `expected`; stands behind them then, and anywhere otherwise.
    pub(crate) fn matches(&mut self, expected: &[u8]) -> Result<bool> {
        let (mut rest, mut same) = (expected, true);
        self.read(expected.len() as u64, |piece| {
            let (now, later) = rest.split_at(piece.len());
            same &= now == piece;
            rest = later;
        })?;
        Ok(same)
    }

    /// The next `len` bytes, in memory of their own that grows as they decode.
    pub(crate) fn take(&mut self, len: u64) -> Result<Box<[u8]>> {
        let mut out = Vec::new();
        self.read(len, |piece| {
            // All at once when it ends in this block, or else as it comes.
            out.reserve_exact(if out.is_empty() { piece.len() } else { 0 });
            out.extend_from_slice(piece);
        })?;
        Ok(out.into_boxed_slice())
    }

    /// Hands over the next `len` bytes of the stream, block by block.
    fn read(&mut self, len: u64, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut left = len;
        loop {
            let piece = &self.block[self.at..];
            let piece = &piece[..piece.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            each(piece);
            self.at += piece.len();
            left -= piece.len() as u64;
            if left == 0 {
                return Ok(());
            }
            if self.next == self.data.len() {
                return Err(self.broken(format!("the last entry lacks {left} bytes")));
            }
            self.open(self.next)?;
        }
    }

    /// Decodes the block at `offset`.
    fn open(&mut self, offset: usize) -> Result<()> {
        (self.start, self.at) = (0, 0);
        let packed = self.data.get(offset..).filter(|_| offset >= LogHeader::SIZE);
        let Some((len, len_len)) = packed.and_then(|packed| vlq::read(packed).ok()) else {
            return Err(fault::log(offset, "no block starts here"));
        };
        let from = offset + len_len;
        let Some(to) =
            usize::try_from(len).ok().and_then(|len| from.checked_add(len)).filter(|to| *to <= self.data.len())
        else {
            let left = self.data.len() - from;
            return Err(fault::log(offset, format!("a block of {len} bytes starts here, {left} are left")));
        };
        codec::decode(self.header.compression, &self.data[from..to], self.header.block_size, &mut self.block)
            .map_err(|finding| fault::log(offset, format!("the block {finding}")))?;
        (self.start, self.next, self.at, self.index) = (offset, to, 0, 0);
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        &self.block[self.at..]
    }

    #[cold]
    fn broken(&self, finding: impl Into<String>) -> hammerspace_error::Error {
        fault::log(self.start, finding)
    }
}

/// A block's memory, kept by its thread from one cursor to the next.
struct Buffer(Vec<u8>);

/// Larger buffers are given back.
const SPARE_MAX: usize = 1 << 20;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Buffer {
    fn take() -> Self {
        let mut bytes = SPARE.try_with(Cell::take).unwrap_or_default();
        bytes.clear();
        Self(bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.0.capacity() <= SPARE_MAX {
            // While the thread ends there is nobody to keep it for.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.0)));
        }
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;
    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}
