//! What belongs to one process, and not to those that are forked from it.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_error::{Error, Kind, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

use crate::File;
use crate::close_on_fork::CloseOnFork;

/// Between two looks at a lock that another has.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(32);

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
/// It can be locked (`flock`). Such a lock belongs to the open file and ends with its last copy. It ends with this process's all the
/// same: dropped, it is unlocked by hand, and a child that the C library's `fork` makes has an empty file in place of a locked one from
/// its first instant, so that `kill -9` frees the lock whatever was forked before. See "Locks and forks" in the design notes.
///
/// A mapping is a copy too, and a child keeps it: who maps a locked file opens it once more for that.
#[derive(Debug)]
pub struct ProcessFile {
    /// The file itself, for whoever has checked.
    pub file: File,
    owner: Owner,
    is_locked: bool,
    /// From before it is locked.
    close_on_fork: Option<CloseOnFork>,
}

impl ProcessFile {
    /// Makes a file belong to this process.
    pub fn new(file: File) -> Self {
        Self { file, owner: Owner::us(), is_locked: false, close_on_fork: None }
    }

    /// Waits for the exclusive lock.
    pub fn lock(&mut self) -> Result<()> {
        self.prepare()?;
        let wait = || flock(self.file.as_fd(), FlockOperation::LockExclusive);
        self.file.named("lock", || Ok(retry_on_intr(wait)?))?;
        self.is_locked = true;
        Ok(())
    }

    /// Takes the exclusive lock if nobody has one; says whether it did.
    pub fn try_lock(&mut self) -> Result<bool> {
        self.prepare()?;
        match flock(self.file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => self.is_locked = true,
            Err(Errno::WOULDBLOCK) => {}
            Err(errno) => self.file.named("lock", || Err(errno.into()))?,
        }
        Ok(self.is_locked)
    }

    /// Tries to take the exclusive lock for as long as `limit`; says whether it did. The kernel has no lock
    /// with a time limit, so this looks again and again, less and less often.
    pub fn lock_within(&mut self, limit: Duration) -> Result<bool> {
        let started = Instant::now();
        let mut pause = SHORTEST_PAUSE;
        while !self.try_lock()? {
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            thread::sleep(pause.min(left));
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        Ok(true)
    }

    /// Sees to it that no child gets the lock. A child's file may not be the one that it was.
    fn prepare(&mut self) -> Result<()> {
        self.owner.check()?;
        if self.close_on_fork.is_none() {
            self.close_on_fork = Some(self.file.named("lock", || CloseOnFork::new(self.file.as_fd()))?);
        }
        Ok(())
    }
}

impl Drop for ProcessFile {
    /// Unlocks by hand. Closing the file would not do: a program that another thread starts has a copy of the lock until it runs, as
    /// `vfork` asks no library. The child's own drop leaves the lock alone, which is its parent's.
    fn drop(&mut self) {
        if self.is_locked && self.owner.check().is_ok() {
            flock(self.file.as_fd(), FlockOperation::Unlock).ok();
        }
        // Before the file is closed.
        self.close_on_fork.take();
    }
}

impl Write for ProcessFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for ProcessFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.read(buffer)
    }
}

