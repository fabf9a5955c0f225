//! An open directory, and names in it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::File;
use crate::file::FILE_FLAGS;
use crate::trace::{Op, Watched};

/// An open directory. Names are single components, resolved against it however the path to it changes.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    watched: Watched,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name alone.
    pub name: String,
    /// What it names.
    pub kind: EntryKind,
}

/// What a name stands for, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// Anything else.
    Other,
}

const DIR_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// `rwxrwxrwx` and `rw-r--r--`, less the process's umask: what the original gem and libsparkey give their files.
const DIR_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

impl Dir {
    /// Opens a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fd = openat(rustix::fs::CWD, path, DIR_FLAGS, Mode::empty())
            .map_err(io::Error::from)
            .doing("open the directory")
            .map_err(|error| error.file(path))?;
        Ok(Self { fd, path: path.to_path_buf(), watched: Watched::here() })
    }

    /// Makes a directory and those above it, as far as they are missing, and opens it.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        std::fs::create_dir_all(path).doing("make the directory").map_err(|error| error.file(path))?;
        Self::open(path)
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether `path` leads to this directory. Where nobody lets us see that, it is taken to.
    pub fn is_at(&self, path: impl AsRef<Path>) -> bool {
        match (statat(rustix::fs::CWD, path.as_ref(), AtFlags::empty()), rustix::fs::fstat(&self.fd)) {
            (Ok(there), Ok(ours)) => (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino),
            (Err(Errno::NOENT | Errno::NOTDIR), _) => false,
            _ => true,
        }
    }

    /// Whether its files are in memory, and gone after the machine's restart.
    pub fn is_in_memory(&self) -> Result<bool> {
        #[cfg(target_os = "linux")]
        {
            const TMPFS: i64 = 0x0102_1994;
            const RAMFS: i64 = 0x8584_58f6;
            let kind = self.named("look at the file system of", "", || Ok(rustix::fs::fstatfs(&self.fd)?.f_type))?;
            Ok([TMPFS, RAMFS].contains(&kind))
        }
        #[cfg(not(target_os = "linux"))]
        Ok(false)
    }

    /// Opens a directory in this one; a link to one is followed. `None` where there is none of that name.
    pub fn open_dir(&self, name: &str) -> Result<Option<Self>> {
        self.open_dir_with(name, DIR_FLAGS)
    }

    fn open_dir_with(&self, name: &str, flags: OFlags) -> Result<Option<Self>> {
        let fd = self.maybe("open the directory", name, || match openat(&self.fd, name, flags, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => Err(Errno::NOENT),
            other => other,
        })?;
        Ok(fd.map(|fd| self.within(fd, name)))
    }

    fn within(&self, fd: OwnedFd, name: &str) -> Self {
        Self { fd, path: self.path.join(name), watched: self.watched.within() }
    }

    /// Opens a file for reading. `None` where the name is not there.
    pub fn open_file(&self, name: &str) -> Result<Option<File>> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens a file for reading and writing. `None` where the name is not there.
    pub fn open_file_to_write(&self, name: &str) -> Result<Option<File>> {
        self.open_with(name, OFlags::RDWR)
    }

    fn open_with(&self, name: &str, flags: OFlags) -> Result<Option<File>> {
        let fd = self.maybe("open", name, || openat(&self.fd, name, flags | FILE_FLAGS, Mode::empty()))?;
        fd.map(|fd| File::regular(fd, self.path.join(name), self.watched.within())).transpose()
    }

    /// Makes a new file and opens it for reading and writing; a file of that name must not be there.
    pub fn create_file(&self, name: &str) -> Result<File> {
        self.create_with(name, OFlags::EXCL, FILE_MODE)
    }

    /// Makes a new file of this mode (less the umask) and opens it for reading and writing; one of that name must not be there.
    pub fn create_file_with_mode(&self, name: &str, mode: u32) -> Result<File> {
        self.create_with(name, OFlags::EXCL, Mode::from_raw_mode(mode))
    }

    /// Opens a file for reading and writing, and makes it first, writable for everybody the umask allows, where it is
    /// missing. For the lock file, which processes of several users share.
    pub fn open_or_create_shared(&self, name: &str) -> Result<File> {
        self.open_or_create(name, (FILE_MODE | Mode::WGRP | Mode::WOTH).as_raw_mode())
    }

    /// Opens a file for reading and writing, and makes it first, of this mode (less the umask), where it is missing.
    pub fn open_or_create(&self, name: &str, mode: u32) -> Result<File> {
        self.create_with(name, OFlags::empty(), Mode::from_raw_mode(mode))
    }

    fn create_with(&self, name: &str, flags: OFlags, mode: Mode) -> Result<File> {
        let path = self.path.join(name);
        let flags = flags | OFlags::RDWR | OFlags::CREATE | FILE_FLAGS;
        let fd = self.named("create", name, || {
            self.watched.about_to(|| Op::Create(path.clone()))?;
            Ok(openat(&self.fd, name, flags, mode)?)
        })?;
        File::regular(fd, path, self.watched.within())
    }

    /// Opens a new file without a name, on the same file system, for reading and writing: a scratch that goes with its
    /// descriptor. Nobody else can come across it, so it passes by [`trace`](crate::trace).
    pub fn scratch(&self) -> Result<std::fs::File> {
        #[cfg(target_os = "linux")]
        match openat(&self.fd, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR) {
            // This file system cannot.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
            opened => return self.named("create a scratch file", "", || Ok(opened?.into())),
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | FILE_FLAGS;
        let name = format!(".scratch-{}-{}", std::process::id(), crate::clock::coarse().as_nanos());
        self.named("create a scratch file", &name, || {
            let fd = openat(&self.fd, &name, flags, Mode::RUSR | Mode::WUSR)?;
            unlinkat(&self.fd, &name, AtFlags::empty())?;
            Ok(fd.into())
        })
    }

    /// Makes a directory and opens it.
    pub fn create_dir(&self, name: &str) -> Result<Self> {
        self.named("make the directory", name, || {
            self.watched.about_to(|| Op::MakeDir(self.path.join(name)))?;
            Ok(mkdirat(&self.fd, name, DIR_MODE)?)
        })?;
        let fd = self.named("open the directory", name, || Ok(openat(&self.fd, name, DIR_FLAGS, Mode::empty())?))?;
        Ok(self.within(fd, name))
    }

    /// Makes a symbolic link to `target`.
    pub fn symlink(&self, target: &str, name: &str) -> Result<()> {
        self.named("make the link", name, || {
            self.watched.about_to(|| Op::Symlink(target.into(), self.path.join(name)))?;
            Ok(symlinkat(target, &self.fd, name)?)
        })
    }

    /// Where a symbolic link points. `None` where the name is not there.
    pub fn read_link(&self, name: &str) -> Result<Option<OsString>> {
        match readlinkat(&self.fd, name, Vec::new()) {
            Err(Errno::INVAL) => Err(Error::new(Kind::Corrupt, "this is not a symbolic link")
                .file(self.path.join(name))
                .remedy("find out why it is there, and move it away")),
            target => {
                let target = self.maybe("read the link", name, || target)?;
                Ok(target.map(|target| OsString::from_vec(target.into_bytes())))
            }
        }
    }

    /// Gives `from` the name `to`, atomically replacing a file or link of that name.
    pub fn rename(&self, from: &str, to: impl AsRef<OsStr>) -> Result<()> {
        let to = to.as_ref();
        self.named("rename", from, || {
            self.watched.about_to(|| Op::Rename(self.path.join(from), self.path.join(to)))?;
            Ok(renameat(&self.fd, from, &self.fd, to)?)
        })
    }

    /// Removes a file or a link. Says whether it was there.
    pub fn unlink(&self, name: &str) -> Result<bool> {
        let done = self.maybe("remove", name, || {
            self.watched.about_to(|| Op::Unlink(self.path.join(name))).map_err(|error| errno(&error))?;
            unlinkat(&self.fd, name, AtFlags::empty())
        })?;
        Ok(done.is_some())
    }

    /// Removes a directory and all that is in it, links not followed. What is already gone is no error.
    pub fn remove_dir(&self, name: &str) -> Result<()> {
        let Some(dir) = self.open_dir_with(name, DIR_FLAGS | OFlags::NOFOLLOW)? else { return Ok(()) };
        for entry in dir.entries()? {
            match entry.kind {
                EntryKind::Dir => dir.remove_dir(&entry.name)?,
                _ => drop(dir.unlink(&entry.name)?),
            }
        }
        self.maybe("remove the directory", name, || {
            self.watched.about_to(|| Op::RemoveDir(self.path.join(name))).map_err(|error| errno(&error))?;
            unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
        })?;
        Ok(())
    }

    /// Makes the names in this directory durable.
    pub fn sync(&self) -> Result<()> {
        self.watched
            .about_to(|| Op::SyncDir(self.path.clone()))
            .and_then(|()| Ok(retry_on_intr(|| rustix::fs::fsync(&self.fd))?))
            .doing("sync the directory")
            .map_err(|error| error.file(&self.path))
    }

    /// All names but `.` and `..`, in no order. Names that are not UTF-8 are not ours and are left out.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let read = || -> io::Result<Vec<Entry>> {
            let mut entries = Vec::new();
            for entry in rustix::fs::Dir::read_from(&self.fd)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().to_str() else { continue };
                if name != "." && name != ".." {
                    entries.push(Entry { name: name.to_owned(), kind: self.kind_of(name, entry.file_type()) });
                }
            }
            Ok(entries)
        };
        read().doing("list the directory").map_err(|error| error.file(&self.path))
    }

    /// Some file systems do not say in the listing what a name stands for.
    fn kind_of(&self, name: &str, listed: FileType) -> EntryKind {
        let kind = match listed {
            FileType::Unknown => statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Dir,
            FileType::Symlink => EntryKind::Symlink,
            _ => EntryKind::Other,
        }
    }

    /// When the names in it last changed.
    pub fn modified(&self) -> Result<SystemTime> {
        let stat = rustix::fs::fstat(&self.fd)
            .map_err(io::Error::from)
            .doing("look at the directory")
            .map_err(|error| error.file(&self.path))?;
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0)))
    }

    /// A name that is missing is an answer here, not an error.
    fn maybe<T>(&self, what: &str, name: &str, work: impl FnOnce() -> rustix::io::Result<T>) -> Result<Option<T>> {
        match work() {
            Ok(value) => Ok(Some(value)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => self.named(what, name, || Err(errno.into())),
        }
    }

    fn named<T>(&self, what: &str, name: &str, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
        work().doing(what).map_err(|error| error.file(self.path.join(OsStr::from_bytes(name.as_bytes()))))
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_goes_with_all_that_is_in_it_and_nothing_that_links_lead_to() {
        let scratch = tempfile::tempdir().unwrap();
        let outer = Dir::open(scratch.path()).unwrap();
        outer.create_dir("kept").unwrap().create_file("precious").unwrap();
        let doomed = outer.create_dir("doomed").unwrap();
        doomed.create_dir("inner").unwrap().create_file("file").unwrap();
        doomed.symlink("../kept", "link").unwrap();
        outer.symlink("kept", "alias").unwrap();

        outer.remove_dir("doomed").unwrap();
        outer.remove_dir("doomed").unwrap();
        outer.remove_dir("alias").unwrap();
        assert!(outer.read_link("alias").unwrap().is_some(), "a link is not a directory");
        assert!(outer.open_dir("kept").unwrap().unwrap().open_file("precious").unwrap().is_some());
    }

    #[test]
    fn what_is_missing_is_none_and_what_is_denied_says_where() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path()).unwrap();
        assert!(dir.open_file("nothing").unwrap().is_none());
        assert!(dir.open_dir("nothing").unwrap().is_none());
        assert!(dir.read_link("nothing").unwrap().is_none());
        assert!(!dir.unlink("nothing").unwrap());

        dir.create_file("twice").unwrap();
        let error = dir.create_file("twice").unwrap_err();
        assert_eq!(error.path(), Some(scratch.path().join("twice").as_path()));
        assert_eq!(Dir::open(scratch.path().join("nothing")).unwrap_err().kind(), Kind::Missing);
    }

    #[test]
    fn a_directory_is_at_a_path_until_another_one_or_none_is() {
        let scratch = tempfile::tempdir().unwrap();
        let (here, link) = (scratch.path().join("here"), scratch.path().join("link"));
        let dir = Dir::create(&here).unwrap();
        std::os::unix::fs::symlink("here", &link).unwrap();
        assert!(dir.is_at(&here) && dir.is_at(&link));

        std::fs::rename(&here, scratch.path().join("there")).unwrap();
        assert!(!dir.is_at(&here) && !dir.is_at(&link), "nothing is");
        Dir::create(&here).unwrap();
        assert!(!dir.is_at(&here) && !dir.is_at(&link), "another one is");
        assert!(dir.is_at(scratch.path().join("there")));
        assert!(dir.is_at("x".repeat(5000)), "who knows");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_in_memory_is_told_from_others() {
        assert!(Dir::open("/dev/shm").unwrap().is_in_memory().unwrap());
        assert!(!Dir::open("/proc").unwrap().is_in_memory().unwrap());
    }

    #[test]
    fn a_scratch_file_has_no_name() {
        use std::io::{Read, Seek, Write};
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path()).unwrap();
        let mut file = dir.scratch().unwrap();
        file.write_all(b"for a while").unwrap();
        file.rewind().unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"for a while");
        assert_eq!(dir.entries().unwrap(), []);
    }

    #[cfg(feature = "testing")]
    #[test]
    fn a_watcher_sees_each_change_first_and_can_refuse_it() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path()).unwrap();
        let full = |op: &Op| match op {
            Op::Symlink(..) => Err(Errno::NOSPC.into()),
            _ => Ok(()),
        };
        let outcome = crate::trace::watch(full, || dir.create_file("file").and_then(|_| dir.symlink("file", "link")));
        assert_eq!(outcome.unwrap_err().kind(), Kind::Full);
        assert_eq!(dir.entries().unwrap(), [Entry { name: "file".into(), kind: EntryKind::File }]);
    }
}
