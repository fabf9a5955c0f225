//! The next version's directory, while it is private.
//!
//! It belongs to the process that made it, and carries a lock that says so (`stamp.rs`). A forked child inherits it in
//! memory: the child's writes are refused, and its drop removes nothing.

use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, Owner, ProcessFile};

use crate::layout::{DEAD, LOG, STAMP, new_uid};
use crate::lock::Locked;
use crate::space_dir::SpaceDir;
use crate::stamp;

/// Against a failed sync.
pub(crate) const WRITE_AGAIN: &str = "give up this writer, and write all of it again with a new one";

/// The private directory. Dropping it removes it, unless it was published or belongs to another process.
pub(crate) struct Draft {
    pub(crate) space_dir: Arc<SpaceDir>,
    pub(crate) uid: String,
    pub(crate) dir: Dir,
    /// Locked: says that we are at work here.
    _stamp: ProcessFile,
    owner: Owner,
    pub(crate) published: bool,
    /// Whether a sync failed. The kernel may have dropped what it could not write, and would call the next sync a success.
    pub(crate) lost: bool,
}

impl Draft {
    /// Born under the name of the dead: should we be killed before the stamp is locked, nobody needs to wonder whose it is.
    /// The lock keeps sweepers out meanwhile, and sees to it that there is a page to announce the publication on.
    pub(crate) fn create(space_dir: Arc<SpaceDir>) -> Result<Self> {
        let _locked = Locked::exclusive(&space_dir.dir)?;
        let uid = new_uid();
        let unborn = format!("{DEAD}{uid}");
        let stamp = stamp::create(&space_dir.dir.create_dir(&unborn)?)?;
        Self::named(space_dir, &unborn, uid, stamp)
    }

    /// Takes over the directory `name`, which sweepers leave alone until the rename.
    pub(crate) fn adopt(space_dir: Arc<SpaceDir>, name: &str) -> Result<Self> {
        let _locked = Locked::exclusive(&space_dir.dir)?;
        let dir = space_dir.dir.open_dir(name)?.ok_or_else(|| vanished(&space_dir.dir, name))?;
        // An adoption that was killed before the rename leaves one.
        dir.unlink(STAMP)?;
        let stamp = stamp::create(&dir)?;
        dir.sync()?;
        Self::named(space_dir, name, new_uid(), stamp)
    }

    fn named(space_dir: Arc<SpaceDir>, unborn: &str, uid: String, stamp: ProcessFile) -> Result<Self> {
        space_dir.dir.rename(unborn, &uid)?;
        let dir = space_dir.dir.open_dir(&uid)?.ok_or_else(|| vanished(&space_dir.dir, &uid))?;
        Ok(Self { space_dir, uid, dir, _stamp: stamp, owner: Owner::us(), published: false, lost: false })
    }

    pub(crate) fn create_log(&self) -> Result<ProcessFile> {
        Ok(ProcessFile::new(self.dir.create_file(LOG)?))
    }

    /// Refuses to go on in a process that is not the one that made it.
    pub(crate) fn check_owner(&self) -> Result<()> {
        self.owner.check()
    }

    /// Refuses to publish what may not be there after a power cut.
    pub(crate) fn check_kept(&self) -> Result<()> {
        if !self.lost {
            return Ok(());
        }
        let finding = "the new version could not be synced, and what is pending may be damaged";
        Err(Error::new(Kind::Io, finding).file(self.dir.path()).remedy(WRITE_AGAIN))
    }

    /// Gives an error of the log the file's name; a child's write, which [`ProcessFile`] refuses, its own words.
    pub(crate) fn explain(&self, error: Error) -> Error {
        self.owner.check().err().unwrap_or(error).file(self.dir.path().join(LOG))
    }

    /// For the one to whom the log is gone.
    pub(crate) fn vanished(&self) -> Error {
        vanished(&self.space_dir.dir, &self.uid)
    }
}

fn vanished(space: &Dir, uid: &str) -> Error {
    Error::new(Kind::Missing, "the directory that was just made is gone")
        .file(space.path().join(uid))
        .remedy("see who else removes files here, and try again")
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published && self.owner.check().is_ok() {
            // What cannot be removed now, the next sweep removes: nobody holds its stamp any more.
            drop(self.space_dir.dir.remove_dir(&self.uid));
        }
    }
}
