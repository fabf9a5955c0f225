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

use crate::dir_scan::DirScan;
use crate::draft::{Draft, WRITE_AGAIN};
use crate::layout::{CURRENT, IN_THE_MAKING, INDEX};
use crate::lock::Locked;
use crate::space_dir::SpaceDir;
use crate::stamp;
use crate::sweep::sweep;
use crate::turn::Turn;
use crate::version::Version;

/// Publishes a finished log; gives the new version's number. `base` is the version that the log continues, if
/// any. In `turn` it replaces no version but the one that the update started from.
pub(crate) fn publish(draft: &mut Draft, log: &File, base: Option<&Version>, turn: Option<&Turn>) -> Result<u64> {
    let index = index(draft, log, base)?;
    if draft.space_dir.is_durable() {
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
    draft.space_dir.dir.sync()
}

fn index(draft: &Draft, log: &File, base: Option<&Version>) -> Result<File> {
    let opened = Log::open(Map::new(log)?).map_err(|error| error.file(log.path()))?.named(log.path());
    // One may be left by an attempt that failed.
    draft.dir.unlink(INDEX)?;
    let (mut file, options) = (draft.dir.create_file(INDEX)?, IndexOptions::default());
    if let Some(base) = base {
        file.write_at(&update_index(&opened, base.table.index(), &options)?, 0)?;
    } else {
        let effort = &draft.space_dir.options.effort;
        let written = write_index(&opened, &options, effort, &mut file, || draft.dir.scratch());
        written.map_err(|error| error.file(file.path()))?;
    }
    Ok(file)
}

/// Makes a draft whose files are durable the current version.
pub(crate) fn change_current(draft: &mut Draft, turn: Option<&Turn>) -> Result<u64> {
    let space_dir = Arc::clone(&draft.space_dir);
    let locked = Locked::exclusive(&space_dir.dir)?;
    let mut scan = DirScan::take(&space_dir.dir, &locked)?;
    turn.map_or(Ok(()), |turn| turn.check(scan.current.as_deref(), &space_dir.dir))?;
    scan.number_the_current(&space_dir, &locked)?;
    let number = scan.next_number(&space_dir, &locked)?;
    // What lies between was rolled back from, and is now left behind: newer than what we replace, yet older than us.
    let replaced = replaced(&scan).unwrap_or(number);

    point_current_to(&space_dir.dir, &draft.uid)?;
    draft.published = true;
    let stamp = stamp::write_number(&draft.dir, number, scan.published());
    locked.announce(number);
    scan.published_now(&draft.uid, number);
    let swept = sweep(&space_dir, locked, scan, |other| replaced < other && other < number);
    let stamped = stamp.and_then(|stamp| space_dir.sync_file(&stamp));
    swept.and(stamped).map_err(published_all_the_same)?;
    Ok(number)
}

/// The number of the version to be replaced: 0 in a space that was cleared, and so has no history, though whoever cleared it
/// may have died before removing it all. `None` where it cannot be told.
fn replaced(scan: &DirScan) -> Option<u64> {
    if scan.current.is_some() { scan.current_number() } else { Some(0) }
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
pub(crate) fn clear(space_dir: &SpaceDir) -> Result<()> {
    let locked = Locked::exclusive(&space_dir.dir)?;
    let mut scan = DirScan::take(&space_dir.dir, &locked)?;
    // Numbered, a version of the original gem is one that the sweep below knows.
    scan.number_the_current(space_dir, &locked)?;
    let generation = scan.next_number(space_dir, &locked)?;
    space_dir.dir.unlink(CURRENT)?;
    locked.announce(generation);
    scan.current = None;
    sweep(space_dir, locked, scan, |_| true)
}

fn published_all_the_same(error: Error) -> Error {
    error.remedy(
        "the new version is current all the same, but a power cut may still take it, or old files are left; \
         publish again once the cause is gone",
    )
}
