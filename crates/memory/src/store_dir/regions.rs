//! The regions that a directory holds, and those of them that no store names any more.
//!
//! A region knows its store's directory (`STORE_DIR`), as it was when the store was last opened. If that
//! directory does not name the region, and nobody owns it, the region is *stranded*: deleting the directory
//! alone leaves it behind.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File};
use uuid::Uuid;

use crate::region::region_file::owner_in;
use crate::region::{Region, STORE_DIR, STORE_DIR_LEN};
use crate::store_dir;
use crate::store_dir::description;

/// Where regions lie unless a store's maker says otherwise.
pub(crate) const PLACE: &str = "/dev/shm";
/// What the name of a region's file begins with; the store's id follows.
pub(crate) const PREFIX: &str = "hammerspace-";

/// A region's file, and what can be seen of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// The region's file.
    pub region: PathBuf,
    /// Bytes of memory that it takes.
    pub memory: u64,
    /// Whose it is.
    pub state: RegionState,
    /// The directory of its store, as of when the store was last opened. `None` where the region does not
    /// say, or may not be read.
    pub store: Option<PathBuf>,
}

/// Whose a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionState {
    /// A process owns it; its number, where that can be told.
    Owned(Option<u32>),
    /// Its store is there, without an owner.
    Idle,
    /// Nobody owns it, and its store's directory is gone, or names another region.
    Stranded,
    /// Nobody owns it, and it does not say which store it is of; or this user may not read it.
    Unknown,
}

/// The regions in a directory, `/dev/shm` where none is given, by name.
pub fn regions(directory: Option<&Path>) -> Result<Vec<RegionInfo>> {
    let dir = Dir::open(directory.unwrap_or(Path::new(PLACE)))?;
    let mut names: Vec<_> = dir.entries()?.into_iter().map(|entry| entry.name).collect();
    names.sort();
    let paths = names.iter().filter(|name| id_of(name).is_some()).map(|name| dir.path().join(name));
    // What is deleted meanwhile is no region.
    Ok(paths.filter_map(|path| found(&path)).collect())
}

fn found(path: &Path) -> Option<RegionInfo> {
    let memory = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file)?.blocks() * 512;
    let file = File::open(path).ok();
    let store = file.as_ref().and_then(home_in);
    let state = file.map_or(RegionState::Unknown, |file| state_of(&file, store.as_deref()));
    Some(RegionInfo { region: path.to_path_buf(), memory, state, store })
}

fn state_of(file: &File, store: Option<&Path>) -> RegionState {
    match (file.is_locked(), store) {
        (Ok(true), _) => RegionState::Owned(owner_in(file)),
        (Ok(false), Some(store)) if names(store, file) => RegionState::Idle,
        (Ok(false), Some(_)) => RegionState::Stranded,
        _ => RegionState::Unknown,
    }
}

/// Whether a store's directory names this region; also one that may not be looked at.
fn names(store: &Path, region: &File) -> bool {
    let dir = match Dir::open(store) {
        Ok(dir) => dir,
        Err(error) => return error.kind() == Kind::Permission,
    };
    [description::NAME, description::MAKING, description::GONE].into_iter().any(|name| {
        match description::read(&dir, name) {
            Ok(found) => {
                found.is_some_and(|it| File::open(it.region).is_ok_and(|it| it.is_same_as(region).unwrap_or(false)))
            }
            Err(error) => error.kind() == Kind::Permission,
        }
    })
}

/// Deletes a stranded region, or one that does not say which store it is of.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if path.file_name().and_then(OsStr::to_str).and_then(id_of).is_none() {
        let error = Error::new(Kind::Invalid, "this is neither a store's directory nor a region").file(path);
        return Err(error.remedy("`hammerspace store list` shows regions"));
    }
    let file = File::open(path)?;
    match home_in(&file) {
        Some(store) if names(&store, &file) => {
            let error = Error::new(Kind::Invalid, format!("the region belongs to the store {}", store.display()));
            Err(error.file(path).remedy(format!("`hammerspace store remove {}` removes both", store.display())))
        }
        _ => store_dir::delete_region(file),
    }
}

/// The id in the name of a region's file.
fn id_of(name: &str) -> Option<Uuid> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Tells a region where its store is.
pub(crate) fn set_store_dir(region: &Region, store: &Path) {
    let store = std::fs::canonicalize(store).unwrap_or_else(|_| store.to_path_buf());
    let mut bytes = vec![0; STORE_DIR_LEN as usize];
    let path = store.as_os_str().as_bytes();
    if let Some(room) = bytes.get_mut(..path.len()) {
        room.copy_from_slice(path);
    }
    region.write_bytes(STORE_DIR, &bytes);
}

/// Where the store of a region is, if the region says.
fn home_in(region: &File) -> Option<PathBuf> {
    let mut bytes = vec![0; STORE_DIR_LEN as usize];
    let len = region.read_at(&mut bytes, STORE_DIR).ok()?;
    let end = bytes[..len].iter().position(|byte| *byte == 0).unwrap_or(len);
    bytes.truncate(end);
    (end > 0).then(|| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}
