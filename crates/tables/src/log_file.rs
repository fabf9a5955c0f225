//! Writing a log file: a new one, or more of one that is there.

use std::path::{Path, PathBuf};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{File, ProcessFile};
use hammerspace_sparkey::{LogHeader, LogOptions, LogWriter};

use crate::output::Output;

/// A log file being written. Nothing of it is seen before [`finish`](Self::finish); dropped before that, a new log is
/// removed, and one that was appended to stays as it was.
pub struct LogFile {
    writer: LogWriter<ProcessFile>,
    path: PathBuf,
    /// Where a new log goes.
    output: Option<Output>,
}

impl LogFile {
    /// Begins a log, which takes the place of one that is there when it is finished.
    pub fn create(path: &Path, options: &LogOptions) -> Result<Self> {
        let begin = || {
            let (file, output) = Output::begin(path)?;
            let writer = LogWriter::create(file, options).map_err(|error| output.named(error))?;
            Ok(Self { writer, path: path.to_path_buf(), output: Some(output) })
        };
        begin().map_err(|error: Error| error.file(path))
    }

    /// Goes on with a log, if nobody else does at the moment. Its index will not know the new entries until it is brought
    /// up to date.
    pub fn append(path: &Path) -> Result<Self> {
        let mut owned = ProcessFile::new(File::open_to_write(path)?);
        if !owned.try_lock()? {
            return Err(Error::new(Kind::Busy, "somebody else is appending to this log")
                .file(path)
                .remedy("try again when they are done"));
        }
        let writer = LogWriter::append(owned).map_err(|error| error.file(path))?;
        Ok(Self { writer, path: path.to_path_buf(), output: None })
    }

    /// Gives `key` this value from here on.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.writer.put(key, value).map_err(|error| error.file(&self.path))
    }

    /// Ends the life of `key`, which need not have one.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writer.delete(key).map_err(|error| error.file(&self.path))
    }

    /// Makes the log durable, and visible under its name.
    pub fn finish(self) -> Result<LogHeader> {
        let finish = || {
            let (mut owned, header) = self.writer.finish()?;
            match self.output {
                Some(output) => output.finish(&mut owned.file)?,
                None => owned.file.sync()?,
            }
            Ok(header)
        };
        finish().map_err(|error: Error| error.file(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_log;

    #[test]
    fn nothing_is_seen_before_it_is_finished() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("it.spl");
        let begin = || -> Result<LogFile> {
            let mut log = LogFile::create(&path, &LogOptions::default())?;
            log.put(b"k", b"v")?;
            Ok(log)
        };
        drop(begin().unwrap());
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        begin().unwrap().finish().unwrap();

        let mut more = LogFile::append(&path).unwrap();
        more.put(b"l", b"w").unwrap();
        assert_eq!(LogFile::append(&path).err().map(|error| error.kind()), Some(Kind::Busy));
        drop(more);
        assert_eq!(open_log(&path).unwrap().header().num_puts, 1);
        let mut more = LogFile::append(&path).unwrap();
        more.delete(b"k").unwrap();
        assert_eq!(more.finish().unwrap().num_deletes, 1);
        assert_eq!(open_log(&path).unwrap().entries().count(), 2);
    }

    #[test]
    fn an_error_names_the_log() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("it.spl");
        let missing = LogFile::append(&path).err().unwrap();
        assert_eq!((missing.kind(), missing.path()), (Kind::Missing, Some(&*path)));
        std::fs::write(&path, "no log").unwrap();
        let broken = LogFile::append(&path).err().unwrap();
        assert_eq!((broken.kind(), broken.path()), (Kind::Corrupt, Some(&*path)));
    }
}
