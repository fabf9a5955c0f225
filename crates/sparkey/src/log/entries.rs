//! Every entry of a log, in order.

use super::block::Blocks;
use super::entry::{Address, Entry, EntryKind, Head};
use super::header::LogHeader;
use super::named;
use crate::codec::Compression;
use crate::fault;
use hammerspace_bytes::vlq::Malformed;
use hammerspace_error::Result;
use hammerspace_os::prefetch;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Bytes that are asked for ahead of their time. Processors do so by themselves, but only up to the end of a page.
pub(super) const AHEAD: usize = 2048;

/// Iterates over the entries of a log, in order; made by [`Log::entries`](crate::Log::entries). Ends after an error.
///
/// As an [`Iterator`] it gives entries that own what was decoded. [`lend`](Self::lend) lends them from its buffers
/// instead, which spares two allocations per entry where the log is compressed.
pub struct Entries<'a> {
    source: Source<'a>,
    file: Option<&'a Path>,
    /// For blocks; plain entries are over at the end of their data.
    over: bool,
}

enum Source<'a> {
    Plain(Plain<'a>),
    Blocks(Blocks<'a>),
}

impl<'a> Entries<'a> {
    /// The entries of `data`, the log from its first byte up to where the caller may look.
    pub(crate) fn new(data: &'a [u8], header: &'a LogHeader, file: Option<&'a Path>) -> Self {
        let source = match header.compression {
            Compression::None => Source::Plain(Plain { data, at: LogHeader::SIZE }),
            _ => Source::Blocks(Blocks::new(data, header)),
        };
        Self { source, file, over: false }
    }

    pub(crate) fn starting_at(
        address: Address,
        data: &'a [u8],
        header: &'a LogHeader,
        file: Option<&'a Path>,
    ) -> Result<Self> {
        let mut entries = Self::new(data, header, file);
        let at_end = address == Address { offset: data.len() as u64, index: 0 };
        if !at_end && address != Address::FIRST {
            check_address(address, data, header)?;
        }
        match &mut entries.source {
            Source::Plain(plain) => plain.at = address.offset as usize,
            Source::Blocks(_) if at_end => entries.over = true,
            Source::Blocks(_) if address == Address::FIRST => {}
            Source::Blocks(blocks) => blocks.seek(address).map_err(|error| named(error, file))?,
        }
        Ok(entries)
    }

    /// The next entry, lent until the following call; `None` at the end and after an error.
    pub fn lend(&mut self) -> Result<Option<Entry<'_>>> {
        let result = match &mut self.source {
            Source::Plain(plain) => plain.entry(),
            Source::Blocks(_) if self.over => Ok(None),
            Source::Blocks(blocks) => {
                let result = blocks.entry();
                self.over = !matches!(result, Ok(Some(_)));
                result
            }
        };
        result.map_err(|error| named(error, self.file))
    }

    /// Hands the next entries to `each`, up to so many, without their values. A key lies in the log's data where nothing is
    /// compressed, and is appended to `decoded` otherwise.
    pub(crate) fn next_keys(
        &mut self,
        most: usize,
        decoded: &mut Vec<u8>,
        mut each: impl FnMut(Keyed) -> Result<()>,
    ) -> Result<()> {
        let result = match &mut self.source {
            // One loop for each source: it is here that the time goes when an index is made.
            Source::Plain(plain) => plain.next_keys(most, &mut each),
            Source::Blocks(_) if self.over => Ok(()),
            Source::Blocks(blocks) => (0..most).try_for_each(|_| {
                let entry = blocks.entry()?.map(|entry| Keyed::decoded(&entry, decoded));
                entry.map_or(Ok(()), &mut each)
            }),
        };
        result.map_err(|error| named(error, self.file))
    }

    /// The next entry that `wanted` accepts. Others are never copied.
    #[expect(clippy::inline_always, reason = "an entry that goes through memory holds up the processor")]
    #[inline(always)]
    pub(crate) fn next_where(&mut self, mut wanted: impl FnMut(&Entry<'_>) -> bool) -> Option<Result<Entry<'a>>> {
        let Source::Plain(Plain { data, at }) = &mut self.source else { return self.next_in_blocks(wanted) };
        while *at < data.len() {
            prefetch(data, *at + AHEAD);
            match plain_entry(data, std::mem::replace(at, data.len())) {
                Ok((entry, next)) => {
                    *at = next;
                    if wanted(&entry) {
                        return Some(Ok(entry));
                    }
                }
                Err(error) => return Some(Err(named(error, self.file))),
            }
        }
        None
    }

    fn next_in_blocks(&mut self, mut wanted: impl FnMut(&Entry<'_>) -> bool) -> Option<Result<Entry<'a>>> {
        loop {
            match self.lend() {
                Ok(Some(entry)) if wanted(&entry) => return Some(Ok(entry.into_owned())),
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_where(|_| true)
    }
}

impl std::iter::FusedIterator for Entries<'_> {}

fn check_address(address: Address, data: &[u8], header: &LogHeader) -> Result<()> {
    let Address { offset, index } = address;
    let within = (LogHeader::SIZE as u64..data.len() as u64).contains(&offset);
    if !within || (index > 0 && header.compression == Compression::None) {
        return Err(fault::invalid(format!("no entry can lie at offset {offset}, index {index} of this log")));
    }
    Ok(())
}

/// An entry without its value, and without the bytes of its key.
pub(crate) struct Keyed {
    pub(crate) address: Address,
    pub(crate) kind: EntryKind,
    /// Bytes of the whole entry, before compression.
    pub(crate) len: u64,
    /// Where its key lies.
    pub(crate) key: Range<usize>,
}

impl Keyed {
    fn decoded(entry: &Entry<'_>, decoded: &mut Vec<u8>) -> Self {
        let start = decoded.len();
        decoded.extend_from_slice(&entry.key);
        Self { address: entry.address, kind: entry.kind, len: entry.encoded_len(), key: start..decoded.len() }
    }
}

/// Entries back to back.
struct Plain<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Plain<'a> {
    #[inline]
    fn entry(&mut self) -> Result<Option<Entry<'a>>> {
        if self.at == self.data.len() {
            return Ok(None);
        }
        let at = std::mem::replace(&mut self.at, self.data.len());
        let (entry, next) = plain_entry(self.data, at)?;
        self.at = next;
        Ok(Some(entry))
    }

    #[inline]
    fn next_keys(&mut self, most: usize, mut each: impl FnMut(Keyed) -> Result<()>) -> Result<()> {
        for _ in 0..most {
            if self.at == self.data.len() {
                break;
            }
            let (offset, head) = (self.at, plain_head(self.data, self.at)?);
            self.at += head.entry_len() as usize;
            let (address, key) = (Address { offset: offset as u64, index: 0 }, offset + head.len);
            each(Keyed { address, kind: head.kind, len: head.entry_len(), key: key..key + head.key_len as usize })?;
        }
        Ok(())
    }
}

/// The entry at `offset`, and where the next one starts.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) fn plain_entry(data: &[u8], offset: usize) -> Result<(Entry<'_>, usize)> {
    let head = plain_head(data, offset)?;
    let (key, rest) = data[offset + head.len..].split_at(head.key_len as usize);
    let value = &rest[..head.value_len as usize];
    let address = Address { offset: offset as u64, index: 0 };
    let entry = Entry { kind: head.kind, key: Cow::Borrowed(key), value: Cow::Borrowed(value), address };
    Ok((entry, offset + head.len + key.len() + value.len()))
}

/// The head of the entry at `offset`, all of which is there.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(crate) fn plain_head(data: &[u8], offset: usize) -> Result<Head> {
    let head = Head::parse(&data[offset..]).map_err(|malformed| bad_head(malformed, offset))?;
    if head.payload_len() > (data.len() - offset - head.len) as u64 {
        return Err(cut_short(head, offset, data.len()));
    }
    Ok(head)
}

#[cold]
pub(crate) fn bad_head(malformed: Malformed, offset: usize) -> hammerspace_error::Error {
    match malformed {
        Malformed::Truncated => fault::log(offset, "the log's data ends within the lengths of the entry here"),
        Malformed::TooLong => fault::log(offset, "a length of the entry here is no VLQ of 64 bits"),
    }
}

#[cold]
pub(crate) fn cut_short(head: Head, offset: usize, end: usize) -> hammerspace_error::Error {
    let (kind, len) = (head.kind, head.entry_len());
    fault::log(offset, format!("a {kind:?} of {len} bytes starts here, but the data ends at {end}"))
}
