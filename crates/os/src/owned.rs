//! What belongs to one process, and not to those that are forked from it.

use std::io::{self, Read, Seek, SeekFrom, Write};

use hammerspace_error::{Error, Kind, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

use crate::File;

/// The process that a writer belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u32);

impl Owner {
    /// This process.
    pub fn us() -> Self {
        Self(std::process::id())
    }

    /// Refuses to go on in a process that is not the one that made it.
    pub fn check(self) -> Result<()> {
        let us = std::process::id();
        if us == self.0 {
            return Ok(());
        }
        let finding = format!("this writer belongs to process {}, and process {us} was forked from it", self.0);
        Err(Error::new(Kind::Invalid, finding).remedy("take a new writer after the fork"))
    }
}

/// A file that only the process which opened it writes to: after a fork, both sides would share its position.
///
/// It can be locked (`flock`). Such a lock belongs to the open file, of which a forked child has a copy; it ends when all copies
/// are closed, be it by `kill -9`, or as soon as this process drops its own.
#[derive(Debug)]
pub struct Owned {
    /// The file itself, for whoever has checked.
    pub file: File,
    owner: Owner,
    is_locked: bool,
}

impl Owned {
    /// Makes a file belong to this process.
    pub fn new(file: File) -> Self {
        Self { file, owner: Owner::us(), is_locked: false }
    }

    /// Waits for the exclusive lock.
    pub fn lock(&mut self) -> Result<()> {
        let wait = || flock(self.file.as_fd(), FlockOperation::LockExclusive);
        self.file.named("lock", || Ok(retry_on_intr(wait)?))?;
        self.is_locked = true;
        Ok(())
    }

    /// Takes the exclusive lock if nobody has one; says whether it did.
    pub fn try_lock(&mut self) -> Result<bool> {
        match flock(self.file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => self.is_locked = true,
            Err(Errno::WOULDBLOCK) => {}
            Err(errno) => self.file.named("lock", || Err(errno.into()))?,
        }
        Ok(self.is_locked)
    }
}

impl Drop for Owned {
    /// Unlocks by hand. Closing the file would not do: another thread may have forked a child meanwhile, whose copy of the lock
    /// lasts until it runs another program or ends. The child's own drop leaves the lock alone, which is its parent's.
    fn drop(&mut self) {
        if self.is_locked && self.owner.check().is_ok() {
            flock(self.file.as_fd(), FlockOperation::Unlock).ok();
        }
    }
}

impl Write for Owned {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Owned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Owned {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.seek(to)
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::process::fork::fork;

    fn locked(path: &std::path::Path) -> Option<Owned> {
        let mut owned = Owned::new(File::open_to_write(path).unwrap());
        owned.try_lock().unwrap().then_some(owned)
    }

    /// What a program that another thread starts is between its fork and its exec, a forked worker is for as long as it lives.
    #[test]
    fn a_lock_ends_with_its_owner_whatever_was_forked_meanwhile() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let ours = locked(file.path()).expect("nobody has it");
        let child = fork(|| {
            std::thread::sleep(std::time::Duration::from_mins(10));
            0
        });
        assert!(locked(file.path()).is_none());
        drop(ours);
        assert!(locked(file.path()).is_some());
        child.kill();
    }

    #[test]
    fn a_childs_drop_does_not_unlock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut ours = locked(file.path());
        let child = fork(|| {
            drop(ours.take());
            0
        });
        assert_eq!(child.wait(), Some(0));
        assert!(locked(file.path()).is_none());
        drop(ours);
        assert!(locked(file.path()).is_some());
    }
}
