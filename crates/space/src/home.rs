//! Where a space is and how it is written: what a handle and its writers share.

use hammerspace_error::Result;
use hammerspace_os::{Dir, File};

use crate::{Durability, Options};

/// A space's directory, open, and the options of the handle.
pub(crate) struct Home {
    pub(crate) dir: Dir,
    pub(crate) options: Options,
}

impl Home {
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
