//! What lies in a space's directory, as seen under the exclusive lock.

use std::collections::HashMap;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, Entry, EntryKind};

use crate::layout::{IN_THE_MAKING, is_dead, pid_of, uid_of};
use crate::lock::Locked;
use crate::recognize;
use crate::space_dir::SpaceDir;
use crate::stamp::{self, State};

/// The versions and leftovers in a space's directory. Names that are neither are somebody else's and never touched.
pub(crate) struct DirScan {
    /// The version that `current` points to, be it there or not.
    pub(crate) current: Option<String>,
    /// Every version's name and state.
    pub(crate) versions: Vec<(String, State)>,
    /// Directories on their way out.
    pub(crate) dead: Vec<String>,
    /// Links that were to become `current`.
    pub(crate) in_the_making: Vec<String>,
}

impl DirScan {
    /// Looks at everything once. The lock is proof that nobody publishes meanwhile.
    pub(crate) fn take(space: &Dir, _locked: &Locked) -> Result<Self> {
        let current = recognize::current(space)?.as_deref().and_then(uid_of).map(str::to_owned);
        let known = current.as_deref().map(|uid| stamp::beside(space, uid)).unwrap_or_default();
        let mut scan = Self { current, versions: Vec::new(), dead: Vec::new(), in_the_making: Vec::new() };
        for entry in space.entries()? {
            scan.note(space, entry, &known)?;
        }
        Ok(scan)
    }

    /// Of versions that the current one's stamp names nothing is opened: else publishing would cost more for
    /// each that is kept.
    fn note(&mut self, space: &Dir, Entry { name, kind }: Entry, known: &HashMap<String, u64>) -> Result<()> {
        match kind {
            EntryKind::Dir if is_dead(&name) => self.dead.push(name),
            EntryKind::Dir if pid_of(&name).is_some() || self.current.as_ref() == Some(&name) => {
                let state = match known.get(&name) {
                    Some(number) => State::Published(*number),
                    None => stamp::state(space, &name)?,
                };
                self.versions.push((name, state));
            }
            EntryKind::Symlink if name.ends_with(IN_THE_MAKING) => self.in_the_making.push(name),
            _ => {}
        }
        Ok(())
    }

    /// Notes that `uid` has become current, under this number.
    pub(crate) fn published_now(&mut self, uid: &str, number: u64) {
        self.versions.retain(|(name, _)| name != uid);
        self.versions.push((uid.to_owned(), State::Published(number)));
        self.current = Some(uid.to_owned());
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
    pub(crate) fn next_number(&self, space_dir: &SpaceDir, locked: &Locked) -> Result<u64> {
        let highest = self.published().map(|(_, number)| number).max().unwrap_or(0);
        highest.max(locked.generation()).checked_add(1).ok_or_else(|| {
            Error::new(Kind::Corrupt, "a version or the lock file bears the largest number there is")
                .file(space_dir.dir.path())
                .remedy("no space gets there by publishing: load the data into a new one")
        })
    }

    /// Gives the current version a number where it has none: the original gem published it, or its writer died right after
    /// changing `current`. From here on it is a version like any other. One we may not write to stays as it is.
    pub(crate) fn number_the_current(&mut self, space_dir: &SpaceDir, locked: &Locked) -> Result<()> {
        let number = self.next_number(space_dir, locked)?;
        let Some(uid) = &self.current else { return Ok(()) };
        let Some((_, state)) = self.versions.iter_mut().find(|(name, _)| name == uid) else { return Ok(()) };
        if matches!(state, State::Published(_)) {
            return Ok(());
        }
        let Some(dir) = space_dir.dir.open_dir(uid)? else { return Ok(()) };
        if let Ok(stamp) = stamp::write_number(&dir, number, std::iter::empty()) {
            *state = State::Published(number);
            space_dir.sync_file(&stamp)?;
        }
        Ok(())
    }
}
