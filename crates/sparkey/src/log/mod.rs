//! The log (`.spl`): every put and delete in the order they were made.
//!
//! ```text
//! | header 84 B | entry | entry | … |            not compressed: entries back to back
//! | header 84 B | VLQ len | block | VLQ len | block | … |        compressed: `block.rs`
//!               84                             data_end, the rest is ignored
//! ```
//! What always holds: 84 <= `data_end` <= the bytes given. Everything else is seen when an entry is read.

pub(crate) mod block;
pub(crate) mod buffer;
pub(crate) mod cursor;
pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod frame;
pub(crate) mod header;
pub(crate) mod lookup;
pub(crate) mod verify;
pub(crate) mod writer;

use crate::fault;
use crate::report::Report;
use entries::Entries;
use entry::Address;
use hammerspace_error::{Error, Result};
use header::LogHeader;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A log, opened for reading: its header, checked, and the bytes it lies in.
///
/// The bytes must stay what they are while this lives. A mapped file does, as long as nobody truncates it.
#[derive(Clone, Debug)]
pub struct Log<B> {
    bytes: B,
    header: LogHeader,
    file: Option<PathBuf>,
}

impl<B: AsRef<[u8]>> Log<B> {
    /// Opens the log in `bytes`, from its header: constant time.
    pub fn open(bytes: B) -> Result<Self> {
        let header = LogHeader::parse(bytes.as_ref())?;
        let len = bytes.as_ref().len();
        if header.data_end > len as u64 {
            return Err(fault::log(len, format!("the log ends here, short of its data_end {}", header.data_end)));
        }
        Ok(Self { bytes, header, file: None })
    }

    /// Names the file that the bytes come from, for errors to come.
    #[must_use]
    pub fn named(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// What the log says about itself.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// The bytes as opened, with whatever follows `data_end`.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives the bytes back.
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// Every put and delete, in log order.
    pub fn entries(&self) -> Entries<'_> {
        Entries::new(self.data(self.header.data_end), &self.header, self.file())
    }

    /// The same from `address` on, which must be that of an entry, or `data_end`: what was appended since then.
    pub fn entries_from(&self, address: Address) -> Result<Entries<'_>> {
        self.entries_between(address, self.header.data_end)
    }

    /// The entries from `address` up to `end`, which must not lie past `data_end`.
    pub(crate) fn entries_between(&self, address: Address, end: u64) -> Result<Entries<'_>> {
        Entries::starting_at(address, self.data(end), &self.header, self.file())
    }

    /// Reads everything and holds it against the header. Linear in the log.
    pub fn verify(&self) -> Report {
        let mut report = Report::default();
        verify::verify(self, &mut report);
        report
    }

    /// Where a slice of the log's bytes lies in them.
    #[inline]
    pub(crate) fn range_of(&self, slice: &[u8]) -> Range<usize> {
        let start = slice.as_ptr().addr() - self.bytes().as_ptr().addr();
        start..start + slice.len()
    }

    /// The log up to `end`, which must not lie past `data_end`.
    pub(crate) fn data(&self, end: u64) -> &[u8] {
        debug_assert!(end <= self.header.data_end);
        &self.bytes.as_ref()[..end as usize]
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

/// Adds the file's name to an error that has none.
#[cold]
pub(crate) fn named(error: Error, file: Option<&Path>) -> Error {
    match file {
        Some(file) => error.file(file),
        None => error,
    }
}
