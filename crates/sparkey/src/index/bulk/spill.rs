//! What the budget has no room for: full chunks, back to back in a scratch that the caller provides when it is first needed.

use super::record::Record;
use hammerspace_error::{Doing, Result};
use std::io::{Read, Seek, SeekFrom, Write};

pub(super) struct Spill<F, S> {
    /// Makes the scratch; `None` once it has.
    make: Option<F>,
    scratch: Option<S>,
    chunk_len: usize,
    chunks: u64,
    /// One chunk as bytes.
    bytes: Vec<u8>,
}

impl<F: FnOnce() -> Result<S>, S: Read + Write + Seek> Spill<F, S> {
    pub(super) fn new(make: F, chunk_len: usize) -> Self {
        Self { make: Some(make), scratch: None, chunk_len, chunks: 0, bytes: Vec::new() }
    }

    /// Appends a full chunk; gives its number.
    pub(super) fn write(&mut self, chunk: &[Record]) -> Result<u64> {
        debug_assert_eq!(chunk.len(), self.chunk_len);
        if let Some(make) = self.make.take() {
            self.scratch = Some(make()?);
            self.bytes.resize(size_of_val(chunk), 0);
        }
        for (bytes, record) in self.bytes.as_chunks_mut().0.iter_mut().zip(chunk) {
            *bytes = record.encode();
        }
        self.scratch.as_mut().expect("made above").write_all(&self.bytes).doing("write the scratch")?;
        self.chunks += 1;
        Ok(self.chunks - 1)
    }

    /// The chunk of this number.
    pub(super) fn read(&mut self, number: u64) -> Result<Vec<Record>> {
        let scratch = self.scratch.as_mut().expect("a chunk was written to it");
        let read = scratch
            .seek(SeekFrom::Start(number * self.bytes.len() as u64))
            .and_then(|_| scratch.read_exact(&mut self.bytes));
        read.doing("read the scratch")?;
        Ok(self.bytes.as_chunks().0.iter().map(|bytes| Record::decode(*bytes)).collect())
    }
}
