//! Removing what nobody can need any more: superseded versions, and what dead writers left.
//!
//! A directory to be removed first gets another name under the lock, so that it is gone from one moment to the next, and
//! loses its files afterwards, without the lock. It is the lock under which `current` was changed: what is doomed by that
//! change cannot become current in between.

use std::time::{Duration, SystemTime};

use hammerspace_error::Result;
use hammerspace_os::{Dir, process};

use crate::census::Census;
use crate::home::Home;
use crate::layout::{DEAD, IN_THE_MAKING, LOG, pid_of};
use crate::lock::Locked;
use crate::stamp::State;

/// How long ago the original gem must have last written to a directory before we take its dead writer's word for it: pids
/// mean nothing in another container, and an hour is longer than any load we know of.
const FOREIGN_AGE: Duration = Duration::from_hours(1);

/// Removes what is neither current nor kept, and all versions whose number is `doomed`. What cannot be removed stays for
/// the next sweep; the error is that of making the last change of `current` durable.
pub(crate) fn sweep(home: &Home, locked: Locked, doomed: impl Fn(u64) -> bool) -> Result<()> {
    let space = &home.dir;
    // Should the power fail, the version that `current` pointed to on disk must still have its name.
    home.sync()?;
    let mut census = Census::take(space, &locked)?;
    let useless = useless(&census, home.options.keep, doomed, space);
    for uid in useless {
        let dead = format!("{DEAD}{uid}");
        if space.rename(&uid, &dead).is_ok() {
            census.dead.push(dead);
        }
    }
    for link in &census.in_the_making {
        if leads_nowhere(space, link) {
            drop(space.unlink(link));
        }
    }
    drop(locked);
    for dead in &census.dead {
        drop(space.remove_dir(dead));
    }
    Ok(())
}

/// The names of the versions to be removed.
fn useless(census: &Census, keep: usize, doomed: impl Fn(u64) -> bool, space: &Dir) -> Vec<String> {
    let current = census.current_number().unwrap_or(0);
    let mut older: Vec<u64> = census.published().map(|(_, n)| n).filter(|n| *n < current && !doomed(*n)).collect();
    older.sort_unstable_by(|a, b| b.cmp(a));
    older.truncate(keep - 1);

    let is_useless = |(uid, state): &&(String, State)| match state {
        _ if census.current.as_ref() == Some(uid) => false,
        State::Writing | State::Unknown => false,
        State::Abandoned => true,
        // Newer than the current one: rolled back from, and there until the next publication.
        State::Published(number) => doomed(*number) || (*number < current && !older.contains(number)),
        State::Unstamped => is_long_dead(space, uid).unwrap_or(false),
    };
    census.versions.iter().filter(is_useless).map(|(uid, _)| uid.clone()).collect()
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
