//! Spaces: opened, refreshed, read by snapshots, changed by writers.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Duration;

use hammerspace::Result;

use crate::bytes::path;
use crate::error::{Error, answer, fill, given};
use crate::options::Options;
use crate::table::Table;
use crate::versions::{Version, Versions};
use crate::writer::Writer;

/// A hash map in a directory, shared by every process that opens it. Reads one version, until it is refreshed.
pub struct Space(hammerspace::Space);

const SPACE: &str = "the space";

/// Opens the space in an existing directory, with these options, or the default ones if they are NULL. Nothing is written;
/// a directory without a version is an empty space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_space_open(
    directory: *const c_char,
    options: Option<&Options>,
    space: Option<&mut MaybeUninit<Option<Box<Space>>>>,
) -> Option<Box<Error>> {
    open(directory, options, space, |options, path| options.open(path))
}

/// The same, and makes the directory first where it is missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_space_create(
    directory: *const c_char,
    options: Option<&Options>,
    space: Option<&mut MaybeUninit<Option<Box<Space>>>>,
) -> Option<Box<Error>> {
    open(directory, options, space, |options, path| options.create(path))
}

fn open(
    directory: *const c_char,
    options: Option<&Options>,
    space: Option<&mut MaybeUninit<Option<Box<Space>>>>,
    how: impl FnOnce(hammerspace::Options, &Path) -> Result<hammerspace::Space>,
) -> Option<Box<Error>> {
    fill(space, None, || {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let directory = unsafe { path(directory) }?;
        Ok(Some(Box::new(Space(how(Options::to_ours(options)?, directory)?))))
    })
}

/// Moves on to the current version, if it is another one; says whether it is (`changed` may be NULL). Meant to be called
/// once per request: when nothing changed it costs nanoseconds. Snapshots taken before stay what they are.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_refresh(
    space: Option<&Space>,
    changed: Option<&mut MaybeUninit<bool>>,
) -> Option<Box<Error>> {
    let mut unwanted = MaybeUninit::uninit();
    fill(Some(changed.unwrap_or(&mut unwanted)), false, || given(space, SPACE)?.0.refresh())
}

/// The version that this handle reads, held for as long as the table lives, which may be longer than the space.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_snapshot(
    space: Option<&Space>,
    table: Option<&mut MaybeUninit<Option<Box<Table>>>>,
) -> Option<Box<Error>> {
    fill(table, None, || Ok(Some(Table::boxed(given(space, SPACE)?.0.snapshot()))))
}

/// A writer that starts from the current version, and that queues behind others of its kind for up to
/// `timeout_ms` milliseconds (UINT64_MAX: for as long as it takes), then fails with HAMMERSPACE_KIND_BUSY. So
/// none of them loses what another wrote. Its turn ends when it has published or is freed. Where another
/// version was published meanwhile, by a writer that did not queue, hammerspace_writer_publish fails with
/// HAMMERSPACE_KIND_CHANGED and publishes nothing; hammerspace_writer_restart begins again.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_updater(
    space: Option<&Space>,
    timeout_ms: u64,
    writer: Option<&mut MaybeUninit<Option<Box<Writer>>>>,
) -> Option<Box<Error>> {
    let limit = if timeout_ms == u64::MAX { Duration::MAX } else { Duration::from_millis(timeout_ms) };
    fill(writer, None, || given(space, SPACE)?.0.updater_within(limit).map(Writer::boxed))
}

/// A writer that starts from the current version. Published, it replaces whatever is current by then.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_update(
    space: Option<&Space>,
    writer: Option<&mut MaybeUninit<Option<Box<Writer>>>>,
) -> Option<Box<Error>> {
    fill(writer, None, || given(space, SPACE)?.0.writer().map(Writer::boxed))
}

/// A writer that starts empty, and replaces everything when it publishes.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_replace(
    space: Option<&Space>,
    writer: Option<&mut MaybeUninit<Option<Box<Writer>>>>,
) -> Option<Box<Error>> {
    fill(writer, None, || given(space, SPACE)?.0.replace().map(Writer::boxed))
}

/// Empties the space in one step, and drops every version of it. Handles keep what they read until they refresh.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_clear(space: Option<&Space>) -> Option<Box<Error>> {
    answer(|| given(space, SPACE)?.0.clear())
}

/// The versions on disk, newest first.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_versions(
    space: Option<&Space>,
    versions: Option<&mut MaybeUninit<Option<Box<Versions>>>>,
) -> Option<Box<Error>> {
    fill(versions, None, || {
        let listed = given(space, SPACE)?.0.versions()?;
        Ok(Some(Box::new(listed.into_iter().map(Version::of).collect())))
    })
}

/// Makes an older version current again: the one of this number, or, for 0, the newest before the current one. Gives its
/// number (`now` may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_rollback(
    space: Option<&Space>,
    number: u64,
    now: Option<&mut MaybeUninit<u64>>,
) -> Option<Box<Error>> {
    let mut unwanted = MaybeUninit::uninit();
    fill(Some(now.unwrap_or(&mut unwanted)), 0, || given(space, SPACE)?.0.rollback((number != 0).then_some(number)))
}

/// Closes a space. Its snapshots, writers and their cursors live on. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_space_free(space: Option<Box<Space>>) {
    drop(space);
}
