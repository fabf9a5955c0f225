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
//!
//! Iteration decodes every block to its end, and so sees all that is wrong with it. A lookup decodes a block to about where its
//! entry should end, unless a cache is to keep the block: it need not see damage behind the entry. `verify` does.

use super::buffer::Buffer;
use super::entry::{Address, Entry, Head};
use super::frame;
use super::header::LogHeader;
use super::lookup::Found;
use crate::cache::{CachedValue, Hit, Share};
use crate::codec::Compression;
use crate::fault;
use hammerspace_bytes::vlq;
use hammerspace_error::Result;
use hammerspace_os::prefetch;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes that are decoded in one go: each start and stop costs as much as decoding a few entries.
const AHEAD: usize = 128;

/// A cursor over the decoded blocks of a log.
pub(crate) struct Blocks<'a> {
    /// The log up to where we may read.
    data: &'a [u8],
    header: &'a LogHeader,
    /// Where decoded blocks are kept, if anywhere.
    share: Option<&'a Share>,
    /// Whether blocks are decoded, and so checked, to their ends.
    is_thorough: bool,
    /// Offset of the block that is open; 0 before the first.
    start: usize,
    /// Offset of the block after it.
    next: usize,
    /// The open block.
    block: Block<'a>,
    /// How far it has been read.
    at: usize,
    /// Entries that started in it so far.
    index: u32,
    /// An entry that spans blocks, put together.
    spanning: Vec<u8>,
}

/// A block, decoded.
enum Block<'a> {
    /// By us, as far as we needed it.
    Own(Buffer<'a>),
    /// All of it, by whoever was first.
    Shared(Hit),
}

impl<'a> Blocks<'a> {
    /// A cursor over `data`, which is the log from its first byte up to where the caller may look. Decodes whole blocks.
    pub(crate) fn new(data: &'a [u8], header: &'a LogHeader) -> Self {
        Self { is_thorough: true, ..Self::for_entries(data, header, None) }
    }

    /// The same for single entries: looks for the blocks they start in on the `share`, and puts them there. Without one,
    /// decodes blocks to about where the entry should end.
    #[inline]
    pub(crate) fn for_entries(data: &'a [u8], header: &'a LogHeader, share: Option<&'a Share>) -> Self {
        Self {
            data,
            header,
            share,
            is_thorough: false,
            start: 0,
            next: LogHeader::SIZE,
            block: Block::Own(Buffer::default()),
            at: 0,
            index: 0,
            spanning: Vec::new(),
        }
    }

    /// Moves to the entry at `address`, over the entries before it in its block.
    pub(crate) fn seek(&mut self, address: Address) -> Result<()> {
        let offset = address.offset as usize;
        if self.start != offset {
            self.find(address)?;
        }
        (self.at, self.index) = match &self.block {
            Block::Own(_) => (0, 0),
            Block::Shared(hit) => hit.nearest(address.index),
        };
        self.reach_about(address.index)?;
        while self.index < address.index {
            self.skip_plain_puts(address.index);
            if self.index < address.index {
                self.skip_entry(address.index)?;
            }
        }
        Ok(())
    }

    /// Over entries before number `index`, as far as they are decoded and nothing about them asks for a closer look.
    #[inline]
    fn skip_plain_puts(&mut self, index: u32) {
        let (here, len) = ((self.at, self.index), self.len());
        (self.at, self.index) = frame::skip_plain_puts(self.made(), len, self.header, here, index);
    }

    /// Over one entry before number `index`.
    fn skip_entry(&mut self, index: u32) -> Result<()> {
        let head = self.head()?;
        // Only the last entry of a block may leave it, and ours comes after.
        if head.payload_len() >= self.left() as u64 {
            return Err(self.broken(format!("the block has {} entries, and none of number {index}", self.index)));
        }
        self.at += head.payload_len() as usize;
        Ok(())
    }

