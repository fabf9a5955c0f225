//! One entry at a known address: is it the put of this key, and what is its value?

use super::block::Blocks;
use super::entries::{bad_head, cut_short};
use super::entry::{Address, EntryKind, Head};
use super::header::LogHeader;
use crate::cache::{CachedValue, Share};
use crate::codec::Compression;
use hammerspace_error::Result;
use std::ops::Range;

/// A value, held without a lifetime: for owners of the mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// These bytes of the log, as it was opened.
    Mapped(Range<usize>),
    /// It was packed in blocks, and this is a copy.
    Decoded(Box<[u8]>),
    /// It lies in a decoded block that the table's cache keeps.
    Cached(CachedValue),
}

/// Reads single entries. Remembers the last block that it decoded.
pub(crate) enum Lookup<'a> {
    Plain(&'a [u8]),
    Blocks(Blocks<'a>),
}

/// What lies at an address, as seen by somebody who looks for one key.
pub(crate) enum Seen {
    /// The put of the key.
    Put(Put),
    /// The put of another key.
    Other,
    /// A delete, which no index should point to.
    Delete,
}

/// A put whose key has been compared. Its value is to be read before the next entry is looked up.
pub(crate) struct Put {
    pub(crate) head: Head,
    value_offset: usize,
}

impl<'a> Lookup<'a> {
    /// Over `data`, the log from its first byte up to where the caller may look.
    #[inline]
    pub(crate) fn new(data: &'a [u8], header: &'a LogHeader) -> Self {
        Self::over(data, header, None)
    }

    /// The same, with the table's part of a cache of blocks.
    #[inline]
    pub(crate) fn over(data: &'a [u8], header: &'a LogHeader, share: Option<&'a Share>) -> Self {
        match header.compression {
            Compression::None => Self::Plain(data),
            _ => Self::Blocks(Blocks::for_entries(data, header, share)),
        }
    }

    /// Compares the entry at `address`, which must lie within the data, with `key`.
    #[inline]
    pub(crate) fn put_at(&mut self, address: Address, key: &[u8]) -> Result<Seen> {
        match self {
            Self::Plain(data) => plain_put_at(data, address.offset as usize, key),
            Self::Blocks(blocks) => {
                blocks.seek(address)?;
                let head = blocks.head()?;
                Ok(match head.kind {
                    EntryKind::Delete => Seen::Delete,
                    EntryKind::Put if head.key_len != key.len() as u64 || !blocks.matches(key)? => Seen::Other,
                    EntryKind::Put => Seen::Put(Put { head, value_offset: 0 }),
                })
            }
        }
    }

    /// The value of the put that was seen last.
    #[inline]
    pub(crate) fn value(self, put: &Put) -> Result<Found> {
        match self {
            Self::Plain(_) => Ok(Found::Mapped(put.value_range())),
            Self::Blocks(blocks) => blocks.take(put.head.value_len),
        }
    }

    /// Shows the value of the put that was seen last, where it lies.
    #[inline]
    pub(crate) fn show<T>(&mut self, put: &Put, show: impl FnOnce(&[u8]) -> T) -> Result<T> {
        match self {
            Self::Plain(data) => Ok(show(&data[put.value_range()])),
            Self::Blocks(blocks) => blocks.bytes(put.head.value_len).map(show),
        }
    }
}

impl Put {
    #[inline]
    fn value_range(&self) -> Range<usize> {
        self.value_offset..self.value_offset + self.head.value_len as usize
    }
}

#[inline]
fn plain_put_at(data: &[u8], offset: usize, key: &[u8]) -> Result<Seen> {
    let head = Head::parse(&data[offset..]).map_err(|malformed| bad_head(malformed, offset))?;
    let payload = &data[offset + head.len..];
    if head.payload_len() > payload.len() as u64 {
        return Err(cut_short(head, offset, data.len()));
    }
    Ok(match head.kind {
        EntryKind::Delete => Seen::Delete,
        // The length first: it is at hand, and most strangers differ in it.
        EntryKind::Put if head.key_len != key.len() as u64 || payload[..key.len()] != *key => Seen::Other,
        EntryKind::Put => Seen::Put(Put { head, value_offset: offset + head.len + key.len() }),
    })
}
