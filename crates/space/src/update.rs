//! Updates: changes that depend on what is there, made one after the other so that none is lost.
//!
//! ```text
//! wait for the turn ──▶ start from `current` ──▶ change ──▶ publish, if `current` is still the same ──▶ end the turn
//!                                ▲                                           │ else
//!                                └───────────────────────────────────────────┘
//! ```

use std::time::Duration;

use hammerspace_error::{Error, Kind, Result};

use crate::Space;
use crate::turn::Turn;
use crate::writer::Writer;

/// How often an update runs, where others publish each time.
const RUNS: usize = 100;

/// What an update came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated<T> {
    /// What the closure gave when it ran last.
    pub result: T,
    /// The number of the version that the update published, or else found. `None` for an empty space, and for a version of the
    /// original gem.
    pub version: Option<u64>,
    /// Whether it published one.
    pub is_published: bool,
}

impl Space {
    /// Changes the space by what `change` writes, in turn: an update waits for those before it, in any thread or process, and
    /// none loses what another wrote. Where `change` writes nothing, or fails, nothing is published.
    ///
    /// A writer that does not queue ([`replace`](Self::replace), [`writer`](Self::writer), a rollback) may publish meanwhile. Then
    /// `change` runs again, on what was published; so it must be repeatable.
    ///
    /// Fails with [`Busy`](Kind::Busy) where its turn does not come [in time](crate::Options::update_timeout), one minute by
    /// default; with [`Changed`](Kind::Changed) where others published each of the hundred times that it ran.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// let updated = space.update(|writer| {
    ///     let visits = writer.get("visits")?.unwrap_or_default();
    ///     writer.put("visits", [&visits[..], b"|"].concat())
    /// })?;
    /// assert_eq!(updated.version, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update<T>(&self, mut change: impl FnMut(&mut Writer) -> Result<T>) -> Result<Updated<T>> {
        let mut writer = self.updater()?;
        for run in 1.. {
            let result = change(&mut writer)?;
            if !writer.is_changed() {
                return Ok(Updated { result, version: writer.base_number(), is_published: false });
            }
            writer = match writer.try_publish() {
                Ok(number) => return Ok(Updated { result, version: Some(number), is_published: true }),
                Err(failed) if run < RUNS => outrun(failed.error, failed.writer)?,
                Err(failed) => return Err(failed.error),
            };
        }
        unreachable!("the last run returns")
    }

    /// A writer for what [`update`](Self::update) does with a closure: it waits for its turn, which ends when it has published or
    /// is dropped. Publishing fails with [`Changed`](Kind::Changed) where a writer that does not queue has published meanwhile.
    ///
    /// ```
    /// # use hammerspace_space::{Kind, Space};
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = Space::create(scratch.path())?;
    /// let mut writer = space.updater()?;
    /// writer.put("color", "red")?;
    /// space.replace()?.publish()?;
    /// assert_eq!(writer.publish().unwrap_err().kind(), Kind::Changed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn updater(&self) -> Result<Writer> {
        self.updater_within(self.options().update_timeout)
    }

    /// The same, and waits no longer than `limit`.
    pub fn updater_within(&self, limit: Duration) -> Result<Writer> {
        loop {
            let space_dir = self.space_dir()?;
            let turn = Turn::wait(&space_dir, limit)?;
            // After a long wait the path may lead elsewhere.
            if space_dir.is_in_place() {
                return Self::begin_in(&space_dir, |space_dir| Writer::in_turn(space_dir, turn));
            }
        }
    }
}

/// A writer whose publication failed, ready to run again if that was because another one was published.
fn outrun(error: Error, writer: Option<Writer>) -> Result<Writer> {
    match writer {
        Some(mut writer) if error.kind() == Kind::Changed => writer.restart().map(|()| writer),
        _ => Err(error),
    }
}
