//! A log and its index as files: found by either name, mapped for reading, replaced as a whole.

use std::ffi::OsString;
use std::fs::{self, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{File, Map};
use hammerspace_sparkey::{
    Effort, Index, IndexHeader, IndexOptions, Log, LogWriter, Table, build_index, update_index, write_index,
};
use tempfile::NamedTempFile;

use crate::progress::Progress;

/// The names of the two files, which differ in their last letter.
pub(crate) struct Pair {
    pub(crate) log: PathBuf,
    pub(crate) index: PathBuf,
}

impl Pair {
    /// The pair of this index.
    pub(crate) fn of_index(index: &Path) -> Result<Self> {
        let log = sibling(index, b".spi", b'l').ok_or_else(|| misnamed(index, "an index", ".spi"))?;
        Ok(Self { log, index: index.to_path_buf() })
    }

    /// The pair of this log.
    pub(crate) fn of_log(log: &Path) -> Result<Self> {
        let index = sibling(log, b".spl", b'i').ok_or_else(|| misnamed(log, "a log", ".spl"))?;
        Ok(Self { log: log.to_path_buf(), index })
    }

    /// The pair of this log or index.
    pub(crate) fn of_either(file: &Path) -> Result<Self> {
        Self::of_log(file)
            .or_else(|_| Self::of_index(file))
            .map_err(|_| misnamed(file, "a log or index", ".spl or .spi"))
    }

    /// Both, mapped.
    pub(crate) fn open_table(&self) -> Result<Table<Map, Map>> {
        let index = Index::open(map(&self.index)?).map_err(|error| error.file(&self.index))?.named(&self.index);
        Table::join(open_log(&self.log)?, index)
    }

    /// The same, with an index made in memory where there is no file of one.
    pub(crate) fn open_or_index(&self) -> Result<Table<Map, Vec<u8>>> {
        let log = open_log(&self.log)?;
        let index = match fs::read(&self.index) {
            Ok(index) => index,
            Err(error) if error.kind() == io::ErrorKind::NotFound => build_index(&log, &IndexOptions::default())?,
            Err(error) => return Err(Error::io("read the index", error).file(&self.index)),
        };
        let index = Index::open(index).map_err(|error| error.file(&self.index))?.named(&self.index);
        Table::join(log, index)
    }

    /// Builds the index afresh. Spotify's tool goes on from the old one, and so carries its damage along.
    pub(crate) fn build_index(&self, effort: &Effort) -> Result<IndexHeader> {
        let _working = Progress::unknown("index");
        let log = open_log(&self.log)?;
        let scratch = || tempfile::tempfile_in(directory(&self.index)).doing("create a scratch file");
        replace(&self.index, |file| write_index(&log, &IndexOptions::default(), effort, file, scratch))
    }

    /// Brings the index up to the log's end: at the cost of what was appended, where it is sound and belongs to the log.
    pub(crate) fn update_index(&self) -> Result<IndexHeader> {
        let log = open_log(&self.log)?;
        let updated = self.open_table().and_then(|old| update_index(&log, old.index(), &IndexOptions::default()));
        match updated {
            Ok(index) => {
                replace(&self.index, |file| file.write_all(&index).doing("write the index"))?;
                IndexHeader::parse(&index)
            }
            Err(_) => self.build_index(&Effort::default()),
        }
    }
}

/// Opens a log, mapped.
pub(crate) fn open_log(path: &Path) -> Result<Log<Map>> {
    Ok(Log::open(map(path)?).map_err(|error| error.file(path))?.named(path))
}

/// Opens a log to append to it; one writer at a time.
pub(crate) fn append(path: &Path) -> Result<LogWriter<fs::File>> {
    lock(path).and_then(LogWriter::append).map_err(|error| error.file(path))
}

fn lock(path: &Path) -> Result<fs::File> {
    let file = fs::File::options().read(true).write(true).open(path).doing("open the log")?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::new(Kind::Busy, "somebody else is appending to this log").remedy("try again when they are done"))
        }
        Err(TryLockError::Error(error)) => Err(Error::io("lock the log", error)),
    }
}

/// Maps a whole file.
pub(crate) fn map(path: &Path) -> Result<Map> {
    Map::new(&File::open(path)?)
}

/// Writes a file anew beside `path`, makes it durable, and only then gives it that name. Readers of the old one keep it.
pub(crate) fn replace<T>(path: &Path, write: impl FnOnce(&mut fs::File) -> Result<T>) -> Result<T> {
    let put = || -> Result<T> {
        let mut file = beside(path).doing("create the file")?;
        let written = write(file.as_file_mut())?;
        file.as_file().sync_all().doing("sync the file")?;
        file.persist(path).map_err(|refused| refused.error).doing("give the new file its name")?;
        Ok(written)
    };
    put().map_err(|error| error.file(path))
}

/// A new file of an unlikely name in the same directory, with the mode that Spotify's tool gives its files. It goes when
/// it is dropped.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mode = Permissions::from_mode(0o644);
    tempfile::Builder::new().prefix(".sparkey-").permissions(mode).tempfile_in(directory(path))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
