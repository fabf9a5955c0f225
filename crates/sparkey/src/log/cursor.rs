//! A cursor: a place in a log, kept without the log.
//!
//! ```text
//! seek ─► New ── advance ──► Active ── advance ──► Active ── … ──► Closed           here
//!                    │                                                                │
//!                    └──► Invalid (broken bytes, a key that is not there)   | head | key … | value … |
//!                                                                                  ▲start
//! ```
//! [`Entries`](crate::Entries) borrows its log and hands out whole entries. This is the other way to read, the one that C
//! programs know: the log comes with every call, may be closed in between, and gives an entry's key and value in pieces,
//! as they lie in the file or in a decoded block, so that a value of any size is read without a copy of it.
//!
//! What always holds:
//! 1. A cursor is numbers and one decoded block. Held against a log that it does not belong to it gives errors, or what that
//!    log says; never a panic.
//! 2. What is left of key and value lies at `here`, or in the blocks that follow.
//! 3. A call that fails leaves the cursor `Invalid`; the next one goes on where that one stood.

use super::entries::{AHEAD, plain_head};
use super::entry::{Address, EntryKind, Head};
use super::header::LogHeader;
use super::{Log, frame, named};
use crate::codec::{self, Compression};
use crate::fault;
use crate::table::Table;
use hammerspace_error::{Error, Result};
use hammerspace_os::prefetch;

/// What a [`Cursor`] stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorState {
    /// A block, none of whose entries has been read.
    New,
    /// An entry.
    Active,
    /// The end of the log.
    Closed,
    /// Nothing: the last call failed, or looked for a key that is not there.
    Invalid,
}

/// Reads a log entry by entry, and each entry in pieces. Takes the log with every call, and does not keep it.
///
/// ```
/// use hammerspace_sparkey::{Cursor, CursorState, Log, LogOptions, LogWriter};
///
/// let mut writer = LogWriter::create(std::io::Cursor::new(Vec::new()), &LogOptions::default())?;
/// writer.put(b"apple", b"green")?;
/// let log = Log::open(writer.finish()?.0.into_inner())?;
///
/// let mut cursor = Cursor::new(&log);
/// cursor.advance(&log)?;
/// assert_eq!((cursor.key_len(), cursor.value_len()), (5, 5));
/// assert_eq!(cursor.key_chunk(&log, 3)?, b"app");
/// assert_eq!(cursor.value_chunk(&log, u64::MAX)?, b"green");
/// cursor.advance(&log)?;
/// assert_eq!(cursor.state(), CursorState::Closed);
/// # Ok::<(), hammerspace_error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cursor {
    file_identifier: u32,
    state: CursorState,
    kind: EntryKind,
    key_len: u64,
    value_len: u64,
    unread: Unread,
    /// Behind the head of the current entry.
    start: Place,
    block: Block,
}

/// What has not been read of the current entry.
#[derive(Clone, Copy, Debug, Default)]
struct Unread {
    here: Place,
    key: u64,
    value: u64,
}

/// A place in the stream of entries.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Offset of the block; of the entry where nothing is compressed.
    block: u64,
    /// Bytes into the block.
    at: u64,
    /// Entries that started in the block so far.
    index: u32,
}

impl Place {
    fn start_of(block: u64) -> Self {
        Self { block, at: 0, index: 0 }
    }
}

/// The block that was decoded last.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Its offset; 0 before the first.
    offset: u64,
    /// Offset of the block after it.
    next: u64,
    bytes: Vec<u8>,
}

impl Cursor {
    /// A cursor before the first entry of `log`: constant time.
    pub fn new<B: AsRef<[u8]>>(log: &Log<B>) -> Self {
        let here = Place::start_of(LogHeader::SIZE as u64);
        Self {
            file_identifier: log.header().file_identifier,
            state: CursorState::New,
            kind: EntryKind::Put,
            key_len: 0,
            value_len: 0,
            unread: Unread { here, key: 0, value: 0 },
            start: here,
            block: Block::default(),
        }
    }

    /// Whether it was made for this log, as far as the file identifiers tell.
    pub fn belongs_to<B: AsRef<[u8]>>(&self, log: &Log<B>) -> bool {
        self.file_identifier == log.header().file_identifier
    }

