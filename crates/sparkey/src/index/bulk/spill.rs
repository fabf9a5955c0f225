//! What the budget has no room for: full chunks, back to back in a scratch that the caller provides when it is first needed.
//!
//! ```text
//! chunk:  | 0, or 1 + number of the chunk before it in its partition (8 B) | record | record | … |
//! ```
//! So memory needs to know no more than the last chunk of each partition.

use super::record::Record;
use hammerspace_error::{Doing, Error, Kind, Result};
use std::io::{self, Read, Seek, SeekFrom, Write};

pub(super) struct Spill<F, S> {
    /// Makes the scratch; `None` once it has.
    make: Option<F>,
    scratch: Option<S>,
    chunk_len: usize,
    /// How many there are.
    chunks: u64,
    /// One chunk as bytes.
    bytes: Vec<u8>,
}

/// The chunks of a partition: 0, or 1 + the number of the last.
#[derive(Clone, Copy, Default)]
pub(super) struct Chain(u64);

const LINK_LEN: usize = size_of::<Chain>();

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Spill<F, S> {
    pub(super) fn new(make: F, chunk_len: usize) -> Self {
        Self { make: Some(make), scratch: None, chunk_len, chunks: 0, bytes: Vec::new() }
    }

    /// Appends a full chunk to those of a partition.
    pub(super) fn append(&mut self, chunk: &[Record], chain: &mut Chain) -> Result<()> {
        assert_eq!(chunk.len(), self.chunk_len, "only full chunks are spilled");
        if let Some(make) = self.make.take() {
            self.scratch = Some(make()?);
            self.bytes.resize(LINK_LEN + size_of_val(chunk), 0);
        }
        let (link, records) = self.bytes.split_at_mut(LINK_LEN);
        link.copy_from_slice(&chain.0.to_le_bytes());
        for (bytes, record) in records.as_chunks_mut().0.iter_mut().zip(chunk) {
            *bytes = record.encode();
        }
        self.scratch.as_mut().expect("made above").write_all(&self.bytes).doing("write the scratch")?;
        self.chunks += 1;
        *chain = Chain(self.chunks);
        Ok(())
    }

    /// The numbers of a partition's chunks, the first one first.
    pub(super) fn numbers(&mut self, mut chain: Chain) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        while let Some(number) = chain.0.checked_sub(1) {
            numbers.push(number);
            let mut link = [0; LINK_LEN];
            self.read_at(number, &mut link).doing("read the scratch")?;
            let before = Chain(u64::from_le_bytes(link));
            if before.0 >= chain.0 {
                return Err(strayed());
            }
            chain = before;
        }
        numbers.reverse();
        Ok(numbers)
    }

    /// The chunk of this number.
    pub(super) fn read(&mut self, number: u64) -> Result<Vec<Record>> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let read = self.read_at(number, &mut bytes).doing("read the scratch");
        self.bytes = bytes;
        read?;
        Ok(self.bytes[LINK_LEN..].as_chunks().0.iter().map(|bytes| Record::decode(*bytes)).collect())
    }

    fn read_at(&mut self, number: u64, bytes: &mut [u8]) -> io::Result<()> {
        let scratch = self.scratch.as_mut().expect("a chunk was written to it");
        scratch.seek(SeekFrom::Start(number * (LINK_LEN + self.chunk_len * size_of::<Record>()) as u64))?;
        scratch.read_exact(bytes)
    }
}

/// The scratch is no part of any format, but it is a file, and files can be damaged.
#[cold]
pub(super) fn strayed() -> Error {
    Error::new(Kind::Io, "the scratch gives back other bytes than were written to it")
        .remedy("check the disk, and try again")
}
