//! Every change to the file system, shown to a test before it happens.
//!
//! With the feature `testing`, a test [`watch`]es its own thread: each change is reported as an [`Op`] first, and happens
//! only if the watcher agrees. Files and directories that are opened meanwhile carry the watcher along, to the threads that
//! change them. Recording all changes and replaying a part is a power cut; refusing one is a full disk. Without the feature
//! none of this costs anything.

use std::io;
use std::path::PathBuf;

/// One change to the file system. Paths are as the directory was opened, so they join into one tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A new, empty file.
    Create(PathBuf),
    /// Bytes written at an offset.
    Write(PathBuf, u64, Vec<u8>),
    /// A new length.
    Truncate(PathBuf, u64),
    /// All of a file's bytes made durable.
    SyncFile(PathBuf),
    /// A new, empty directory.
    MakeDir(PathBuf),
    /// A new symbolic link: its target, its place.
    Symlink(PathBuf, PathBuf),
    /// One name becomes another, replacing what was there.
    Rename(PathBuf, PathBuf),
    /// A file or link loses its name.
    Unlink(PathBuf),
    /// An empty directory goes.
    RemoveDir(PathBuf),
    /// All names in a directory made durable.
    SyncDir(PathBuf),
}

#[cfg(feature = "testing")]
mod watching {
    use super::{Op, io};
    use std::cell::RefCell;
    use std::fmt;
    use std::sync::{Arc, Mutex, PoisonError, Weak};

    type Watcher = Mutex<dyn FnMut(&Op) -> io::Result<()> + Send>;

    thread_local! {
        static WATCHER: RefCell<Option<Arc<Watcher>>> = const { RefCell::new(None) };
    }

    /// Shows every change to `watcher`, whose error replaces the change, that this thread makes during `work`, or another one to
    /// what this thread opened meanwhile.
    pub fn watch<T>(watcher: impl FnMut(&Op) -> io::Result<()> + Send + 'static, work: impl FnOnce() -> T) -> T {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                WATCHER.set(None);
            }
        }
        WATCHER.set(Some(Arc::new(Mutex::new(watcher))));
        let _reset = Reset;
        work()
    }

    /// Who watches an open file or directory, for as long as they watch.
    #[derive(Clone, Default)]
    pub(crate) struct Watched(Option<Weak<Watcher>>);

    impl Watched {
        /// By who watches this thread.
        pub(crate) fn here() -> Self {
            Self(WATCHER.with_borrow(|watcher| watcher.as_ref().map(Arc::downgrade)))
        }

        /// By who watches this thread, or else the directory that it is opened in.
        pub(crate) fn within(&self) -> Self {
            Self(Self::here().0.or_else(|| self.0.clone()))
        }

        /// Reports a change, which is not to happen on an error.
        pub(crate) fn about_to(&self, op: impl FnOnce() -> Op) -> io::Result<()> {
            let watcher = self.within().0.and_then(|watcher| watcher.upgrade());
            watcher.map_or(Ok(()), |watcher| watcher.lock().unwrap_or_else(PoisonError::into_inner)(&op()))
        }
    }

    impl fmt::Debug for Watched {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "Watched({})", self.0.is_some())
        }
    }
}

#[cfg(feature = "testing")]
pub use watching::watch;

#[cfg(feature = "testing")]
pub(crate) use watching::Watched;

/// Nobody watches.
#[cfg(not(feature = "testing"))]
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched;

#[cfg(not(feature = "testing"))]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other build watches, and can refuse")]
impl Watched {
    #[inline]
    pub(crate) fn here() -> Self {
        Self
    }

    #[inline]
    pub(crate) fn within(&self) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn about_to(&self, _: impl FnOnce() -> Op) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::Dir;
    use std::sync::mpsc;
    use std::thread;

    /// How many of the changes are seen that two threads make to a file, opened under the watch or before it.
    fn seen(open_under_watch: bool) -> usize {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path()).unwrap();
        let open = || dir.create_file("file").unwrap();
        let before = (!open_under_watch).then(open);
        let (sender, seen) = mpsc::channel();
        let watcher = move |op: &Op| {
            sender.send(op.clone()).unwrap();
            Ok(())
        };
        watch(watcher, || {
            let file = before.unwrap_or_else(open);
            file.write_at(b"here", 0).unwrap();
            thread::scope(|scope| scope.spawn(|| file.write_at(b"there", 4).unwrap()).join().unwrap());
        });
        dir.create_file("unwatched").unwrap();
        seen.iter().filter(|op| matches!(op, Op::Write(..))).count()
    }

    #[test]
    fn a_file_carries_its_watcher_to_other_threads() {
        assert_eq!(seen(true), 2);
    }

    #[test]
    fn canary_what_was_opened_before_does_not() {
        assert_eq!(seen(false), 1);
    }
}
