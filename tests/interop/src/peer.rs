//! What every implementation can be asked to do.

use std::path::{Path, PathBuf};

use hammerspace_sparkey::{Compression, HashSize};

use crate::{Change, Contents};

/// What a peer answers, or in words why it could not.
pub type Result<T = ()> = std::result::Result<T, String>;

/// A log and its index on disk.
#[derive(Clone, Debug)]
pub struct Pair {
    /// `NAME.spl`
    pub log: PathBuf,
    /// `NAME.spi`
    pub index: PathBuf,
}

impl Pair {
    /// The pair of this name in a directory.
    pub fn new(directory: &Path, name: &str) -> Self {
        Self { log: directory.join(format!("{name}.spl")), index: directory.join(format!("{name}.spi")) }
    }
}

/// What one chooses when a pair is made.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// How the log is packed.
    pub compression: Compression,
    /// Bytes per block before compression.
    pub block_size: u32,
    /// Bytes of a hash in the index.
    pub hash_size: HashSize,
}

/// An implementation of Sparkey.
pub trait Peer {
    /// As it is called in messages.
    fn name(&self) -> &'static str;

    /// Whether it reads and writes logs packed this way.
    fn knows(&self, compression: Compression) -> bool;

    /// Writes a new log.
    fn create(&mut self, pair: &Pair, format: Format, changes: &[Change]) -> Result;

    /// Goes on with a log, whoever wrote it.
    fn append(&mut self, pair: &Pair, changes: &[Change]) -> Result;

    /// Writes the index of a log, or brings the one that is there up to date, in the way it commonly does.
    fn index(&mut self, pair: &Pair, hash_size: HashSize) -> Result;

    /// Reads everything there is to read, and looks up the probes.
    fn read(&mut self, pair: &Pair, probes: &[Vec<u8>]) -> Result<Contents>;
}
