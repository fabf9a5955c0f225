//! An open file.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Error, Kind, Result};
use rustix::fs::{
    CWD, FallocateFlags, FileType, FlockOperation, MemfdFlags, Mode, OFlags, fallocate, fcntl_lock, flock, fstatvfs,
    memfd_create, openat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::paging::{self, HUGE_PAGE};
use crate::trace::{Op, Watched};

/// Bytes that a copy writes in one call: a file system takes pages as large as a write is long. A log may be larger than memory, so not
/// all of it is called into memory first.
const COPIED_AT_ONCE: usize = if cfg!(test) { 8 << 10 } else { 32 * HUGE_PAGE };

/// Opening does not wait: opening a pipe would wait for its other end. Whatever is not a regular file is refused right after.
pub(crate) const FILE_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// An open file that knows its path, for messages.
///
/// [`Read`], [`Write`] and [`Seek`] work as on a standard file; errors of the named methods say what was being done to
/// which file.
#[derive(Debug)]
pub struct File {
    inner: fs::File,
    path: PathBuf,
    watched: Watched,
}

/// What a file system holds, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// In all; `u64::MAX` where there is no bound.
    pub size: u64,
    /// Of that, what is left for us.
    pub left: u64,
}

impl File {
    pub(crate) fn new(fd: OwnedFd, path: PathBuf, watched: Watched) -> Self {
        Self { inner: fd.into(), path, watched }
    }

    /// An open file, which messages call `path`.
    pub fn wrap(file: fs::File, path: impl AsRef<Path>) -> Self {
        Self { inner: file, path: path.as_ref().to_path_buf(), watched: Watched::here() }
    }

