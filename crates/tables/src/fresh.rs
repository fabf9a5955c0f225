//! A file or directory in the making, beside the name that it is for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use std::sync::{Mutex, MutexGuard, PoisonError};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{Dir, File, Owner};

/// The mode of a file that is to get another's: nobody else opens it meanwhile.
const PRIVATE: u32 = 0o600;

/// What this process has in the making: a directory, and the temporary name in it.
static MAKING: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

fn making() -> MutexGuard<'static, Vec<(PathBuf, String)>> {
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is in the making, and lets nothing be completed from here on: whoever tries waits for ever. For a process
/// that ends, as after Ctrl-C.
pub fn abandon_outputs() {
    let making = making();
    for (dir, temporary) in &*making {
        let Ok(dir) = Dir::open(dir) else { continue };
        // As in `drop`.
        drop(dir.unlink(temporary));
        drop(dir.remove_dir(temporary));
    }
    std::mem::forget(making);
}

/// The unlikely name that something new has until it is complete. Dropping this removes it, unless it got its name or belongs
/// to another process.
pub(crate) struct Fresh {
    dir: Dir,
    temporary: String,
    name: OsString,
    /// As messages have it.
    path: PathBuf,
    owner: Owner,
    is_named: bool,
}

impl Fresh {
    /// Makes a file, in the directory of `path`; a private one can be opened by nobody but its owner.
    pub(crate) fn file_beside(path: &Path, is_private: bool) -> Result<(File, Self)> {
        let fresh = Self::beside(path)?;
        let file = if is_private {
            fresh.dir.create_file_with_mode(&fresh.temporary, PRIVATE)
        } else {
            fresh.dir.create_file(&fresh.temporary)
        };
        Ok((file.map_err(|error| fresh.named(error))?, fresh))
    }

    /// Makes a directory, in the directory of `path`.
    pub(crate) fn dir_beside(path: &Path) -> Result<(Dir, Self)> {
        let fresh = Self::beside(path)?;
        let dir = fresh.dir.create_dir(&fresh.temporary).map_err(|error| fresh.named(error))?;
        Ok((dir, fresh))
    }

    fn beside(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| nameless(path))?.to_owned();
        let dir = dir_of(path)?;
        let drawn = getrandom::u64().map_err(std::io::Error::from).doing("draw a name")?;
        let temporary = format!(".sparkey-{drawn:016x}");
        making().push((dir.path().to_path_buf(), temporary.clone()));
        Ok(Self { dir, temporary, name, path: path.to_path_buf(), owner: Owner::us(), is_named: false })
    }

    /// An error that calls things by the name to come: the temporary one says nothing to anybody.
    pub(crate) fn named(&self, error: Error) -> Error {
        error.moved(&self.dir.path().join(&self.temporary), &self.path)
    }

    /// Gives what was made, which should be durable, the name that it is for.
    pub(crate) fn take_name(mut self) -> Result<()> {
        self.owner.check()?;
        // Until it has its name: `abandon_outputs` comes before or after.
        let _making = making();
        self.dir.rename(&self.temporary, &self.name).map_err(|error| self.named(error))?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        making().retain(|(_, temporary)| *temporary != self.temporary);
        if !self.is_named && self.owner.check().is_ok() {
            // One of the two finds something. What cannot be removed is something that nobody looks for.
            drop(self.dir.unlink(&self.temporary));
            drop(self.dir.remove_dir(&self.temporary));
        }
    }
}

/// The directory in which `path` is a name.
pub(crate) fn dir_of(path: &Path) -> Result<Dir> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Dir::open(parent.unwrap_or(Path::new(".")))
}

fn nameless(path: &Path) -> Error {
    Error::new(Kind::Invalid, format!("{} is not the name of a file", path.display()))
}

#[cfg(test)]
mod tests {
    use hammerspace_os::process::fork::fork;

    use super::*;
    use crate::output::tests::names;

    #[test]
    fn a_forked_child_removes_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let (_, fresh) = Fresh::file_beside(&scratch.path().join("file"), false).unwrap();
        let mut fresh = Some(fresh);
        let child = fork(|| {
            drop(fresh.take());
            0
        });
        assert_eq!(child.wait(), Some(0));
        assert_eq!(names(scratch.path()).len(), 1);
        drop(fresh);
        assert!(names(scratch.path()).is_empty());
    }
}
