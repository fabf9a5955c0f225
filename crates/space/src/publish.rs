//! Changing `current`: the one step that readers see.
//!
//! In order, so that a kill or a power cut between any two lines leaves the old version or the new one:
//!
//! 1. the files of the new version are complete, and durable: their bytes, their names, their directory's name;
//! 2. under the lock, `current` is renamed into place, the new version gets its number, and the generation is announced;
//! 3. the rename is made durable, and only then does anything old lose its name ([`sweep`]).
//!
//! With [`Durability::None`] the syncs are left out, and everything else stays.

use hammerspace_error::{Error, Result};
use hammerspace_os::{Dir, File, Map};
use hammerspace_sparkey::{IndexOptions, Log, build_index, update_index};

use crate::Durability;
use crate::census::Census;
use crate::layout::{CURRENT, IN_THE_MAKING, INDEX};
use crate::lock::Locked;
use crate::space::Home;
use crate::stamp;
use crate::sweep::sweep;
use crate::version::Version;
use crate::writer::Draft;

/// Publishes a finished log; gives the new version's number. `base` is the version that the log continues, if any.
pub(crate) fn publish(mut draft: Draft, log: &File, base: Option<&Version>) -> Result<u64> {
    let index = write_index(&draft.dir, log, base)?;
    if draft.home.options.durability == Durability::Full {
        log.sync()?;
        index.sync()?;
        draft.dir.sync()?;
        draft.home.dir.sync()?;
    }
    let change = change_current(&mut draft)?;
    let swept = sweep(&draft.home, |number| change.leaves_behind(number));
    change.stamped.and(swept).map_err(published_all_the_same)?;
    Ok(change.number)
}

fn write_index(dir: &Dir, log: &File, base: Option<&Version>) -> Result<File> {
    let name = |error: Error| error.file(log.path());
    let log = Log::open(Map::new(log)?).map_err(name)?;
    let options = IndexOptions::default();
    let image = match base {
        Some(base) => update_index(&log, base.table.index(), &options),
        None => build_index(&log, &options),
    };
    let file = dir.create_file(INDEX)?;
    file.write_at(&image.map_err(name)?, 0)?;
    Ok(file)
}

/// What happened to `current`.
struct Change {
    replaced: Option<u64>,
    number: u64,
    stamped: Result<()>,
}

impl Change {
    /// Whether a version was rolled back from, and is now left behind: newer than what we replaced, yet older than us.
    fn leaves_behind(&self, number: u64) -> bool {
        self.replaced.is_some_and(|replaced| replaced < number && number < self.number)
    }
}

fn change_current(draft: &mut Draft) -> Result<Change> {
    let Home { dir, options } = &*draft.home;
    let locked = Locked::exclusive(dir)?;
    let mut census = Census::take(dir, &locked)?;
    census.number_the_current(dir, &locked)?;
    let number = census.next_number(&locked);

    point_current_to(dir, &draft.uid)?;
    draft.published = true;
    let stamped = number_it(&draft.dir, number, options.durability);
    locked.announce(number);
    Ok(Change { replaced: census.current_number(), number, stamped })
}

fn number_it(version: &Dir, number: u64, durability: Durability) -> Result<()> {
    let stamp = stamp::write_number(version, number)?;
    if durability == Durability::Full { stamp.sync() } else { Ok(()) }
}

/// The atomic step. The caller holds the lock.
pub(crate) fn point_current_to(space: &Dir, uid: &str) -> Result<()> {
    let in_the_making = format!("{uid}{IN_THE_MAKING}");
    // One may be left behind by a process that died between the two lines below.
    space.unlink(&in_the_making)?;
    space.symlink(uid, &in_the_making)?;
    space.rename(&in_the_making, CURRENT)
}

/// Empties the space in one step and drops every version. Readers keep what they hold.
pub(crate) fn clear(home: &Home) -> Result<()> {
    let locked = Locked::exclusive(&home.dir)?;
    let mut census = Census::take(&home.dir, &locked)?;
    // Numbered, a version of the original gem is one that the sweep below knows.
    census.number_the_current(&home.dir, &locked)?;
    home.dir.unlink(CURRENT)?;
    locked.announce(census.next_number(&locked));
    drop(locked);
    sweep(home, |_| true)
}

fn published_all_the_same(error: Error) -> Error {
    error.remedy(
        "the new version is current all the same, but a power cut may still take it, or old files are left; \
         publish again once the cause is gone",
    )
}
