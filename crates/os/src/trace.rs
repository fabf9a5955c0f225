//! Every change to the file system, shown to a test before it happens.
//!
//! With the feature `testing`, a test [`watch`]es its own thread: each change is reported as an [`Op`] first, and happens
//! only if the watcher agrees. Recording them all and replaying a part is a power cut; refusing one is a full disk.
//! Without the feature none of this costs anything.

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

    type Watcher = Box<dyn FnMut(&Op) -> io::Result<()>>;

    thread_local! {
        static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    }

    /// Shows every change that this thread makes during `work` to `watcher`, whose error replaces the change.
    pub fn watch<T>(watcher: impl FnMut(&Op) -> io::Result<()> + 'static, work: impl FnOnce() -> T) -> T {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                WATCHER.set(None);
            }
        }
        WATCHER.set(Some(Box::new(watcher)));
        let _reset = Reset;
        work()
    }

    pub(crate) fn about_to(op: impl FnOnce() -> Op) -> io::Result<()> {
        WATCHER.with_borrow_mut(|watcher| watcher.as_mut().map_or(Ok(()), |watcher| watcher(&op())))
    }
}

#[cfg(feature = "testing")]
pub use watching::watch;

#[cfg(feature = "testing")]
pub(crate) use watching::about_to;

#[cfg(not(feature = "testing"))]
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "the other build can refuse")]
pub(crate) fn about_to(_: impl FnOnce() -> Op) -> io::Result<()> {
    Ok(())
}