    /// Opens an existing regular file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), OFlags::RDONLY)
    }

    /// Opens an existing regular file for reading and writing.
    pub fn open_to_write(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path.as_ref(), OFlags::RDWR)
    }

    fn open_with(path: &Path, access: OFlags) -> Result<Self> {
        match openat(CWD, path, access | FILE_FLAGS, Mode::empty()) {
            // How a directory refuses to be opened for writing.
            Err(Errno::ISDIR) => Err(not_regular(path)),
            opened => {
                let fd = opened.map_err(io::Error::from).doing("open").map_err(|error| error.file(path))?;
                Self::regular(fd, path.to_path_buf(), Watched::here())
            }
        }
    }

    /// Refuses what is not a regular file: a pipe or a device has no length to trust, and can keep a reader waiting for ever.
    pub(crate) fn regular(fd: OwnedFd, path: PathBuf, watched: Watched) -> Result<Self> {
        let file = Self::new(fd, path, watched);
        let stat = file.named("look at", || Ok(rustix::fs::fstat(&file.inner)?))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok(file)
        } else {
            Err(not_regular(&file.path))
        }
    }

    /// A file in memory that has no name and ends with the last who has it open or mapped. `what` is for messages, and for those who
    /// look at `/proc`.
    pub fn without_name(what: &str) -> Result<Self> {
        let fd = memfd_create(what, MemfdFlags::CLOEXEC).map_err(io::Error::from).doing("make a file in memory")?;
        Ok(Self::new(fd, PathBuf::from(what), Watched::here()))
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length now, in bytes.
    pub fn len(&self) -> Result<u64> {
        self.named("look at", || Ok(self.inner.metadata()?.len()))
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// When it was last written.
    pub fn modified(&self) -> Result<std::time::SystemTime> {
        self.named("look at", || self.inner.metadata()?.modified())
    }

    /// Whether both are the same file, by whatever names they were opened.
    pub fn is_same_as(&self, other: &Self) -> Result<bool> {
        let identity = |file: &Self| {
            file.named("look at", || file.inner.metadata().map(|metadata| (metadata.dev(), metadata.ino())))
        };
        Ok(identity(self)? == identity(other)?)
    }

    /// Whether the file still has a name.
    pub fn has_name(&self) -> Result<bool> {
        self.named("look at", || Ok(self.inner.metadata()?.nlink() > 0))
    }

    /// Gives this file the permission bits of `other`.
    pub fn take_mode_of(&self, other: &Self) -> Result<()> {
        let mode = |file: &Self| file.named("look at", || Ok(file.inner.metadata()?.mode() & 0o7777));
        let (ours, theirs) = (mode(self)?, mode(other)?);
        if ours == theirs {
            return Ok(());
        }
        self.named("change the mode of", || Ok(rustix::fs::fchmod(&self.inner, Mode::from_raw_mode(theirs))?))
    }

    /// Fills `buffer` from `offset`, as far as the file goes; gives how many bytes there were.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.named("read", || {
            let mut done = 0;
            while done < buffer.len() {
                match self.inner.read_at(&mut buffer[done..], offset + done as u64) {
                    Ok(0) => break,
                    Ok(n) => done += n,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(done)
        })
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.named("write", || {
            self.watched.about_to(|| Op::Write(self.path.clone(), offset, bytes.to_vec()))?;
            self.inner.write_all_at(bytes, offset)
        })
    }

    /// Cuts or extends the file to `len` bytes.
    pub fn truncate(&self, len: u64) -> Result<()> {
        self.named("truncate", || {
            self.watched.about_to(|| Op::Truncate(self.path.clone(), len))?;
            self.inner.set_len(len)
        })
    }

    /// Whether somebody else holds the exclusive lock ([`crate::ProcessFile::lock`]). To ask, it is shared for an instant.
    pub fn is_locked(&self) -> Result<bool> {
        self.named("look at the lock of", || match flock(&self.inner, FlockOperation::NonBlockingLockShared) {
            Ok(()) => flock(&self.inner, FlockOperation::Unlock).map(|()| false).map_err(Into::into),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(errno.into()),
        })
    }

    /// Claims a file without a name for this process, for those that are forked from it to see. The claim is the process's (`fcntl`), not
    /// the open file's as [`crate::ProcessFile::lock`] is, for which a file must be opened twice: children do not share it, and it ends when
    /// this process ends, or closes the file by any descriptor.
    pub fn claim(&self) -> Result<()> {
        self.named("claim", || Ok(fcntl_lock(&self.inner, FlockOperation::NonBlockingLockExclusive)?))
    }

    /// Whether another process has claimed the file.
    pub fn is_claimed(&self) -> Result<bool> {
        let whole = Flock::from(FlockType::WriteLock);
        self.named("look at the claim on", || Ok(fcntl_getlk(&self.inner, &whole)?.is_some()))
    }

    /// Gives `len` bytes from `offset` on their place on the file system, so that writing there through a mapping cannot fail
    /// later. [`Kind::Full`] where there is no room.
    pub fn allocate(&self, offset: u64, len: u64) -> Result<()> {
        self.named("allocate room in", || {
            let allocate = || fallocate(&self.inner, FallocateFlags::KEEP_SIZE, offset, len);
            match retry_on_intr(allocate) {
                // A file system that cannot promise room; what it has is found when it is touched.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
                Err(errno) => Err(errno.into()),
            }
        })
    }

    /// How much the file system under this file holds.
    pub fn capacity(&self) -> Result<Capacity> {
        self.named("look at the file system of", || {
            let system = fstatvfs(&self.inner)?;
            let bytes = |blocks: u64| blocks.saturating_mul(system.f_frsize);
            Ok(match system.f_blocks {
                // As Linux has it of memory that it sets no bound to.
                0 => Capacity { size: u64::MAX, left: u64::MAX },
                blocks => Capacity { size: bytes(blocks), left: bytes(system.f_bavail) },
            })
        })
    }

    /// Makes the bytes durable: once this returns they survive a power cut. The name is [`crate::Dir::sync`]'s business.
    pub fn sync(&self) -> Result<()> {
        self.named("sync", || {
            self.watched.about_to(|| Op::SyncFile(self.path.clone()))?;
            self.inner.sync_data()
        })
    }

    /// The same of what is not a regular file: a pipe or a terminal has nothing to make durable.
    pub fn sync_node(&self) -> Result<()> {
        match self.sync() {
            Err(error) if error.os_code() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
            synced => synced,
        }
    }

    /// Makes this empty file a copy of the first bytes of `source`, which are also mapped, at `bytes`: by sharing its blocks
    /// where the file system can, else by writing the mapping. See "Copying a log" in the design notes. The position stays
    /// where it is.
    pub fn copy_from(&self, source: &Self, bytes: &[u8]) -> Result<()> {
        let len = bytes.len() as u64;
        self.named("copy the log", || {
            self.watched.about_to(|| Op::Write(self.path.clone(), 0, bytes.to_vec()))?;
            if self.share_blocks(source) {
                // Shared as a whole, the source may be longer than what is asked for.
                return self.inner.set_len(len);
            }
            for (nth, piece) in bytes.chunks(COPIED_AT_ONCE).enumerate() {
                paging::touch(piece);
                self.inner.write_all_at(piece, (nth * COPIED_AT_ONCE) as u64)?;
            }
            Ok(())
        })
    }

    #[cfg(target_os = "linux")]
    fn share_blocks(&self, source: &Self) -> bool {
        rustix::fs::ioctl_ficlone(&self.inner, &source.inner).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn share_blocks(&self, _: &Self) -> bool {
        false
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    pub(crate) fn named<T>(&self, what: &str, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
        work().doing(what).map_err(|error| error.file(&self.path))
    }
}

fn not_regular(path: &Path) -> Error {
    let error = Error::new(Kind::Corrupt, "this is not a regular file").file(path);
    error.remedy("find out why it is there, and move it away")
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(feature = "testing")]
        {
            // A pipe has no position.
            let offset = self.inner.stream_position().unwrap_or(0);
            self.watched.about_to(|| Op::Write(self.path.clone(), offset, bytes.to_vec()))?;
            self.inner.write_all(bytes).map(|()| bytes.len())
        }
        #[cfg(not(feature = "testing"))]
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dir, Map};

    /// Opening a pipe waits for its other end, which may never come.
    #[test]
    fn what_is_not_a_regular_file_is_refused_at_once() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [&pipe, scratch.path()] {
            for error in [File::open(path).unwrap_err(), File::open_to_write(path).unwrap_err()] {
                assert_eq!((error.kind(), error.path()), (Kind::Corrupt, Some(path)), "{error}");
            }
        }
    }

    #[test]
    fn a_copy_is_what_was_asked_for_however_long() {
        let scratch = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3 * COPIED_AT_ONCE + 5000).map(|at| (at / 4096 + at % 7) as u8).collect();
        fs::write(scratch.path().join("from"), &bytes).unwrap();
        let source = File::open(scratch.path().join("from")).unwrap();
        let map = Map::new(&source).unwrap();
        let dir = Dir::open(scratch.path()).unwrap();
        for len in [1, 4096, COPIED_AT_ONCE, 3 * COPIED_AT_ONCE + 4999] {
            let copy = dir.create_file(&len.to_string()).unwrap();
            copy.copy_from(&source, &map[..len]).unwrap();
            assert!(*Map::new(&copy).unwrap() == bytes[..len], "{len} bytes");
        }
    }
}
