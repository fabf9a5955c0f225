//! A file or directory in the making, beside the name that it is for.

use std::ffi::OsString;
use std::path::Path;

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{Dir, File, Owned, Owner};

/// The unlikely name that something new has until it is complete. Dropping this removes it, unless it got its name or belongs
/// to another process.
pub(crate) struct Fresh {
    dir: Dir,
    temporary: String,
    name: OsString,
    owner: Owner,
    is_named: bool,
}

impl Fresh {
    /// Makes a file, in the directory of `path`.
    pub(crate) fn file_beside(path: &Path) -> Result<(Owned, Self)> {
        let fresh = Self::beside(path)?;
        Ok((Owned::new(fresh.dir.create_file(&fresh.temporary)?), fresh))
    }

    /// Makes a directory, in the directory of `path`.
    pub(crate) fn dir_beside(path: &Path) -> Result<(Dir, Self)> {
        let fresh = Self::beside(path)?;
        Ok((fresh.dir.create_dir(&fresh.temporary)?, fresh))
    }

    fn beside(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| nameless(path))?.to_owned();
        let dir = dir_of(path)?;
        let drawn = getrandom::u64().map_err(std::io::Error::from).doing("draw a name")?;
        let temporary = format!(".sparkey-{drawn:016x}");
        Ok(Self { dir, temporary, name, owner: Owner::us(), is_named: false })
    }

    /// Gives what was made, which should be durable, the name that it is for.
    pub(crate) fn take_name(mut self) -> Result<()> {
        self.owner.check()?;
        self.dir.rename(&self.temporary, &self.name)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.is_named && self.owner.check().is_ok() {
            // One of the two finds something. What cannot be removed is something that nobody looks for.
            drop(self.dir.unlink(&self.temporary));
            drop(self.dir.remove_dir(&self.temporary));
        }
    }
}

/// Writes a file anew beside `path`, makes it durable, and only then gives it that name. Readers of the old one keep it.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let put = || -> Result<T> {
        let (mut owned, fresh) = Fresh::file_beside(path)?;
        let written = write(&mut owned.file)?;
        owned.file.sync()?;
        fresh.take_name()?;
        Ok(written)
    };
    put().map_err(|error| error.file(path))
}

/// A file without a name, for what memory has no room for: in the directory that `TMPDIR` names, or else `/tmp`.
pub fn scratch() -> Result<std::fs::File> {
    Dir::open(std::env::temp_dir())?.scratch()
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
    use std::fs;
    use std::io::Write;

    use hammerspace_os::process::fork::fork;
    use hammerspace_os::trace::{self, Op};

    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "old").unwrap();
        let full = |op: &Op| match op {
            Op::SyncFile(_) => Err(std::io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        };
        let write = |file: &mut File| file.write_all(b"new").doing("write");
        assert_eq!(trace::watch(full, || replace(&path, write)).unwrap_err().kind(), Kind::Full);
        assert_eq!((fs::read(&path).unwrap(), names(scratch.path())), (b"old".to_vec(), vec!["file".into()]));

        replace(&path, write).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(scratch.path())), (b"new".to_vec(), vec!["file".into()]));
    }

    #[test]
    fn a_forked_child_removes_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let (_, fresh) = Fresh::file_beside(&scratch.path().join("file")).unwrap();
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

    #[test]
    fn a_directory_is_no_name_for_a_file() {
        assert_eq!(replace(Path::new(".."), |_| Ok(())).unwrap_err().kind(), Kind::Invalid);
    }
}
