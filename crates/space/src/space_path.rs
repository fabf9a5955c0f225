//! Where a handle's directory is to be found: the path it was opened by, which may lead to another directory one day.
//!
//! See "A handle follows its path" in the design notes.

use std::path::{Path, PathBuf, absolute};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Dir;

use crate::recognize;

/// The path of a space, and whether its directory is made where it is missing.
pub(crate) struct SpacePath {
    given: PathBuf,
    /// The same one, wherever the process goes; `None` where nobody can tell, and then nothing is looked for there.
    absolute: Option<PathBuf>,
    create: bool,
}

impl SpacePath {
    pub(crate) fn new(path: &Path, create: bool) -> Self {
        Self { given: path.to_path_buf(), absolute: absolute(path).ok(), create }
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.given
    }

    /// Opens the directory by the path as given, which may lead where the absolute one does not: directories above may be
    /// closed to us.
    pub(crate) fn open(&self) -> Result<Dir> {
        self.open_by(&self.given)
    }

    /// The same, from wherever the process is by now.
    pub(crate) fn reopen(&self) -> Result<Dir> {
        self.open_by(self.absolute())
    }

    /// Opens what is there by now, and makes nothing; `None` where nothing is.
    pub(crate) fn find(&self) -> Result<Option<Dir>> {
        match Dir::open(self.absolute()) {
            Err(error) if error.kind() == Kind::Missing => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Whether this directory is still the one that the path leads to.
    pub(crate) fn leads_to(&self, dir: &Dir) -> bool {
        self.absolute.as_ref().is_none_or(|path| dir.is_at(path))
    }

    fn open_by(&self, path: &Path) -> Result<Dir> {
        if self.create {
            let dir = Dir::create(path)?;
            return recognize::check_to_make(&dir).map(|()| dir);
        }
        let dir = Dir::open(path).map_err(unless_made)?;
        recognize::check_to_read(&dir).map(|()| dir)
    }

    fn absolute(&self) -> &Path {
        self.absolute.as_ref().unwrap_or(&self.given)
    }
}

fn unless_made(error: Error) -> Error {
    let remedy = "create the space first, for instance with `hammerspace load`, or correct the path";
    if error.kind() == Kind::Missing { error.remedy(remedy) } else { error }
}
