//! The stamp of a version: its number, and the lock that says its writer lives.
//!
//! What always holds:
//! 1. A writer locks the stamp before its directory has its name and never unlocks it: the lock ends with the process, also
//!    by `kill -9`, also in another container, where a pid would tell nothing. Children that were forked meanwhile let go of
//!    their copies (see "Locks and forks" in the design notes).
//! 2. A number is written only after `current` has pointed to the version, under the space's lock. So a stamp that can be
//!    locked and bears no number belongs to a dead writer, or to the current version, whose writer died in between: the
//!    next writer numbers that one before it takes its place.

use std::collections::HashMap;

use hammerspace_error::{Kind, Result};
use hammerspace_os::{Dir, File, ProcessFile};

use crate::layout::{LAYOUT_VERSION, STAMP, stamp};

/// Bytes of a stamp that are read at most: room for 16,000 versions. Those beyond are opened, one by one.
const LINES_MAX: u64 = 1 << 20;

/// What a version's directory says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No stamp: a version of the original gem.
    Unstamped,
    /// A writer is at work on it.
    Writing,
    /// Its writer died before publishing it.
    Abandoned,
    /// It was published under this number.
    Published(u64),
    /// It cannot be looked at: another user's, or damaged. It is left alone, and stops nobody.
    Unknown,
}

/// Stamps a new version, and locks the stamp for as long as the file is held. The caller keeps sweepers out meanwhile.
pub(crate) fn create(version: &Dir) -> Result<ProcessFile> {
    let mut owned = ProcessFile::new(version.create_file(STAMP)?);
    owned.lock()?;
    owned.file.write_at(&encode(0), 0)?;
    Ok(owned)
}

/// Numbers a version, once `current` points to it; gives the stamp, to be synced. One of the original gem has
/// none yet. The published versions `beside` it are noted for the next writer, who then need not open each.
pub(crate) fn write_number<'v>(
    version: &Dir,
    number: u64,
    beside: impl Iterator<Item = (&'v str, u64)>,
) -> Result<File> {
    let file = match version.open_file_to_write(STAMP)? {
        Some(file) => file,
        None => version.create_file(STAMP)?,
    };
    let mut bytes = encode(number).to_vec();
    for (uid, number) in beside {
        bytes.extend_from_slice(format!("{number} {uid}\n").as_bytes());
    }
    file.write_at(&bytes, 0)?;
    Ok(file)
}

/// The versions that the stamp of this one names, and their numbers, which never change. A line that a power
/// cut has damaged names nothing that is there.
pub(crate) fn beside(space: &Dir, uid: &str) -> HashMap<String, u64> {
    let lines = lines(space, uid).unwrap_or_default().unwrap_or_default();
    let whole = lines.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let named = whole.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(' '));
    named.filter_map(|(number, uid)| Some((uid.to_owned(), number.parse().ok()?))).collect()
}

/// What follows the number on a stamp.
fn lines(space: &Dir, uid: &str) -> Result<Option<Vec<u8>>> {
    let Some(version) = space.open_dir(uid)? else { return Ok(None) };
    let Some(file) = version.open_file(STAMP)? else { return Ok(None) };
    let len = file.len()?.min(LINES_MAX).saturating_sub(stamp::SIZE as u64);
    let mut lines = vec![0; len as usize];
    let read = file.read_at(&mut lines, stamp::SIZE as u64)?;
    lines.truncate(read);
    Ok(Some(lines))
}

/// What the directory of a version says of itself. The caller holds the space's exclusive lock.
pub(crate) fn state(space: &Dir, uid: &str) -> Result<State> {
    match look(space, uid) {
        Err(error) if matches!(error.kind(), Kind::Permission | Kind::Corrupt) => Ok(State::Unknown),
        other => other,
    }
}

fn look(space: &Dir, uid: &str) -> Result<State> {
    // A process of the gem may be about to delete it; what is gone by now needs nothing from us.
    let Some(version) = space.open_dir(uid)? else { return Ok(State::Unknown) };
    let Some(file) = version.open_file(STAMP)? else { return Ok(State::Unstamped) };
    // The number first: a process that was made around the C library while the version was being written may hold a copy of
    // the lock for as long as it lives.
    if let Some(number) = read(&file)? {
        return Ok(State::Published(number));
    }
    Ok(if ProcessFile::new(file).try_lock()? { State::Abandoned } else { State::Writing })
}

/// The number on a stamp. One that is short or strange, after a power cut, bears none.
pub(crate) fn read(file: &File) -> Result<Option<u64>> {
    let mut bytes = [0; stamp::SIZE];
    let whole = file.read_at(&mut bytes, 0)? == bytes.len();
    let ours = stamp::MAGIC_FIELD.get(&bytes) == stamp::MAGIC;
    let number = stamp::NUMBER.get(&bytes);
    Ok((whole && ours && number > 0).then_some(number))
}

fn encode(number: u64) -> [u8; stamp::SIZE] {
    let mut bytes = [0; stamp::SIZE];
    stamp::MAGIC_FIELD.set(&mut bytes, stamp::MAGIC);
    stamp::LAYOUT.set(&mut bytes, LAYOUT_VERSION);
    stamp::NUMBER.set(&mut bytes, number);
    bytes
}