    /// What it stands on.
    pub fn state(&self) -> CursorState {
        self.state
    }

    /// Whether the entry that was read last is a put or a delete.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The whole length of the key; 0 after the last entry.
    pub fn key_len(&self) -> u64 {
        self.key_len
    }

    /// The whole length of the value; 0 for deletes and after the last entry.
    pub fn value_len(&self) -> u64 {
        self.value_len
    }

    /// Moves to the block at this offset, which is not checked to be one until it is read; at `data_end`, to the end.
    pub fn seek<B: AsRef<[u8]>>(&mut self, log: &Log<B>, block: u64) -> Result<()> {
        self.state = CursorState::Invalid;
        let header = log.header();
        if block == header.data_end {
            self.state = CursorState::Closed;
            return Ok(());
        }
        if !(LogHeader::SIZE as u64..header.data_end).contains(&block) {
            return Err(fault::invalid(format!("no block can start at offset {block} of this log")));
        }
        self.unread = Unread { here: Place::start_of(block), key: 0, value: 0 };
        self.open(log)?;
        self.state = CursorState::New;
        Ok(())
    }

    /// Moves to the next entry, over what has not been read of this one. At the end it becomes and stays `Closed`.
    pub fn advance<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Result<()> {
        if !is_packed(log) {
            // Only here: a lookup reads nothing behind its key.
            prefetch(log.data(log.header().data_end), self.start.block as usize + AHEAD);
        }
        self.step(log)
    }

    fn step<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Result<()> {
        if self.state == CursorState::Closed {
            return Ok(());
        }
        self.state = CursorState::Invalid;
        (self.key_len, self.value_len) = (0, 0);
        let at_once = if is_packed(log) { self.next_in_block(log) } else { self.next_plain(log) };
        let next = match at_once {
            Some(head) => Some(head),
            None => self.next_head(log)?,
        };
        let Some(head) = next else {
            self.state = CursorState::Closed;
            return Ok(());
        };
        (self.kind, self.key_len, self.value_len) = (head.kind, head.key_len, head.value_len);
        (self.unread.key, self.unread.value) = (head.key_len, head.value_len);
        self.start = self.unread.here;
        self.state = CursorState::Active;
        Ok(())
    }

