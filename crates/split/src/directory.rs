//! The directory that runs write to, and what of it nobody else looks at.
//!
//! ```text
//! DIR/2011-06-20.csv                 visible, complete
//! DIR/.hammerspace/lock              locked while names change
//! DIR/.hammerspace/commit            the journal of a run that is giving its files their names
//! DIR/.hammerspace/runs/ID           a run that is done, by the name it was given
//! DIR/.hammerspace/run-HEX/owner     locked as long as the run goes on
//! DIR/.hammerspace/run-HEX/NAME.EXT  its files
//! ```

use std::io::Read;
use std::path::Path;

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::{Dir, EntryKind, ProcessFile};

use crate::journal::Journal;

/// Beside the files, and hidden like this.
pub(crate) const STATE: &str = ".hammerspace";
const LOCK: &str = "lock";
const COMMIT: &str = "commit";
const RUNS: &str = "runs";
const OWNER: &str = "owner";
const RUN: &str = "run-";

/// An open directory of files by value.
pub(crate) struct Directory {
    pub(crate) dir: Dir,
    state: Dir,
    runs: Dir,
}

/// The lock of the directory, as long as it is held.
pub(crate) struct Locked<'a> {
    directory: &'a Directory,
    _lock: ProcessFile,
}

/// A run's files, and the lock that says that it goes on.
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) dir: Dir,
    _owner: ProcessFile,
}

impl Directory {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let dir = Dir::create(path)?;
        let state = subdirectory(&dir, STATE)?;
        let runs = subdirectory(&state, RUNS)?;
        Ok(Self { dir, state, runs })
    }

    /// Waits for the lock, and finishes what a run that died has begun.
    pub(crate) fn lock(&self) -> Result<Locked<'_>> {
        let file = match self.state.open_file_to_write(LOCK)? {
            Some(file) => file,
            None => match self.state.create_file(LOCK) {
                Ok(file) => file,
                // Somebody else was quicker.
                Err(error) => self.state.open_file_to_write(LOCK)?.ok_or(error)?,
            },
        };
        let mut lock = ProcessFile::new(file);
        lock.lock()?;
        let locked = Locked { directory: self, _lock: lock };
        if let Some(mut file) = self.state.open_file(COMMIT)? {
            let mut text = String::new();
            file.read_to_string(&mut text).doing("read the journal").map_err(|error| error.file(file.path()))?;
            let journal = Journal::parse(&text).map_err(|error| error.file(file.path()))?;
            locked.carry_out(&journal)?;
        }
        Ok(locked)
    }

    /// The files of a run, opened once more.
    pub(crate) fn open_stage(&self, stage: &Stage) -> Result<Dir> {
        let gone =
            || Error::new(Kind::Missing, "somebody removed the files of a run that goes on").file(stage.dir.path());
        self.state.open_dir(&stage.name)?.ok_or_else(gone)
    }

    /// Where a staged file is, seen from the directory.
    pub(crate) fn staged(stage: &str, name: &str) -> String {
        format!("{STATE}/{stage}/{name}")
    }
}

impl Locked<'_> {
    /// Makes room for a run, and removes what runs that died have left.
    pub(crate) fn stage(&self) -> Result<Stage> {
        let state = &self.directory.state;
        for entry in state.entries()? {
            if entry.kind == EntryKind::Dir && entry.name.starts_with(RUN) && self.is_left(&entry.name)? {
                state.remove_dir(&entry.name)?;
            }
        }
        let drawn = getrandom::u64().map_err(std::io::Error::from).doing("draw a name")?;
        let name = format!("{RUN}{drawn:016x}");
        let dir = state.create_dir(&name)?;
        let mut owner = ProcessFile::new(dir.create_file(OWNER)?);
        owner.lock()?;
        Ok(Stage { name, dir, _owner: owner })
    }

    /// Whether nobody goes on with a run. One that begins does so under the lock.
    fn is_left(&self, run: &str) -> Result<bool> {
        let Some(dir) = self.directory.state.open_dir(run)? else { return Ok(false) };
        match dir.open_file_to_write(OWNER)? {
            Some(owner) => ProcessFile::new(owner).try_lock(),
            None => Ok(true),
        }
    }

    /// Removes the files of a run.
    pub(crate) fn abandon(&self, stage: Stage) -> Result<()> {
        let name = stage.name.clone();
        drop(stage);
        self.directory.state.remove_dir(&name)
    }

    /// Whether a run of this name is done.
    pub(crate) fn is_done(&self, id: &str) -> Result<bool> {
        Ok(self.directory.runs.open_file(id)?.is_some())
    }

    /// Gives all files of a run their names, or none.
    pub(crate) fn commit(&self, journal: &Journal) -> Result<()> {
        const NEW: &str = "commit.new";
        let state = &self.directory.state;
        state.unlink(NEW)?;
        let file = state.create_file(NEW)?;
        file.write_at(journal.text().as_bytes(), 0)?;
        file.sync()?;
        state.rename(NEW, COMMIT)?;
        state.sync()?;
        self.carry_out(journal)
    }

    /// Does what a journal says, as far as it is not done.
    fn carry_out(&self, journal: &Journal) -> Result<()> {
        let Directory { dir, state, runs } = self.directory;
        for name in &journal.names {
            let staged = Directory::staged(&journal.stage, name);
            match dir.rename(&staged, name) {
                // It was renamed before the run died.
                Err(error) if error.kind() == Kind::Missing => {}
                renamed => renamed?,
            }
        }
        dir.sync()?;
        if let Some(id) = &journal.id
            && runs.open_file(id)?.is_none()
        {
            runs.create_file(id)?;
            runs.sync()?;
        }
        state.unlink(COMMIT)?;
        state.sync()?;
        state.remove_dir(&journal.stage)
    }
}

fn subdirectory(dir: &Dir, name: &str) -> Result<Dir> {
    if let Some(found) = dir.open_dir(name)? {
        return Ok(found);
    }
    match dir.create_dir(name) {
        Ok(made) => {
            dir.sync()?;
            Ok(made)
        }
        // Somebody else was quicker.
        Err(error) => dir.open_dir(name)?.ok_or(error),
    }
}

/// What keeps names that a run brings from being given.
#[cold]
pub(crate) fn in_the_way(dir: &Dir, name: &str) -> Error {
    Error::new(Kind::Invalid, "this file exists, and nothing says what is to become of it")
        .file(dir.path().join(name))
        .remedy("give --on-existing merge to keep what is in it, or --on-existing replace")
}
