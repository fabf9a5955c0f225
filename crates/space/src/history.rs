//! The versions on disk: listing them, and going back to one.

use std::time::SystemTime;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, EntryKind, File, Paging};
use hammerspace_sparkey::IndexHeader;

use crate::dir_scan::DirScan;
use crate::layout::{CURRENT, DEAD, INDEX, LOG, STAMP, new_uid, pid_of, uid_of};
use crate::lock::Locked;
use crate::publish::point_current_to;
use crate::space_dir::SpaceDir;
use crate::stamp;
use crate::version::Version;

/// One version on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    /// Rises with each publication; `None` for a version of the original gem.
    pub number: Option<u64>,
    /// The name of its directory.
    pub uid: String,
    /// Whether it is the one that readers open.
    pub is_current: bool,
    /// Keys in it; `None` where the index is damaged.
    pub entries: Option<u64>,
    /// Length of log and index together.
    pub bytes: u64,
    /// When it was published.
    pub published: SystemTime,
}

/// The published versions, newest first. Takes no lock; what disappears meanwhile is left out.
pub(crate) fn list(space: &Dir) -> Result<Vec<VersionInfo>> {
    let current = space.read_link(CURRENT)?;
    let current = current.as_deref().and_then(uid_of);
    let mut versions = Vec::new();
    for entry in space.entries()? {
        let is_current = Some(entry.name.as_str()) == current;
        if entry.kind == EntryKind::Dir && (is_current || pid_of(&entry.name).is_some()) {
            versions.extend(look_at(space, entry.name, is_current)?);
        }
    }
    // Without a number there is none but the current one.
    versions.sort_by_key(|version| std::cmp::Reverse(version.number.unwrap_or(u64::MAX)));
    Ok(versions)
}

/// `None` where the directory is not a published version.
fn look_at(space: &Dir, uid: String, is_current: bool) -> Result<Option<VersionInfo>> {
    let Ok(Some(dir)) = space.open_dir(&uid) else { return Ok(None) };
    // What cannot be read of one version is no reason not to list the others.
    let open = |name| dir.open_file(name).unwrap_or_default();
    let stamp = open(STAMP);
    let number = stamp.as_ref().and_then(|stamp| stamp::read(stamp).unwrap_or_default());
    let (Some(log), Some(index)) = (open(LOG), open(INDEX)) else { return Ok(None) };
    if number.is_none() && !is_current {
        return Ok(None);
    }
    let published = stamp.as_ref().unwrap_or(&index).modified()?;
    let bytes = log.len()? + index.len()?;
    Ok(Some(VersionInfo { number, is_current, entries: entries(&index).ok(), bytes, published, uid }))
}

fn entries(index: &File) -> Result<u64> {
    let mut header = [0; IndexHeader::SIZE];
    let len = index.read_at(&mut header, 0)?;
    Ok(IndexHeader::parse(&header[..len])?.num_entries)
}

/// Makes a kept version current again.
pub(crate) fn rollback(space_dir: &SpaceDir, number: Option<u64>) -> Result<u64> {
    let locked = Locked::exclusive(&space_dir.dir)?;
    let mut scan = DirScan::take(&space_dir.dir, &locked)?;
    scan.number_the_current(space_dir, &locked)?;
    let generation = scan.next_number(space_dir, &locked)?;
    let (uid, number) = choose(&scan, number).map_err(|error| error.file(space_dir.dir.path()))?;
    let is_current = scan.current.as_deref() == Some(uid);
    let uid = if is_current { uid.to_owned() } else { renamed(space_dir, uid)? };
    if Version::open(&space_dir.dir, &uid, Paging::OnDemand)?.is_none() {
        return Err(hollow(space_dir, &uid, number, is_current));
    }
    point_current_to(&space_dir.dir, &uid)?;
    locked.announce(generation);
    space_dir.sync()?;
    Ok(number)
}

/// Gives an older version a new name. A process of the original gem that once replaced it may be about to delete it: it
/// does so by name, and without the lock.
fn renamed(space_dir: &SpaceDir, old: &str) -> Result<String> {
    let uid = new_uid();
    space_dir.dir.rename(old, &uid)?;
    // No power cut may leave `current` pointing to a name that never reached the disk.
    space_dir.sync()?;
    Ok(uid)
}

/// A process of the original gem has begun to delete the version, and will not find the rest under its new name: so the rest
/// gets the name of the dead, for the next sweep.
fn hollow(space_dir: &SpaceDir, uid: &str, number: u64, is_current: bool) -> Error {
    if !is_current {
        drop(space_dir.dir.rename(uid, format!("{DEAD}{uid}")));
    }
    Error::new(Kind::Corrupt, format!("files of version {number} are missing"))
        .file(space_dir.dir.path().join(uid))
        .remedy("go back to another one")
}

/// The version of this number, or else the newest before the current one.
fn choose(scan: &DirScan, wanted: Option<u64>) -> Result<(&str, u64)> {
    let current = scan.current_number().unwrap_or(u64::MAX);
    let chosen = match wanted {
        Some(wanted) => scan.published().find(|(_, number)| *number == wanted),
        None => scan.published().filter(|(_, number)| *number < current).max_by_key(|(_, number)| *number),
    };
    chosen.ok_or_else(|| {
        let which = wanted.map_or("no version before the current one".into(), |number| format!("no version {number}"));
        Error::new(Kind::Missing, format!("there is {which} on disk"))
            .remedy("list the versions that are kept; to have more, keep more than one when you publish")
    })
}
