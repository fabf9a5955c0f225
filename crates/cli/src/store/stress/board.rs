//! What was done to each key, in memory that outlives whoever did it: so a change that was acknowledged and lost with its owner is noticed,
//! also where no reader had seen it.
//!
//! ```text
//! | begun, done, seen | begun, done, seen | …     three words for each key of each table: numbers of its changes, which begin at 1
//! ```
//!
//! Each key has one writer, which says that it begins a change, makes it, and says that it is done. So a value must be that after some
//! change from the one that was done, or that any reader had seen, when the read began, to the one that was begun when it ended
//! (Lamport, "On interprocess communication", 1986: an atomic register is a regular one without new-old inversion).

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use hammerspace::store::{Table, Value};
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Access, Dir, File, Shared};

use super::values;

const WORDS: usize = 3;
const NAME: &str = "board";

/// A mapping of a file that all processes share.
pub(super) struct Board {
    words: Shared,
    keys: u64,
}

impl Board {
    /// Makes one in a directory, for so many keys of each table.
    pub(super) fn create(dir: &Path, tables: usize, keys: u64) -> Result<Self> {
        let file = Dir::open(dir)?.create_file(NAME)?;
        file.truncate(tables as u64 * keys * (WORDS * size_of::<AtomicU64>()) as u64)?;
        Self::map(&file, keys)
    }

    /// One that was made.
    pub(super) fn open(dir: &Path, keys: u64) -> Result<Self> {
        Self::map(&File::open_to_write(dir.join(NAME))?, keys)
    }

    fn map(file: &File, keys: u64) -> Result<Self> {
        Ok(Self { words: Shared::map(file, file.len()?, Access::Write)?, keys })
    }

    /// Keys of each table.
    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    fn of(&self, (table, key): (usize, u64)) -> &[AtomicU64; WORDS] {
        let first = (table as u64 * self.keys + key) as usize * WORDS;
        self.words[first..].first_chunk().expect("there are words for each key")
    }

    /// Has the next change made of the key at a place.
    pub(super) fn change(&self, place: (usize, u64), make: impl FnOnce(u64) -> Result<()>) -> Result<()> {
        let [begun, done, _] = self.of(place);
        let next = done.load(Acquire) + 1;
        begun.store(next, Release);
        make(next)?;
        done.store(next, Release);
        Ok(())
    }

    /// Looks at the value of the key at a place of this table. Gives a change after which it is like that.
    pub(super) fn look(&self, place: (usize, u64), table: &Table) -> Result<u64> {
        let [begun, done, seen] = self.of(place);
        let first = done.load(Acquire).max(seen.load(Acquire));
        let value = table.get(values::key(place.1))?;
        let last = begun.load(Acquire);
        let is_it = |change: &u64| values::after(place.1, *change).as_deref() == value.as_deref();
        // Of several the first: a later one may not have been made.
        let now = (first..=last).find(is_it).ok_or_else(|| wrong(place.1, table, value.as_ref(), first, last))?;
        seen.fetch_max(now, AcqRel);
        Ok(now)
    }

    /// The same once its writer is dead, of whose last change nobody knows whether it was made. Now somebody does.
    pub(super) fn settle(&self, place: (usize, u64), table: &Table) -> Result<()> {
        let now = self.look(place, table)?;
        let [begun, done, _] = self.of(place);
        begun.store(now, Release);
        done.store(now, Release);
        Ok(())
    }
}

fn wrong(key: u64, table: &Table, value: Option<&Value>, first: u64, last: u64) -> Error {
    let found = value.map_or_else(|| "is not there".into(), |value| format!("has these {} bytes", value.len()));
    let finding = format!("key {key} of table {} {found} after none of its changes {first} to {last}", table.name());
    Error::new(Kind::Corrupt, finding)
}
