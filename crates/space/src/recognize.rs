//! What a directory holds: a space, nothing yet, or something else, in which a space would be out of place.

use std::ffi::OsString;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, EntryKind};

use crate::layout::{CURRENT, LOCK, is_dead, pid_of};

/// What every store's directory has (`hammerspace_memory`'s description of it).
const STORE: &str = "store.toml";

/// Where `current` points; `None` where it is not there.
pub(crate) fn current(space: &Dir) -> Result<Option<OsString>> {
    space.read_link(CURRENT).map_err(|error| match error.kind() {
        Kind::Corrupt => Error::new(
            Kind::Corrupt,
            "`current` is not a link, as it is after a copy that followed links",
        )
        .file(space.path().join(CURRENT))
        .remedy(
            "copy the space again by `cp -a` or `rsync -a`; or move the name current away, and load the space again",
        ),
        _ => error,
    })
}

/// Refuses a directory that holds something, but no space.
pub(crate) fn check_to_read(dir: &Dir) -> Result<()> {
    if has_signs(dir) {
        return Ok(());
    }
    let entries = dir.entries()?;
    let is_ours = |name: &str| pid_of(name).is_some() || is_dead(name);
    let Some(other) = entries.first() else { return Ok(()) };
    if entries.iter().any(|entry| entry.kind == EntryKind::Dir && is_ours(&entry.name)) {
        return Ok(());
    }
    check_to_make(dir)?;
    let finding = format!("this directory holds no space, but other things, such as {:?}", other.name);
    Err(Error::new(Kind::Invalid, finding).file(dir.path()).remedy("check the path"))
}

/// Refuses a store's directory.
pub(crate) fn check_to_make(dir: &Dir) -> Result<()> {
    if has_signs(dir) || matches!(dir.open_file(STORE), Ok(None)) {
        return Ok(());
    }
    let finding = "this directory holds a store, and no space";
    Err(Error::new(Kind::Invalid, finding).file(dir.path()).remedy("open it as a store, or choose another directory"))
}

/// Whether there are names that only a space has. What they stand for is looked at when they are used.
fn has_signs(dir: &Dir) -> bool {
    !matches!(dir.read_link(CURRENT), Ok(None)) || !matches!(dir.open_file(LOCK), Ok(None))
}
