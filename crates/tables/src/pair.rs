//! A log and its index: found by either name, mapped for reading; the index built and brought up to date.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{File, Map, Paging};
use hammerspace_sparkey::{
    Effort, Index, IndexHeader, IndexOptions, Log, Table, build_index, update_index, write_index,
};

use crate::fresh::dir_of;
use crate::output::replace;

/// The names of a log and of its index. As a rule they differ in their last letter only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The log, `NAME.spl`.
    pub log: PathBuf,
    /// The index, `NAME.spi`.
    pub index: PathBuf,
}

impl Pair {
    /// The pair of this index.
    pub fn of_index(index: &Path) -> Result<Self> {
        let log = sibling(index, b".spi", b'l').ok_or_else(|| misnamed(index, "an index", ".spi"))?;
        Ok(Self { log, index: index.to_path_buf() })
    }

    /// The pair of this log.
    pub fn of_log(log: &Path) -> Result<Self> {
        let index = sibling(log, b".spl", b'i').ok_or_else(|| misnamed(log, "a log", ".spl"))?;
        Ok(Self { log: log.to_path_buf(), index })
    }

    /// The pair of this log or index.
    pub fn of_either(file: &Path) -> Result<Self> {
        Self::of_log(file)
            .or_else(|_| Self::of_index(file))
            .map_err(|_| misnamed(file, "a log or index", ".spl or .spi"))
    }

    /// Both, mapped. Constant time.
    pub fn open(&self) -> Result<Table<Map, Map>> {
        self.open_with(Paging::OnDemand)
    }

    /// The same with a word on how the pages come into memory, which may take its time: see [`Paging`].
    pub fn open_with(&self, paging: Paging) -> Result<Table<Map, Map>> {
        let index = File::open(&self.index)?;
        open(&File::open(&self.log)?, &index, paging)
    }

    /// The same, with an index made in memory where there is no file of one.
    pub fn open_or_index(&self) -> Result<Table<Map, Vec<u8>>> {
        let log = open_log(&self.log)?;
        let index = match fs::read(&self.index) {
            Ok(index) => index,
            Err(error) if error.kind() == io::ErrorKind::NotFound => build_index(&log, &IndexOptions::default())?,
            Err(error) => return Err(Error::io("read the index", error).file(&self.index)),
        };
        let index = Index::open(index).map_err(|error| error.file(&self.index))?.named(&self.index);
        Table::join(log, index)
    }

    /// Builds the index afresh. Spotify's tool goes on from the old one, and so carries its damage along. Linear in the log.
    pub fn build_index(&self) -> Result<IndexHeader> {
        self.build_index_within(&Effort::default())
    }

    /// The same, with so much memory and so many threads. What the memory has no room for goes to a file without a name,
    /// beside the index.
    pub fn build_index_within(&self, effort: &Effort) -> Result<IndexHeader> {
        let (log, options) = (open_log(&self.log)?, IndexOptions::default());
        let scratch = || dir_of(&self.index)?.scratch();
        replace(&self.index, |file| write_index(&log, &options, effort, file, scratch))
    }

    /// Brings the index up to the log's end: at the cost of what was appended, where it is sound and belongs to the log.
    pub fn update_index(&self) -> Result<IndexHeader> {
        let log = open_log(&self.log)?;
        let updated = self.open().and_then(|old| update_index(&log, old.index(), &IndexOptions::default()));
        match updated {
            Ok(index) => {
                replace(&self.index, |file| file.write_all(&index).doing("write the index"))?;
                IndexHeader::parse(&index)
            }
            Err(_) => self.build_index(),
        }
    }
}

/// Opens a log and its index, mapped.
pub fn open(log: &File, index: &File, paging: Paging) -> Result<Table<Map, Map>> {
    let index = Index::open(Map::with(index, paging)?).map_err(|error| error.file(index.path()))?.named(index.path());
    Table::join(open_log_file(log, paging)?, index)
}

/// Opens a log alone, mapped.
pub fn open_log(path: &Path) -> Result<Log<Map>> {
    open_log_file(&File::open(path)?, Paging::OnDemand)
}

fn open_log_file(log: &File, paging: Paging) -> Result<Log<Map>> {
    Ok(Log::open(Map::with(log, paging)?).map_err(|error| error.file(log.path()))?.named(log.path()))
}

/// The name with its last letter replaced, if it ends with `suffix`.
fn sibling(path: &Path, suffix: &[u8], last: u8) -> Option<PathBuf> {
    let stem = path.as_os_str().as_bytes().strip_suffix(suffix)?;
    let name = [stem, &suffix[..suffix.len() - 1], &[last]].concat();
    Some(OsString::from_vec(name).into())
}

fn misnamed(path: &Path, what: &str, suffix: &str) -> Error {
    Error::new(Kind::Invalid, format!("{} is not the name of {what}: it must end with {suffix}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_name_finds_the_pair() {
        for name in ["a/fruits.spi", "a/fruits.spl"] {
            let pair = Pair::of_either(Path::new(name)).unwrap();
            assert_eq!((pair.log, pair.index), ("a/fruits.spl".into(), "a/fruits.spi".into()), "{name}");
        }
        assert_eq!(Pair::of_index(Path::new(".spi")).unwrap().log, Path::new(".spl"));
    }

    #[test]
    fn another_name_is_refused() {
        for name in ["fruits", "fruits.spx", "spi", ""] {
            assert!(Pair::of_either(Path::new(name)).is_err(), "{name}");
        }
        assert!(Pair::of_index(Path::new("fruits.spl")).is_err());
        assert!(Pair::of_log(Path::new("fruits.spi")).is_err());
    }
}
