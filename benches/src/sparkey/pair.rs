//! A log and its index on disk, with one pair for each number below their size: the same files for us and for the rivals.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use hammerspace_os::{File, Map, Paging};
use hammerspace_rivals::libsparkey::Reader;
use hammerspace_sparkey::{Effort, IndexOptions, Log, LogOptions, LogWriter, Table, write_index};

use super::numbered::{Values, key};
use crate::Result;

/// Both files, by their paths. They go when it is dropped.
pub(super) struct Pair {
    pub(super) keys: u64,
    pub(super) log: PathBuf,
    pub(super) index: PathBuf,
}

impl Pair {
    /// Where a table of this name and of so many keys goes.
    pub(super) fn named(scratch: &Path, name: &str, keys: u64) -> Self {
        let path = |extension: &str| scratch.join(format!("{name}-{keys}.{extension}"));
        Self { keys, log: path("spl"), index: path("spi") }
    }

    /// Writes a table of so many keys, in the order of their numbers.
    pub(super) fn write(scratch: &Path, keys: u64, options: LogOptions, values: Values) -> Result<Self> {
        let pair = Self::named(scratch, options.compression.name(), keys);
        let mut writer = pair.writer(options)?;
        let mut bytes = Vec::new();
        for number in 0..keys {
            values.of(number, &mut bytes);
            writer.put(&key(number), &bytes)?;
        }
        writer.finish()?;
        pair.write_index(&Effort::default())?;
        Ok(pair)
    }

    /// Starts the log anew.
    pub(super) fn writer(&self, options: LogOptions) -> Result<LogWriter<fs::File>> {
        Ok(LogWriter::create(truncated(&self.log)?, &options)?)
    }

    /// Indexes the log, as a program would that syncs nothing.
    pub(super) fn write_index(&self, effort: &Effort) -> Result {
        let log = Log::open(Map::new(&File::open(&self.log)?)?)?;
        let mut index = truncated(&self.index)?;
        write_index(&log, &IndexOptions::default(), effort, &mut index, || self.scratch())?;
        Ok(())
    }

    /// A file without a name, beside the others.
    pub(super) fn scratch(&self) -> hammerspace::Result<fs::File> {
        let directory = self.index.parent().unwrap_or(Path::new("."));
        tempfile::tempfile_in(directory).map_err(|error| hammerspace::Error::io("make a file", error))
    }

    pub(super) fn table(&self, paging: Paging) -> Result<Table<Map, Map>> {
        let map = |path| Map::with(&File::open(path)?, paging);
        Ok(Table::open(map(&self.log)?, map(&self.index)?)?)
    }

    pub(super) fn c(&self) -> Result<Reader<'static>> {
        Ok(Reader::open(&self.log, &self.index)?)
    }
}

fn truncated(path: &Path) -> Result<fs::File> {
    Ok(OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?)
}

impl Drop for Pair {
    fn drop(&mut self) {
        for file in [&self.log, &self.index] {
            // It lies in the scratch directory, which goes too.
            drop(fs::remove_file(file));
        }
    }
}
