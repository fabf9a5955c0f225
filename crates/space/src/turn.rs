//! Turns: updates of a space queue here, one behind the other.
//!
//! ```text
//! PATH/hammerspace.next      locked by the update that is next in line
//! PATH/hammerspace.update    locked by the update whose turn it is, until it has published; holds its process number
//! ```
//!
//! The second lock makes the queue fair: an update that follows another at once, in a loop, waits behind the one that is next.
//! Both are `flock`s, so they end with their process, however it ends.
//!
//! The queue only saves work. What keeps updates from losing each other is that a publication in turn compares `current` with
//! the version it started from, under the space's lock. So a writer outside the queue, or a lock file that somebody removed,
//! does no harm. Readers and other writers never take these locks.

use std::time::{Duration, Instant};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, ProcessFile};

use crate::layout::{NEXT, UPDATE};
use crate::lock::open_lock_file;
use crate::space_dir::SpaceDir;

/// The turn to update a space. The next update's begins when this is dropped.
pub(crate) struct Turn {
    lock: ProcessFile,
    /// The version that was current when the update began.
    base: Option<String>,
}

impl Turn {
    /// Waits for it, no longer than `limit`.
    pub(crate) fn wait(space_dir: &SpaceDir, limit: Duration) -> Result<Self> {
        let started = Instant::now();
        let mut next = lock_of(&space_dir.dir, NEXT)?;
        let mut turn = Self { lock: lock_of(&space_dir.dir, UPDATE)?, base: None };
        let is_ours = next.lock_within(limit)? && turn.lock.lock_within(limit.saturating_sub(started.elapsed()))?;
        if !is_ours {
            return Err(busy(&turn.lock.file, limit));
        }
        turn.sign(std::process::id());
        Ok(turn)
    }

    /// Notes the version that the update starts from.
    pub(crate) fn begin(&mut self, base: Option<&str>) {
        self.base = base.map(str::to_owned);
    }

    /// Refuses to replace another version than the one that the update started from. The caller holds the space's lock.
    pub(crate) fn check(&self, current: Option<&str>, space: &Dir) -> Result<()> {
        if current == self.base.as_deref() {
            return Ok(());
        }
        Err(Error::new(
            Kind::Changed,
            "another version was published while this update was made, so it was not published",
        )
        .file(space.path())
        .remedy("make it again, on what is current now"))
    }

    /// Says on the file whose turn it is, for the words of those who wait. A process that may not write it stays unnamed.
    fn sign(&self, pid: u32) {
        drop(self.lock.file.write_at(format!("{pid:>10}\n").as_bytes(), 0));
    }
}

fn lock_of(space: &Dir, name: &str) -> Result<ProcessFile> {
    open_lock_file(space, name).map(|(file, _)| ProcessFile::new(file))
}

fn busy(file: &File, limit: Duration) -> Error {
    let holder = match signature(file) {
        Some(pid) if pid == std::process::id() => "this process itself".into(),
        Some(pid) => format!("process {pid}"),
        None => "another process".into(),
    };
    let finding = format!("{holder} is updating the space, and did not finish within {limit:?}");
    Error::new(Kind::Busy, finding)
        .file(file.path())
        .remedy("try again or wait longer; if that process hangs or is stopped, its turn ends when it does")
}

/// The process that signed last.
fn signature(file: &File) -> Option<u32> {
    let mut bytes = [0; 10];
    file.read_at(&mut bytes, 0).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}
