//! Removing what nobody can need any more: superseded versions, and what dead writers left.
//!
//! A directory to be removed first gets another name under the lock, so that it is gone from one moment to the next, and
//! loses its files afterwards, without the lock. It is the lock under which `current` was changed: what is doomed by that
//! change cannot become current in between.

use std::time::{Duration, SystemTime};

use hammerspace_error::Result;
use hammerspace_os::{Dir, EntryKind, process};

use crate::dir_scan::DirScan;
use crate::layout::{DEAD, IN_THE_MAKING, LOG, pid_of};
use crate::lock::Locked;
use crate::space_dir::SpaceDir;
use crate::stamp::State;

/// How long ago the original gem must have last written to a directory before we take its dead writer's word for it: pids
/// mean nothing in another container, and an hour is longer than any load we know of.
const FOREIGN_AGE: Duration = Duration::from_hours(1);

/// Removes what is neither current nor kept, and all versions whose number is `doomed`. What cannot be removed stays for
/// the next sweep; the error is that of making the last change of `current` durable.
pub(crate) fn sweep(space_dir: &SpaceDir, locked: Locked, scan: DirScan, doomed: impl Fn(u64) -> bool) -> Result<()> {
    let dead = mark_dead(space_dir, &locked, scan, doomed)?;
    drop(locked);
    for dead in &dead {
        drop(space_dir.dir.remove_dir(dead));
    }
    Ok(())
}

/// What a collection removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Versions and what writers left of some, dead before they published.
    pub directories: u64,
    /// Bytes of their files.
    pub bytes: u64,
}

/// Sweeps without a publication, and says what that came to.
pub(crate) fn gc(space_dir: &SpaceDir) -> Result<Collected> {
    let locked = Locked::exclusive(&space_dir.dir)?;
    let mut scan = DirScan::take(&space_dir.dir, &locked)?;
    scan.number_the_current(space_dir, &locked)?;
    let dead = mark_dead(space_dir, &locked, scan, |_| false)?;
    drop(locked);
    let mut collected = Collected::default();
    for dead in &dead {
        let bytes = size(&space_dir.dir, dead).unwrap_or(0);
        space_dir.dir.remove_dir(dead)?;
        collected.directories += 1;
        collected.bytes += bytes;
    }
    Ok(collected)
}

/// Gives what is to be removed the names of the dead, and the names back; removes links that lead nowhere.
fn mark_dead(
    space_dir: &SpaceDir,
    _locked: &Locked,
    scan: DirScan,
    doomed: impl Fn(u64) -> bool,
) -> Result<Vec<String>> {
    let space = &space_dir.dir;
    // Should the power fail, the version that `current` pointed to on disk must still have its name.
    space_dir.sync()?;
    let useless = useless(&scan, space_dir.options.keep, doomed, space);
    let mut dead = scan.dead;
    for uid in useless {
        let name = format!("{DEAD}{uid}");
        if space.rename(&uid, &name).is_ok() {
            dead.push(name);
        }
    }
    for link in &scan.in_the_making {
        if leads_nowhere(space, link) {
            drop(space.unlink(link));
        }
    }
    Ok(dead)
}

/// Bytes of the files in a directory.
fn size(space: &Dir, name: &str) -> Result<u64> {
    let Some(dir) = space.open_dir(name)? else { return Ok(0) };
    let mut bytes = 0;
    for entry in dir.entries()? {
        if entry.kind == EntryKind::File {
            bytes += dir.open_file(&entry.name)?.map_or(Ok(0), |file| file.len())?;
        }
    }
    Ok(bytes)
}

/// The names of the versions to be removed.
fn useless(scan: &DirScan, keep: usize, doomed: impl Fn(u64) -> bool, space: &Dir) -> Vec<String> {
    let current = scan.current_number().unwrap_or(0);
    let mut older: Vec<u64> = scan.published().map(|(_, n)| n).filter(|n| *n < current && !doomed(*n)).collect();
    older.sort_unstable_by(|a, b| b.cmp(a));
    older.truncate(keep - 1);

    let is_useless = |(uid, state): &&(String, State)| match state {
        _ if scan.current.as_ref() == Some(uid) => false,
        State::Writing | State::Unknown => false,
        State::Abandoned => true,
        // Newer than the current one: rolled back from, and there until the next publication.
        State::Published(number) => doomed(*number) || (*number < current && !older.contains(number)),
        State::Unstamped => is_long_dead(space, uid).unwrap_or(false),
    };
    scan.versions.iter().filter(is_useless).map(|(uid, _)| uid.clone()).collect()
}

/// Whether the original gem's writer of this directory is gone for good.
fn is_long_dead(space: &Dir, uid: &str) -> Result<bool> {
    let (Some(pid), Some(dir)) = (pid_of(uid), space.open_dir(uid)?) else { return Ok(false) };
    let mut modified = dir.modified()?;
    if let Some(log) = dir.open_file(LOG)? {
        modified = modified.max(log.modified()?);
    }
    // A time in the future counts as now.
    let age = SystemTime::now().duration_since(modified).unwrap_or_default();
    Ok(age > FOREIGN_AGE && !process::is_alive(pid))
}

/// Whether the version that a link in the making was made for is not there any more.
fn leads_nowhere(space: &Dir, link: &str) -> bool {
    let uid = link.trim_end_matches(IN_THE_MAKING);
    pid_of(uid).is_some() && matches!(space.open_dir(uid), Ok(None))
}
