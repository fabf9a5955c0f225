//! Where a space is and how it is written: what a handle and its writers share.

use std::sync::Arc;

use hammerspace_error::Result;
use hammerspace_os::{Dir, File};
use hammerspace_sparkey::BlockCache;

use crate::lock::Page;
use crate::space_path::SpacePath;
use crate::{Durability, Options};

/// A space's directory, open, and the options of the handle.
pub(crate) struct SpaceDir {
    pub(crate) path: Arc<SpacePath>,
    pub(crate) dir: Dir,
    pub(crate) page: Arc<Page>,
    pub(crate) options: Options,
    /// Of the versions that the handle reads, one after the other.
    pub(crate) cache: Option<Arc<BlockCache>>,
}

impl SpaceDir {
    pub(crate) fn new(dir: Dir, path: SpacePath, options: Options) -> Self {
        let cache = (options.cache_bytes > 0).then(|| Arc::new(BlockCache::new(options.cache_bytes)));
        Self { path: Arc::new(path), dir, page: Arc::default(), options, cache }
    }

    /// Whether the path still leads here.
    pub(crate) fn is_in_place(&self) -> bool {
        self.path.leads_to(&self.dir)
    }

    /// What the path leads to by now, to be read; `None` where that is nothing.
    pub(crate) fn successor(&self) -> Result<Option<Self>> {
        Ok(self.path.find()?.map(|dir| self.moved_to(dir)))
    }

    /// The same, to be written to: it is come by as when the handle was opened.
    pub(crate) fn successor_to_write(&self) -> Result<Self> {
        Ok(self.moved_to(self.path.reopen()?))
    }

    fn moved_to(&self, dir: Dir) -> Self {
        Self {
            path: Arc::clone(&self.path),
            dir,
            page: Arc::default(),
            options: self.options.clone(),
            cache: self.cache.clone(),
        }
    }

    /// Makes the names in the space's directory durable, if that is asked for.
    pub(crate) fn sync(&self) -> Result<()> {
        if self.is_durable() { self.dir.sync() } else { Ok(()) }
    }

    /// Makes a file durable, if that is asked for.
    pub(crate) fn sync_file(&self, file: &File) -> Result<()> {
        if self.is_durable() { file.sync() } else { Ok(()) }
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.options.durability == Durability::Full
    }
}
