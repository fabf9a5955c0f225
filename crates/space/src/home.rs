//! Where a space is and how it is written: what a handle and its writers share.

use std::sync::Arc;

use hammerspace_error::Result;
use hammerspace_os::{Dir, File};
use hammerspace_sparkey::BlockCache;

use crate::{Durability, Options};

/// A space's directory, open, and the options of the handle.
pub(crate) struct Home {
    pub(crate) dir: Dir,
    pub(crate) options: Options,
    /// Of the versions that the handle reads, one after the other.
    pub(crate) cache: Option<Arc<BlockCache>>,
}

impl Home {
    pub(crate) fn new(dir: Dir, options: Options) -> Self {
        let cache = (options.cache_bytes > 0).then(|| Arc::new(BlockCache::new(options.cache_bytes)));
        Self { dir, options, cache }
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
