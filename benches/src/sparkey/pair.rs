//! A log and its index on disk, with one pair for each number below their size: the same files for us and for the rivals.

use std::path::{Path, PathBuf};

use hammerspace_os::{File, Map};
use hammerspace_rivals::libsparkey::Reader;
use hammerspace_sparkey::{IndexOptions, Log, LogOptions, LogWriter, Table, build_index};

use super::numbered::{key, value};
use crate::Result;

/// Both files, by their paths.
pub(super) struct Pair {
    pub(super) keys: u64,
    pub(super) log: PathBuf,
    pub(super) index: PathBuf,
}

impl Pair {
    /// Writes a table of so many keys.
    pub(super) fn write(scratch: &Path, keys: u64, options: LogOptions) -> Result<Self> {
        let name = format!("{keys}-{}", options.compression.name());
        let (log, index) = (scratch.join(format!("{name}.spl")), scratch.join(format!("{name}.spi")));
        let mut bytes = Vec::new();
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&log)?;
        let mut writer = LogWriter::create(file, &options)?;
        for number in 0..keys {
            value(number, &mut bytes);
            writer.put(&key(number), &bytes)?;
        }
        writer.finish()?;
        let mapped = Log::open(Map::new(&File::open(&log)?)?)?;
        std::fs::write(&index, build_index(&mapped, &IndexOptions::default())?)?;
        Ok(Self { keys, log, index })
    }

    pub(super) fn table(&self) -> Result<Table<Map, Map>> {
        let map = |path| Map::new(&File::open(path)?);
        Ok(Table::open(map(&self.log)?, map(&self.index)?)?)
    }

    pub(super) fn c(&self) -> Result<Reader> {
        Ok(Reader::open(&self.log, &self.index)?)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for file in [&self.log, &self.index] {
            // It lies in the scratch directory, which goes too.
            drop(std::fs::remove_file(file));
        }
    }
}
