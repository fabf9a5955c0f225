//! What belongs to one process, and not to those that are forked from it.

use std::io::{self, Read, Seek, SeekFrom, Write};

use hammerspace_error::{Error, Kind, Result};

use crate::File;

/// The process that a writer belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u32);

impl Owner {
    /// This process.
    pub fn us() -> Self {
        Self(std::process::id())
    }

    /// Refuses to go on in a process that is not the one that made it.
    pub fn check(self) -> Result<()> {
        let us = std::process::id();
        if us == self.0 {
            return Ok(());
        }
        let finding = format!("this writer belongs to process {}, and process {us} was forked from it", self.0);
        Err(Error::new(Kind::Invalid, finding).remedy("take a new writer after the fork"))
    }
}

/// A file that only the process which opened it writes to: after a fork, both sides would share its position.
#[derive(Debug)]
pub struct Owned {
    /// The file itself, for whoever has checked.
    pub file: File,
    owner: Owner,
}

impl Owned {
    /// Makes a file belong to this process.
    pub fn new(file: File) -> Self {
        Self { file, owner: Owner::us() }
    }
}

impl Write for Owned {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Owned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Owned {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.seek(to)
    }
}