    /// Moves to the next put that the index has for its key.
    pub fn advance_live<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>) -> Result<()> {
        loop {
            self.advance(table.log())?;
            if self.state != CursorState::Active {
                return Ok(());
            }
            if self.kind == EntryKind::Put && self.is_live(table)? {
                self.rewind();
                return Ok(());
            }
        }
    }

    /// Moves to the value of `key` and says whether it has one. If it has none, or if that cannot be known, the cursor is
    /// `Invalid`, and the next entry is the one that was next before.
    pub fn get<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>, key: &[u8]) -> Result<bool> {
        let before = self.unread;
        let found = self.find(table, key);
        if !matches!(found, Ok(true)) {
            (self.unread, self.state) = (before, CursorState::Invalid);
        }
        found
    }

    /// Goes back to the key of the current entry.
    pub fn rewind(&mut self) {
        if self.state == CursorState::Active {
            self.unread = Unread { here: self.start, key: self.key_len, value: self.value_len };
        }
    }

    /// The next piece of the key, of `len_max` bytes at most; empty once there is none left.
    pub fn key_chunk<'a, B: AsRef<[u8]>>(&'a mut self, log: &'a Log<B>, len_max: u64) -> Result<&'a [u8]> {
        self.check_active()?;
        let len = self.available(log, self.unread.key.min(len_max))?;
        self.unread.key -= len;
        Ok(self.take(log, len))
    }

    /// The next piece of the value, of `len_max` bytes at most; empty once there is none left. Leaves the key behind.
    pub fn value_chunk<'a, B: AsRef<[u8]>>(&'a mut self, log: &'a Log<B>, len_max: u64) -> Result<&'a [u8]> {
        self.check_active()?;
        self.skip_key(log)?;
        let len = self.available(log, self.unread.value.min(len_max))?;
        self.unread.value -= len;
        Ok(self.take(log, len))
    }

    fn check_active(&self) -> Result<()> {
        match self.state {
            CursorState::Active => Ok(()),
            _ => Err(fault::invalid("the cursor stands on no entry").remedy("advance it, or look up a key")),
        }
    }

    /// The same as [`next_head`](Self::next_head) where both lie in the decoded block, as most entries do that are short.
    /// `None` where anything asks for a closer look.
    #[inline]
    fn next_in_block<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Option<Head> {
        let Unread { here, key, value } = self.unread;
        // Before its first entry a block may go on with one from the block before.
        if self.block.offset != here.block || here.index == 0 {
            return None;
        }
        let at = here.at.saturating_add(key).saturating_add(value);
        let rest = self.block.bytes.get(usize::try_from(at).ok()?..)?;
        let head = Head::parse(rest).ok().filter(|head| log.header().admits(*head))?;
        self.unread.here = Place { at: at + head.len as u64, index: here.index + 1, ..here };
        Some(head)
    }

    /// The same where nothing is compressed and the next entry is whole.
    #[inline]
    fn next_plain<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Option<Head> {
        let Unread { here, key, value } = self.unread;
        let block = here.block.saturating_add(here.at).saturating_add(key).saturating_add(value);
        let (data, offset) = (log.data(log.header().data_end), usize::try_from(block).ok()?);
        let rest = data.get(offset..)?;
        let head = Head::parse(rest).ok().filter(|head| head.payload_len() <= (rest.len() - head.len) as u64)?;
        self.unread.here = Place { block, at: head.len as u64, index: 1 };
        Some(head)
    }

    /// Over the rest of this entry, and over the head of the next; `None` at the end.
    fn next_head<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Result<Option<Head>> {
        self.skip_key(log)?;
        let value = std::mem::take(&mut self.unread.value);
        self.skip(log, value)?;
        if !is_packed(log) {
            // Here every entry is a block of its own.
            self.unread.here = Place::start_of(self.unread.here.block.saturating_add(self.unread.here.at));
        }
        let here = self.open(log)?;
        let rest = self.block.rest(log, here);
        if rest.is_empty() {
            return Ok(None);
        }
        let offset = here.block as usize;
        let head = if is_packed(log) {
            let continued = here.index == 0 && here.at > 0;
            frame::head(rest, continued, log.header(), offset)
        } else {
            plain_head(log.data(log.header().data_end), offset)
        };
        let head = head.map_err(|error| self.failed(log, error))?;
        self.unread.here = Place { at: here.at + head.len as u64, index: here.index + 1, ..here };
        Ok(Some(head))
    }

    fn skip_key<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Result<()> {
        let key = std::mem::take(&mut self.unread.key);
        self.skip(log, key)
    }

    fn skip<B: AsRef<[u8]>>(&mut self, log: &Log<B>, mut len: u64) -> Result<()> {
        while len > 0 {
            let piece = self.available(log, len)?;
            self.unread.here.at += piece;
            len -= piece;
        }
        Ok(())
    }

    /// How many of the next `wanted` bytes lie in one piece: at least one, if any are wanted.
    fn available<B: AsRef<[u8]>>(&mut self, log: &Log<B>, wanted: u64) -> Result<u64> {
        if wanted == 0 {
            return Ok(0);
        }
        let here = self.open(log)?;
        match self.block.rest(log, here).len() {
            0 => Err(self.broken(log, format!("the last entry lacks {wanted} bytes"))),
            len => Ok(wanted.min(len as u64)),
        }
    }

    /// The next `len` bytes, which are available.
    fn take<'a, B: AsRef<[u8]>>(&'a mut self, log: &'a Log<B>, len: u64) -> &'a [u8] {
        let here = self.unread.here;
        self.unread.here.at += len;
        &self.block.rest(log, here)[..len as usize]
    }

    /// Sees to it that the next byte is at hand, if the log has one: in a block that is read to its end, there is none.
    fn open<B: AsRef<[u8]>>(&mut self, log: &Log<B>) -> Result<Place> {
        if is_packed(log) {
            let opened = self.block.decode(log, self.unread.here);
            self.unread.here = opened.map_err(|error| self.failed(log, error))?;
        }
        Ok(self.unread.here)
    }

    /// Whether the index has the current put. Consumes the key.
    fn is_live<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>) -> Result<bool> {
        let address = Address { offset: self.start.block, index: self.start.index - 1 };
        let key_len = self.key_len;
        let first = self.key_chunk(table.log(), u64::MAX)?;
        if first.len() as u64 == key_len {
            return Ok(table.has(first, address));
        }
        let mut key = first.to_vec();
        while (key.len() as u64) < key_len {
            key.extend_from_slice(self.key_chunk(table.log(), u64::MAX)?);
        }
        Ok(table.has(&key, address))
    }

    fn find<L: AsRef<[u8]>, I: AsRef<[u8]>>(&mut self, table: &Table<L, I>, key: &[u8]) -> Result<bool> {
        for target in table.targets(key) {
            let (at, address) = target?;
            self.visit(table.log(), address)?;
            if self.kind == EntryKind::Delete {
                return Err(table.damaged(at, format!("a delete at log offset {}", address.offset)));
            }
            if self.key_len == key.len() as u64 && self.key_is(table.log(), key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves to the entry at `address`.
    fn visit<B: AsRef<[u8]>>(&mut self, log: &Log<B>, address: Address) -> Result<()> {
        self.seek(log, address.offset)?;
        if is_packed(log) {
            let (bytes, here) = (&self.block.bytes, &mut self.unread.here);
            let (at, index) = frame::skip_plain_puts(bytes, bytes.len(), log.header(), (0, 0), address.index);
            (here.at, here.index) = (at as u64, index);
        }
        for _ in self.unread.here.index..=address.index {
            self.step(log)?;
            if self.start.block != address.offset || self.state != CursorState::Active {
                return Err(self.broken(log, format!("the block has no entry of number {}", address.index)));
            }
        }
        Ok(())
    }

    fn key_is<B: AsRef<[u8]>>(&mut self, log: &Log<B>, mut key: &[u8]) -> Result<bool> {
        while !key.is_empty() {
            let piece = self.key_chunk(log, u64::MAX)?;
            match key.strip_prefix(piece) {
                Some(rest) => key = rest,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    #[cold]
    fn broken<B: AsRef<[u8]>>(&mut self, log: &Log<B>, finding: impl Into<String>) -> Error {
        self.failed(log, fault::log(self.unread.here.block as usize, finding))
    }

    #[cold]
    fn failed<B: AsRef<[u8]>>(&mut self, log: &Log<B>, error: Error) -> Error {
        self.state = CursorState::Invalid;
        named(error, log.file())
    }
}

impl Block {
    /// Decodes the block at `place`, unless it is the one at hand; and goes on to the next, if that one ends there. Gives
    /// the place of the next byte, or the end of the log.
    fn decode<B: AsRef<[u8]>>(&mut self, log: &Log<B>, place: Place) -> Result<Place> {
        let end = log.header().data_end;
        if place.block == end {
            return Ok(place);
        }
        if self.offset != place.block {
            self.offset = 0;
            let (data, offset) = (log.data(end), place.block as usize);
            let packed = frame::packed(data, offset)?;
            self.next = packed.end as u64;
            codec::decode(log.header().compression, &data[packed], log.header().block_size, &mut self.bytes)
                .map_err(|finding| fault::log(offset, format!("the block {finding}")))?;
            self.offset = place.block;
        }
        if place.at < self.bytes.len() as u64 { Ok(place) } else { self.decode(log, Place::start_of(self.next)) }
    }

    /// What is left of an open block, from `place` on.
    fn rest<'a, B: AsRef<[u8]>>(&'a self, log: &'a Log<B>, place: Place) -> &'a [u8] {
        let (bytes, at) = if is_packed(log) {
            let bytes = if self.offset == place.block { &self.bytes[..] } else { &[] };
            (bytes, place.at)
        } else {
            (log.data(log.header().data_end), place.block.saturating_add(place.at))
        };
        usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default()
    }
}

fn is_packed<B: AsRef<[u8]>>(log: &Log<B>) -> bool {
    log.header().compression != Compression::None
}
