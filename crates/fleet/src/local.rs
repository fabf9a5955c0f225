//! The followed space on this machine, and the next version of it in the making.
//!
//! ```text
//! SPACE/fleet.lock                     held by the one follower of this space
//! SPACE/fleet.next/hammerspace.spl     parts that have come so far; each is checked again after a restart
//!                  hammerspace.spi     built here
//!                  fleet.json          written last: log and index are whole, verified and durable
//! SPACE/<uid>/fleet.json               which published version this local one is
//! ```

use std::path::Path;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File, Map, Paging, ProcessFile};
use hammerspace_space::{INDEX_FILE, LOG_FILE, Options, Space};
use hammerspace_sparkey::Table;
use serde_json::from_slice;

use crate::layout::{LOCK, MANIFEST, NEXT};
use crate::manifest::Manifest;

pub(crate) struct Local {
    pub(crate) space: Space,
    dir: Dir,
    /// Ends with the process, also by `kill -9`.
    _lock: ProcessFile,
}

/// A version on disk whose bytes can be reused.
pub(crate) struct Source {
    pub(crate) manifest: Manifest,
    pub(crate) table: Table<Map, Map>,
}

impl Local {
    pub(crate) fn open(path: &Path, keep: usize) -> Result<Self> {
        let space = Options::new().keep(keep).mend().create(path)?;
        let dir = Dir::open(path)?;
        let mut lock = ProcessFile::new(dir.open_or_create_shared(LOCK)?);
        if !lock.try_lock()? {
            return Err(Error::new(Kind::Busy, "another follower is at work on this space")
                .file(path)
                .remedy("stop it first, or follow into another directory"));
        }
        Ok(Self { space, dir, _lock: lock })
    }

    /// The published version that is current here; `None` where the current version was made here.
    pub(crate) fn current(&self) -> Result<Option<Manifest>> {
        self.space.refresh()?;
        let snapshot = self.space.snapshot();
        snapshot.uid().map_or(Ok(None), |uid| manifest_in(&self.dir, uid))
    }

    /// The version that is whole in `fleet.next`.
    pub(crate) fn staged(&self) -> Result<Option<Manifest>> {
        manifest_in(&self.dir, NEXT)
    }

    /// The versions on disk that were published, the current one first.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut versions = self.space.versions()?;
        versions.sort_by_key(|version| !version.is_current);
        let mut sources = Vec::new();
        for version in versions {
            // A damaged version is no reason not to fetch the next.
            if let Ok(Some(source)) = self.source(&version.uid) {
                sources.push(source);
            }
        }
        Ok(sources)
    }

    fn source(&self, uid: &str) -> Result<Option<Source>> {
        let Some(manifest) = manifest_in(&self.dir, uid)? else { return Ok(None) };
        let Some(dir) = self.dir.open_dir(uid)? else { return Ok(None) };
        let (Some(log), Some(index)) = (dir.open_file(LOG_FILE)?, dir.open_file(INDEX_FILE)?) else { return Ok(None) };
        Ok(Some(Source { manifest, table: hammerspace_tables::open(&log, &index, Paging::OnDemand)? }))
    }

    /// The directory of the next version, which is not whole from here on.
    pub(crate) fn stage(&self) -> Result<Dir> {
        if let Some(dir) = self.dir.open_dir(NEXT)? {
            if dir.unlink(MANIFEST)? {
                dir.sync()?;
            }
            dir.unlink(INDEX_FILE)?;
            return Ok(dir);
        }
        self.dir.create_dir(NEXT)
    }

    /// Says that log and index are whole; all is durable when it returns.
    pub(crate) fn finish(&self, dir: &Dir, manifest: &Manifest) -> Result<()> {
        const FRESH: &str = "fleet.json.tmp";
        dir.unlink(FRESH)?;
        let file: File = dir.create_file(FRESH)?;
        file.write_at(&manifest.to_json(), 0)?;
        file.sync()?;
        dir.sync()?;
        dir.rename(FRESH, MANIFEST)?;
        dir.sync()?;
        self.dir.sync()
    }

    /// Makes the staged version current.
    pub(crate) fn adopt(&self) -> Result<()> {
        self.space.adopt(NEXT)?;
        self.space.refresh()?;
        Ok(())
    }

    /// Drops what is staged.
    pub(crate) fn discard(&self) -> Result<()> {
        self.dir.remove_dir(NEXT)
    }
}

fn manifest_in(dir: &Dir, name: &str) -> Result<Option<Manifest>> {
    let Some(file) = dir.open_dir(name)?.map(|dir| dir.open_file(MANIFEST)).transpose()?.flatten() else {
        return Ok(None);
    };
    let mut bytes = vec![0; file.len()? as usize];
    let len = file.read_at(&mut bytes, 0)?;
    Ok(from_slice::<Manifest>(&bytes[..len])
        .ok()
        .filter(|manifest| Manifest::parse(&bytes[..len], manifest.number).is_ok()))
}
