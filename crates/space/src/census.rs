//! What lies in a space's directory, as seen under the exclusive lock.

use hammerspace_error::Result;
use hammerspace_os::{Dir, Entry, EntryKind};

use crate::layout::{CURRENT, DEAD, IN_THE_MAKING, pid_of, uid_of};
use crate::lock::Locked;
use crate::stamp::{self, State};

/// The versions and leftovers in a space's directory. Names that are neither are somebody else's and never touched.
pub(crate) struct Census {
    /// The version that `current` points to, be it there or not.
    pub(crate) current: Option<String>,
    /// Every version's name and state.
    pub(crate) versions: Vec<(String, State)>,
    /// Directories on their way out.
    pub(crate) dead: Vec<String>,
    /// Links that were to become `current`.
    pub(crate) in_the_making: Vec<String>,
}

impl Census {
    /// Looks at everything once. The lock is proof that nobody publishes meanwhile.
    pub(crate) fn take(space: &Dir, _locked: &Locked) -> Result<Self> {
        let current = space.read_link(CURRENT)?.as_deref().and_then(uid_of).map(str::to_owned);
        let mut census = Self { current, versions: Vec::new(), dead: Vec::new(), in_the_making: Vec::new() };
        for entry in space.entries()? {
            census.note(space, entry)?;
        }
        Ok(census)
    }

    fn note(&mut self, space: &Dir, Entry { name, kind }: Entry) -> Result<()> {
        match kind {
            EntryKind::Dir if name.starts_with(DEAD) => self.dead.push(name),
            EntryKind::Dir if pid_of(&name).is_some() || self.current.as_ref() == Some(&name) => {
                if let Some(dir) = space.open_dir(&name)? {
                    self.versions.push((name, stamp::state(&dir)?));
                }
            }
            EntryKind::Symlink if name.ends_with(IN_THE_MAKING) => self.in_the_making.push(name),
            _ => {}
        }
        Ok(())
    }

    /// The current version's number, if it has one.
    pub(crate) fn current_number(&self) -> Option<u64> {
        self.published().find_map(|(uid, number)| (Some(uid) == self.current.as_deref()).then_some(number))
    }

    /// The published versions and their numbers.
    pub(crate) fn published(&self) -> impl Iterator<Item = (&str, u64)> {
        self.versions.iter().filter_map(|(uid, state)| match state {
            State::Published(number) => Some((uid.as_str(), *number)),
            _ => None,
        })
    }

    /// The next number: above every version here, and every change that was ever announced.
    pub(crate) fn next_number(&self, locked: &Locked) -> u64 {
        let highest = self.published().map(|(_, number)| number).max().unwrap_or(0);
        highest.max(locked.generation()) + 1
    }

    /// Gives the current version a number where it has none: the original gem published it, or its writer died right after
    /// changing `current`. From here on it is a version like any other. One we may not write to stays as it is.
    pub(crate) fn number_the_current(&mut self, space: &Dir, locked: &Locked) -> Result<()> {
        let number = self.next_number(locked);
        let Some(uid) = &self.current else { return Ok(()) };
        let Some((_, state)) = self.versions.iter_mut().find(|(name, _)| name == uid) else { return Ok(()) };
        if matches!(state, State::Published(_)) {
            return Ok(());
        }
        if let Some(dir) = space.open_dir(uid)?
            && stamp::write_number(&dir, number).is_ok()
        {
            *state = State::Published(number);
        }
        Ok(())
    }
}
