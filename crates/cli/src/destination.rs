//! `--output FILE`: where the product of a verb goes.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Result};
use hammerspace_tables::stream;

/// A file, or standard output, which is `-`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Destination {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }
}

impl From<OsString> for Destination {
    fn from(given: OsString) -> Self {
        if given == "-" { Self::Stdout } else { Self::File(given.into()) }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file().unwrap_or(Path::new("-")).display().fmt(f)
    }
}

/// Writes a file from front to back: beside it and renamed when complete, or into a pipe or a device.
pub(crate) fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> Result<()>) -> Result<()> {
    stream(path, |to| {
        let mut to = BufWriter::with_capacity(1 << 16, to);
        write(&mut to)?;
        to.flush().doing("write")
    })
}
