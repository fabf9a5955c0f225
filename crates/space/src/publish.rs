//! Changing `current`: the one step that readers see.
//!
//! In order, so that a kill or a power cut between any two lines leaves the old version or the new one:
//!
//! 1. the files of the new version are complete, and durable: their bytes, their names, their directory's name;
//! 2. under the lock, `current` is renamed into place, the new version gets its number, and the generation is announced;
//! 3. still under it, the rename is made durable, and only then does anything old lose its name ([`sweep`]);
//! 4. the number is made durable.
//!
//! With [`Durability::None`](crate::Durability::None) the syncs are left out, and everything else stays.

use std::sync::Arc;

use hammerspace_error::{Error, Result};
use hammerspace_os::{Dir, File, Map};
use hammerspace_sparkey::{IndexOptions, Log, update_index, write_index};

use crate::census::Census;
use crate::draft::{Draft, WRITE_AGAIN};
use crate::home::Home;
use crate::layout::{CURRENT, IN_THE_MAKING, INDEX};
use crate::lock::Locked;
use crate::stamp;
use crate::sweep::sweep;
use crate::turn::Turn;
use crate::version::Version;

/// Publishes a finished log; gives the new version's number. `base` is the version that the log continues, if
/// any. In `turn` it replaces no version but the one that the update started from.
pub(crate) fn publish(draft: &mut Draft, log: &File, base: Option<&Version>, turn: Option<&Turn>) -> Result<u64> {
    let index = index(draft, log, base)?;
    if draft.home.is_durable() {
        sync(draft, log, &index).map_err(|error| {
            draft.lost = true;
            error.remedy(WRITE_AGAIN)
        })?;
    }
    change_current(draft, turn)
}

fn sync(draft: &Draft, log: &File, index: &File) -> Result<()> {
    log.sync()?;
    index.sync()?;
    draft.dir.sync()?;
    draft.home.dir.sync()
}

fn index(draft: &Draft, log: &File, base: Option<&Version>) -> Result<File> {
    let opened = Log::open(Map::new(log)?).map_err(|error| error.file(log.path()))?.named(log.path());
    // One may be left by an attempt that failed.
    draft.dir.unlink(INDEX)?;
    let (mut file, options) = (draft.dir.create_file(INDEX)?, IndexOptions::default());
    if let Some(base) = base {
        file.write_at(&update_index(&opened, base.table.index(), &options)?, 0)?;
    } else {
        let effort = &draft.home.options.effort;
        let written = write_index(&opened, &options, effort, &mut file, || draft.dir.scratch());
        written.map_err(|error| error.file(file.path()))?;
    }
    Ok(file)
}

fn change_current(draft: &mut Draft, turn: Option<&Turn>) -> Result<u64> {
    let home = Arc::clone(&draft.home);
    let locked = Locked::exclusive(&home.dir)?;
    let mut census = Census::take(&home.dir, &locked)?;
    turn.map_or(Ok(()), |turn| turn.check(census.current.as_deref(), &home.dir))?;
    census.number_the_current(&home, &locked)?;
    let number = census.next_number(&home, &locked)?;
    // What lies between was rolled back from, and is now left behind: newer than what we replace, yet older than us.
    let replaced = replaced(&census).unwrap_or(number);

    point_current_to(&home.dir, &draft.uid)?;
    draft.published = true;
    let stamp = stamp::write_number(&draft.dir, number, census.published());
    locked.announce(number);
    census.published_now(&draft.uid, number);
    let swept = sweep(&home, locked, census, |other| replaced < other && other < number);
    let stamped = stamp.and_then(|stamp| home.sync_file(&stamp));
    swept.and(stamped).map_err(published_all_the_same)?;
    Ok(number)
}

/// The number of the version to be replaced: 0 in a space that was cleared, and so has no history, though whoever cleared it
/// may have died before removing it all. `None` where it cannot be told.
fn replaced(census: &Census) -> Option<u64> {
    if census.current.is_some() { census.current_number() } else { Some(0) }
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
    census.number_the_current(home, &locked)?;
    let generation = census.next_number(home, &locked)?;
    home.dir.unlink(CURRENT)?;
    locked.announce(generation);
    census.current = None;
    sweep(home, locked, census, |_| true)
}

fn published_all_the_same(error: Error) -> Error {
    error.remedy(
        "the new version is current all the same, but a power cut may still take it, or old files are left; \
         publish again once the cause is gone",
    )
}
