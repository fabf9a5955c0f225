//! Spotify's C library: a [`LogWriter`], [`write_index`], and a [`Reader`] with its [`Cursor`].
//!
//! A cursor is what the library calls an iterator: it holds the current block and the place in it, so looking up and
//! walking both need one, and one thread each.

mod api;
mod cursor;
mod failure;
mod writer;

pub use api::Api;
pub use cursor::{Cursor, Reader};
pub use failure::Failure;
pub use writer::{LogWriter, write_index};

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What every call gives back.
pub type Result<T> = std::result::Result<T, Failure>;

/// How a log's blocks are compressed; this version of the library knows no zstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No blocks at all.
    None,
    /// snappy, in blocks of at most so many bytes before compression; at least 10.
    Snappy(u32),
}

/// The path as the library wants it.
fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path without NUL")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(directory: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
        (directory.join("a.spl"), directory.join("a.spi"))
    }

    #[test]
    fn what_is_written_is_found_and_walked() -> Result<()> {
        for compression in [Compression::None, Compression::Snappy(64)] {
            let directory = tempfile::tempdir().unwrap();
            let (log, index) = pair(directory.path());
            let spanning = [b'v'; 300];

            let mut writer = LogWriter::create(&log, compression)?;
            writer.put(b"gone", b"soon")?;
            writer.put(b"", b"")?;
            writer.finish()?;
            let mut writer = LogWriter::append(&log)?;
            writer.delete(b"gone")?;
            writer.put(b"key", &spanning)?;
            writer.finish()?;
            write_index(&log, &index, 8)?;

            let reader = Reader::open(&log, &index)?;
            assert_eq!(reader.len(), 2);
            let mut cursor = reader.cursor()?;
            assert_eq!(cursor.get(b"key")?, Some(&spanning[..]));
            assert_eq!(cursor.get(b"")?, Some(&b""[..]));
            assert_eq!(cursor.get(b"gone")?, None);
            let mut cursor = reader.cursor()?;
            assert_eq!(cursor.next()?, Some((&b""[..], &b""[..])));
            assert_eq!(cursor.next()?, Some((&b"key"[..], &spanning[..])));
            assert_eq!(cursor.next()?, None);
        }
        Ok(())
    }

    #[test]
    fn a_failure_says_what_and_why() {
        let directory = tempfile::tempdir().unwrap();
        let (log, index) = pair(directory.path());
        let failure = Reader::open(&log, &index).unwrap_err();
        assert_eq!(failure.code(), -100);
        assert!(failure.to_string().starts_with("open the pair: "), "{failure}");
    }
}