    /// The entry under the cursor, which then stands behind it; `None` at the end.
    pub(crate) fn entry(&mut self) -> Result<Option<Entry<'_>>> {
        if self.left() == 0 {
            if self.next == self.data.len() {
                return Ok(None);
            }
            self.open(self.next)?;
        }
        let address = Address { offset: self.start as u64, index: self.index };
        let head = self.head()?;
        let payload = self.bytes(head.payload_len())?;
        let (key, value) = payload.split_at(head.key_len as usize);
        Ok(Some(Entry { kind: head.kind, key: Cow::Borrowed(key), value: Cow::Borrowed(value), address }))
    }

    /// Reads the head under the cursor and holds its lengths against the log's header.
    pub(crate) fn head(&mut self) -> Result<Head> {
        self.reach_ahead(self.at + 2 * vlq::LEN_MAX)?;
        // Rule 4. A block that we opened for its entries starts at 0; one that we ran into was read up to `at`.
        let continued = self.index == 0 && self.at > 0;
        let head = frame::head(self.rest(), continued, self.header, self.start)?;
        self.at += head.len;
        self.index += 1;
        Ok(head)
    }

    /// The next `len` bytes, in one piece: of the block, or put together.
    pub(crate) fn bytes(&mut self, len: u64) -> Result<&[u8]> {
        if len <= self.left() as u64 {
            let range = self.piece(len as usize)?;
            return Ok(&self.made()[range]);
        }
        let mut spanning = std::mem::take(&mut self.spanning);
        spanning.clear();
        self.read(len, |piece| spanning.extend_from_slice(piece))?;
        self.spanning = spanning;
        Ok(&self.spanning)
    }

    /// Whether the next bytes are `expected`; stands behind them then, and anywhere otherwise.
    #[inline]
    pub(crate) fn matches(&mut self, expected: &[u8]) -> Result<bool> {
        let (mut rest, mut same) = (expected, true);
        self.read(expected.len() as u64, |piece| {
            let (now, later) = rest.split_at(piece.len());
            same &= now == piece;
            rest = later;
        })?;
        Ok(same)
    }

    /// The next `len` bytes, free of the cursor: in the shared block where they lie in one, or in memory of their own.
    pub(crate) fn take(mut self, len: u64) -> Result<Found> {
        if len <= self.left() as u64 {
            let range = self.piece(len as usize)?;
            return Ok(match self.block {
                Block::Shared(hit) => Found::Cached(CachedValue::new(hit, range)),
                Block::Own(buffer) => Found::Decoded(buffer.made()[range].into()),
            });
        }
        // Memory grows as bytes decode.
        let mut out = Vec::new();
        self.read(len, |piece| out.extend_from_slice(piece))?;
        Ok(Found::Decoded(out.into_boxed_slice()))
    }

    /// Hands over the next `len` bytes of the stream, block by block.
    #[inline]
    fn read(&mut self, len: u64, mut each: impl FnMut(&[u8])) -> Result<()> {
        let mut left = len;
        loop {
            let range = self.piece(usize::try_from(left).unwrap_or(usize::MAX).min(self.left()))?;
            left -= range.len() as u64;
            each(&self.made()[range]);
            if left == 0 {
                return Ok(());
            }
            if self.next == self.data.len() {
                return Err(self.broken(format!("the last entry lacks {left} bytes")));
            }
            self.open(self.next)?;
        }
    }

    /// Where the next `len` bytes lie, which this block has; stands behind them.
    #[inline]
    fn piece(&mut self, len: usize) -> Result<Range<usize>> {
        let range = self.at..self.at + len;
        self.reach(range.end)?;
        self.at = range.end;
        Ok(range)
    }

    /// Takes the block at `address` from the share, or opens it.
    fn find(&mut self, address: Address) -> Result<()> {
        let offset = address.offset as usize;
        let Some(share) = self.share else {
            self.ask_for(offset);
            return self.open(offset);
        };
        if let Some(hit) = share.get(offset, address.index) {
            (self.start, self.next) = (offset, hit.next());
            self.block = Block::Shared(hit);
            return Ok(());
        }
        self.ask_for(offset);
        self.is_thorough = share.wants(offset);
        let opened = self.open(offset);
        // The block that is kept, and none that its last entry goes on in: whether this one is kept already must not matter.
        if std::mem::take(&mut self.is_thorough) && opened.is_ok() {
            share.put(self.made(), offset, self.next, self.header);
        }
        opened
    }

    /// Asks for the block at `offset` as a whole: misses that wait for each other take longer than decoding.
    fn ask_for(&self, offset: usize) {
        let len = match self.header.compression {
            // Decoded from front to back, so that the processor sees what comes, and seldom to its end.
            Compression::Snappy => 1 << 10,
            _ => self.header.block_size.min(4 << 10) as usize,
        };
        for line in (0..len).step_by(64) {
            prefetch(self.data, offset + line);
        }
    }

    /// Opens the block at `offset`.
    fn open(&mut self, offset: usize) -> Result<()> {
        (self.start, self.at) = (0, 0);
        let packed = frame::packed(self.data, offset)?;
        if let Block::Shared(_) = self.block {
            self.block = Block::Own(Buffer::default());
        }
        if let Block::Own(buffer) = &mut self.block {
            buffer
                .open(self.header.compression, &self.data[packed.clone()], self.header.block_size, self.is_thorough)
                .map_err(|finding| fault::log(offset, format!("the block {finding}")))?;
        }
        (self.start, self.next, self.at, self.index) = (offset, packed.end, 0, 0);
        Ok(())
    }

    /// The same as `reach`, for somebody who will soon come for more.
    #[inline]
    fn reach_ahead(&mut self, end: usize) -> Result<()> {
        match &self.block {
            Block::Own(buffer) if buffer.made().len() < end => self.reach(end + AHEAD),
            _ => Ok(()),
        }
    }

    /// Decodes on to where entry number `index` ends if it and those before it are as long as the log's entries are on average:
    /// in one go, as a rule, rather than in many.
    #[inline]
    fn reach_about(&mut self, index: u32) -> Result<()> {
        let mean = self.header.mean_put();
        self.reach(mean.saturating_mul(u64::from(index) + 1) as usize)
    }

    /// Decodes on until `end` bytes of the block are there, or all of it.
    #[inline]
    fn reach(&mut self, end: usize) -> Result<()> {
        let Block::Own(buffer) = &mut self.block else { return Ok(()) };
        if buffer.made().len() >= end.min(buffer.len()) {
            return Ok(());
        }
        // Should it fail, whoever comes back to this block must open it again.
        let (start, at) = (std::mem::take(&mut self.start), std::mem::take(&mut self.at));
        buffer.reach(end).map_err(|finding| fault::log(start, format!("the block {finding}")))?;
        (self.start, self.at) = (start, at);
        Ok(())
    }

    /// The block as far as it is decoded.
    #[inline]
    fn made(&self) -> &[u8] {
        match &self.block {
            Block::Own(buffer) => buffer.made(),
            Block::Shared(hit) => hit.bytes(),
        }
    }

    /// What is decoded and has not been read.
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.made()[self.at..]
    }

    /// Bytes of the block, decoded or not.
    #[inline]
    fn len(&self) -> usize {
        match &self.block {
            Block::Own(buffer) => buffer.len(),
            Block::Shared(hit) => hit.bytes().len(),
        }
    }

    /// Those that have not been read.
    #[inline]
    fn left(&self) -> usize {
        self.len() - self.at
    }

    #[cold]
    fn broken(&self, finding: impl Into<String>) -> hammerspace_error::Error {
        fault::log(self.start, finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogOptions, LogWriter};
    use std::io::Cursor;

    #[test]
    fn a_block_that_fails_halfway_is_opened_anew() {
        let options = LogOptions { compression: Compression::Zstd, ..LogOptions::default() };
        let mut writer = LogWriter::create(Cursor::new(Vec::new()), &options).unwrap();
        for number in 0..120_u32 {
            let value = format!("{} comes before {number}", number * 17 % 101);
            writer.put(&number.to_le_bytes(), value.as_bytes()).unwrap();
        }
        let (log, header) = writer.finish().unwrap();
        let mut log = log.into_inner();
        // Sequences are read from the end of the block to its front: the first of them are sound.
        let end = log.len();
        log[end - 120..end - 60].fill(0xff);

        let mut blocks = Blocks::for_entries(&log, &header, None);
        let sound = Address { offset: LogHeader::SIZE as u64, index: 2 };
        let broken = Address { index: 119, ..sound };
        for _ in 0..2 {
            blocks.seek(sound).unwrap();
            assert_eq!(blocks.entry().unwrap().unwrap().key, &2_u32.to_le_bytes()[..]);
            assert!(blocks.seek(broken).is_err());
        }
        blocks.seek(sound).unwrap();
        assert!(blocks.bytes(2000).is_err(), "from the midst of the block");
        assert_eq!(blocks.entry().unwrap(), None, "nothing is there to go on with");
        blocks.seek(sound).unwrap();
    }
}
