//! One version of a space, opened: mapped, checked, and valid for as long as it is held.
//!
//! See "Published means frozen" in the design notes: nobody writes to the files of a version once `current` has pointed to
//! it, and removing them takes their names only. So the mapping stays what it is until it is dropped.

use std::ffi::OsString;
use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, Map, Paging};
use hammerspace_sparkey::{BlockCache, Table};

use crate::layout::{CURRENT, INDEX, LOG, STAMP, uid_of};
use crate::{recognize, stamp};

/// How often opening starts over because the version was replaced meanwhile. Each time means that a whole publication
/// fell into the microseconds between two system calls.
const ATTEMPTS: usize = 1000;

pub(crate) struct Version {
    pub(crate) uid: String,
    /// `None` for a version of the original gem.
    stamp: Option<File>,
    pub(crate) table: Table<Map, Map>,
    /// The log again, as a file: an updating writer can share its blocks.
    pub(crate) log: File,
}

impl Version {
    /// Opens the current version; `None` where the space is empty.
    pub(crate) fn current(space: &Dir, paging: Paging) -> Result<Option<Self>> {
        let mut seen = None;
        for _ in 0..ATTEMPTS {
            let Some(target) = recognize::current(space)? else { return Ok(None) };
            let uid = uid_of(&target).ok_or_else(|| stray(space, &target))?;
            if let Some(version) = Self::open(space, uid, paging)? {
                return Ok(Some(version));
            }
            // Gone between two calls: replaced, unless `current` still says the same.
            if seen.as_ref() == Some(&target) {
                return Err(dangling(space, uid));
            }
            seen = Some(target);
        }
        let finding = format!("the current version was replaced {ATTEMPTS} times while it was being opened");
        Err(Error::new(Kind::Busy, finding).file(space.path()).remedy("publish less often, or try again"))
    }

    /// Opens the version of this name; `None` where it, or a part of it, is not there.
    pub(crate) fn open(space: &Dir, uid: &str, paging: Paging) -> Result<Option<Self>> {
        let Some(dir) = space.open_dir(uid)? else { return Ok(None) };
        let (Some(log), Some(index)) = (dir.open_file(LOG)?, dir.open_file(INDEX)?) else { return Ok(None) };
        let table = hammerspace_tables::open(&log, &index, paging)?;
        Ok(Some(Self { uid: uid.to_owned(), stamp: dir.open_file(STAMP)?, table, log }))
    }

    /// Keeps the blocks that lookups decode in `cache`, if there is one and the version has blocks.
    pub(crate) fn cached_in(self, cache: Option<&Arc<BlockCache>>) -> Self {
        match cache {
            Some(cache) => Self { table: self.table.with_cache(Arc::clone(cache)), ..self },
            None => self,
        }
    }

    /// The version's number. Read when it is asked for: its writer writes it right after changing `current`, and readers do
    /// not wait for that.
    pub(crate) fn number(&self) -> Option<u64> {
        stamp::read(self.stamp.as_ref()?).ok()?
    }
}

fn stray(space: &Dir, target: &OsString) -> Error {
    let finding = format!("`current` points to {}, outside the space", target.display());
    Error::new(Kind::Corrupt, finding)
        .file(space.path().join(CURRENT))
        .remedy("remove the link, then load the space again")
}

fn dangling(space: &Dir, uid: &str) -> Error {
    Error::new(Kind::Corrupt, format!("`current` points to {uid}, whose files are not there"))
        .file(space.path().join(CURRENT))
        .remedy("roll back to a version that is kept, or replace all that is in the space")
}
