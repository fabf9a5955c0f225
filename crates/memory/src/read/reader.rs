//! A process that reads another's region.

use std::fmt;
use std::path::Path;

use hammerspace_error::Result;
use hammerspace_os::File;

use crate::read::view::View;
use crate::region::Region;
use crate::store_dir;

/// A store's region, mapped to read. Registers nowhere, and takes no lock and makes no system call to read.
///
/// What is read is what the owner wrote, up to that instant; if the owner dies, it is what the owner left.
/// May be used from any thread, and from forked children.
pub struct Reader {
    region: Region,
    lock: File,
}

impl Reader {
    /// Maps the region of the store at `path`. O(1).
    pub fn attach(path: impl AsRef<Path>) -> Result<Self> {
        let (region, lock) = store_dir::attach(path.as_ref())?;
        Ok(Self { region, lock })
    }

    /// What there is to read.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { region: &self.region }
    }

    /// Whether a living process owns the store. Takes the store's lock for an instant, shared, which who
    /// opens the store waits for.
    pub fn has_owner(&self) -> Result<bool> {
        self.lock.is_locked()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({})", self.lock.path().display())
    }
}