impl Seek for ProcessFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.owner.check().map_err(io::Error::other)?;
        self.file.seek(to)
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::process::fork::fork;
    use crate::process::is_alive;

    fn locked(path: &Path) -> Option<ProcessFile> {
        let mut owned = ProcessFile::new(File::open_to_write(path).unwrap());
        owned.try_lock().unwrap().then_some(owned)
    }

    /// What a program that another thread starts is between its fork and its exec, a forked worker is for as long as it lives.
    #[test]
    fn a_lock_ends_with_its_owner_whatever_was_forked_meanwhile() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let ours = locked(file.path()).expect("nobody has it");
        let child = fork(sleep);
        assert!(locked(file.path()).is_none());
        drop(ours);
        assert!(locked(file.path()).is_some());
        child.kill();
    }

    fn sleep() -> i32 {
        std::thread::sleep(Duration::from_mins(10));
        0
    }

    /// Of which some are locked, unlocked and locked again.
    const MANY: usize = 300;

    /// Locks many files, forks a child that tells its number and sleeps, and waits to be killed.
    fn own_many_and_fork(dir: &Path, child: &fs::File) -> i32 {
        let lock = |name: usize| locked(&dir.join(name.to_string())).expect("nobody has it");
        let mut all: Vec<_> = (0..MANY).map(lock).collect();
        all.drain(MANY / 3..MANY / 2);
        all.extend((MANY / 3..MANY / 2).map(lock));
        let _child = fork(|| {
            child.write_all_at(format!("{:010}", std::process::id()).as_bytes(), 0).unwrap();
            sleep()
        });
        sleep()
    }

    /// The number that a process has written to a file, as soon as it has.
    fn told(path: &Path) -> i32 {
        let started = Instant::now();
        loop {
            if let Ok(number) = fs::read_to_string(path).unwrap().parse() {
                return number;
            }
            assert!(started.elapsed() < Duration::from_mins(1), "it tells nothing");
        }
    }

    #[test]
    fn locks_end_with_a_killed_owner_though_its_child_lives_on() {
        let scratch = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..MANY).map(|name| scratch.path().join(name.to_string())).collect();
        for path in &paths {
            fs::write(path, "").unwrap();
        }
        let child = tempfile::NamedTempFile::new().unwrap();
        let owner = fork(|| own_many_and_fork(scratch.path(), child.as_file()));
        let child = told(child.path());
        let are_taken = paths.iter().all(|path| locked(path).is_none());
        owner.kill();
        let are_free = paths.iter().all(|path| locked(path).is_some());
        let (lives, pid) = (is_alive(child.cast_unsigned()), Pid::from_raw(child).unwrap());
        kill_process(pid, Signal::KILL).unwrap();
        assert!(are_taken && are_free && lives, "{are_taken} {are_free} {lives}");
    }

    /// Whoever goes on with the number must neither harm the parent's file nor close somebody else's.
    #[test]
    fn a_child_has_a_file_of_its_own_in_place_of_a_locked_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "the parent's").unwrap();
        let mut ours = locked(file.path());
        let child = fork(|| {
            let mut inherited = ours.take().unwrap();
            assert!(inherited.file.is_empty().unwrap());
            inherited.file.write_at(b"the child's", 0).unwrap();
            let refused = [inherited.lock(), inherited.try_lock().map(drop)].map(|refused| refused.unwrap_err().kind());
            assert_eq!(refused, [Kind::Invalid; 2]);
            assert!(inherited.read(&mut [0]).is_err() && inherited.write(&[0]).is_err());
            drop(inherited);
            // The number is free by now, and so is the slot.
            let mine = tempfile::NamedTempFile::new().unwrap();
            let _mine = locked(mine.path()).expect("nobody has it");
            let grandchild = fork(|| i32::from(locked(mine.path()).is_some()));
            assert_eq!(grandchild.wait(), Some(0));
            0
        });
        assert_eq!(child.wait(), Some(0));
        assert_eq!(fs::read(file.path()).unwrap(), b"the parent's");
        assert!(locked(file.path()).is_none());
    }

    /// Locks come and go, and their numbers become other files', while children are forked.
    #[test]
    fn children_let_go_of_nothing_but_locks() {
        let scratch = tempfile::tempdir().unwrap();
        let plain = scratch.path().join("plain");
        fs::write(&plain, "plain").unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for name in ["one", "other"].map(|name| scratch.path().join(name)) {
                let is_over = &is_over;
                fs::write(&name, "").unwrap();
                scope.spawn(move || {
                    while !is_over.load(Relaxed) {
                        assert!(locked(&name).is_some(), "no child keeps it");
                    }
                });
            }
            let is_plain = |_| {
                // Likely to get numbers that were locked a moment ago.
                let files: Vec<_> = (0..8).map(|_| File::open(&plain).unwrap()).collect();
                fork(|| i32::from(files.iter().any(|file| file.len().ok() != Some(5)))).wait() == Some(0)
            };
            let are_plain = (0..200).all(is_plain);
            is_over.store(true, Relaxed);
            assert!(are_plain);
        });
    }

    #[test]
    fn a_lock_that_another_has_is_waited_for_as_long_as_the_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let ours = locked(file.path()).expect("nobody has it");
        let mut other = ProcessFile::new(File::open_to_write(file.path()).unwrap());
        let started = Instant::now();
        assert!(!other.lock_within(Duration::from_millis(20)).unwrap());
        assert!(started.elapsed() >= Duration::from_millis(20));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| other.lock_within(Duration::MAX).unwrap());
            drop(ours);
            assert!(waiting.join().unwrap());
        });
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
