//! How a space is opened and written.

use std::path::Path;
use std::time::Duration;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Paging;
use hammerspace_sparkey::{Compression, Effort, LogOptions};

use crate::Space;
use crate::lock::Locked;
use crate::space_dir::SpaceDir;
use crate::space_path::SpacePath;

/// What a power cut may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was published: files and directories are synced before `current` changes, and again before
    /// `publish` returns. A cut leaves the old version or the new one.
    #[default]
    Full,
    /// Whatever the kernel had not written yet, as with the original gem: a cut within some 30 s of a publish may leave
    /// a damaged space. Killed processes do no harm either way. For data that can be loaded again.
    None,
}

/// How a space is opened and written. Every option has a default that suits most.
///
/// ```
/// # let scratch = tempfile::tempdir()?;
/// # let path = scratch.path();
/// use hammerspace_space::{Durability, Options};
///
/// let space = Options::new().durability(Durability::None).keep(3).create(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) durability: Durability,
    pub(crate) keep: usize,
    pub(crate) compression: Option<Compression>,
    pub(crate) block_size: Option<u32>,
    pub(crate) cache_bytes: usize,
    pub(crate) poll: Duration,
    pub(crate) mend: bool,
    pub(crate) paging: Paging,
    pub(crate) effort: Effort,
    pub(crate) update_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            keep: 1,
            compression: None,
            block_size: None,
            cache_bytes: 0,
            poll: Duration::from_millis(100),
            mend: false,
            paging: Paging::OnDemand,
            effort: Effort::default(),
            update_timeout: Duration::from_mins(1),
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a power cut may take from what this handle's writers publish. Default: nothing.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many versions stay on disk after this handle's writers publish, the current one included. Default: 1. More
    /// than one makes [`Space::rollback`] possible.
    #[must_use]
    pub fn keep(mut self, versions: usize) -> Self {
        self.keep = versions;
        self
    }

    /// How new versions are compressed. By default, as the version they start from; new spaces are not.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = Some(compression);
        self
    }

    /// Bytes per block of compressed versions, before compression. Default: as the version they start from, else 4096.
    #[must_use]
    pub fn block_size(mut self, bytes: u32) -> Self {
        self.block_size = Some(bytes);
        self
    }

    /// Memory of this process for decoded blocks of compressed versions, in bytes, no more than the machine has; shared by all threads that read this
    /// handle. Default: none, since private memory is what a space is to spare. A key whose block is kept is found many times
    /// as fast: without, every lookup decodes. Versions that are not compressed need none and take none, but for 2 % of it.
    ///
    /// The bound holds for what is kept, not for blocks that values still hold.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// How often [`Space::refresh`] looks at the directory itself, for publications that nobody announces: those of the
    /// original gem, and of writers without the right to write the lock file; and whether it is still the one that the path
    /// leads to. Default: every 100 ms. `Duration::MAX`: never.
    ///
    /// A handle that was opened before the directory had its lock page (a directory of the original gem, or an empty one,
    /// opened by [`open`](Self::open)) finds the page by looking, too: it sees the first publication within this time and
    /// those after it at once. With `Duration::MAX` it sees none.
    #[must_use]
    pub fn poll(mut self, every: Duration) -> Self {
        self.poll = every;
        self
    }

    /// How the pages of the versions that this handle reads come into memory, and whether they stay. Default: on demand.
    /// All but the default and [`Paging::Random`] take their time again whenever a new version is opened, by
    /// [`Space::refresh`] too.
    #[must_use]
    pub fn paging(mut self, paging: Paging) -> Self {
        self.paging = paging;
        self
    }

    /// How much memory and how many threads publishing a version may take to index it. Default: 256 MiB, and as many threads
    /// as the machine runs at once. What does not fit goes to a file without a name beside the new version. An update whose
    /// keys outgrow the table that it started from is indexed in memory.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// How long [`Space::update`] and [`Space::updater`] wait for the updates before them. Default: one
    /// minute. `Duration::MAX`: for as long as it takes.
    #[must_use]
    pub fn update_timeout(mut self, limit: Duration) -> Self {
        self.update_timeout = limit;
        self
    }

    /// Opens a space also if its current version is damaged. It then reads as empty, and [`Space::refresh`] says what is
    /// wrong, until it is mended: by [`Space::replace`], [`Space::rollback`] or [`Space::clear`].
    #[must_use]
    pub fn mend(mut self) -> Self {
        self.mend = true;
        self
    }

    /// Opens the space in an existing directory. Nothing is written; a directory without a version is an empty space.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Space> {
        self.check()?;
        let path = SpacePath::new(path.as_ref(), false);
        Space::new(SpaceDir::new(path.open()?, path, self))
    }

    /// Opens the space in a directory, making the directory first where it is missing.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Space> {
        self.check()?;
        let path = SpacePath::new(path.as_ref(), true);
        let space_dir = SpaceDir::new(path.open()?, path, self);
        // With a page to watch from the start, the first publication is seen as soon as any. Who may only read, reads.
        // Where there is one, nobody is waited for.
        if !space_dir.page.find(&space_dir.dir)?
            && let Err(error) = Locked::exclusive(&space_dir.dir)
            && error.kind() != Kind::Permission
        {
            return Err(error);
        }
        Space::new(space_dir)
    }

    fn check(&self) -> Result<()> {
        if self.keep == 0 {
            let finding = "a space cannot keep 0 versions";
            return Err(Error::new(Kind::Invalid, finding).remedy("keep 1 or more; to empty a space, clear it"));
        }
        Ok(())
    }

    /// The log options for a version that starts from one written with `base`.
    pub(crate) fn log(&self, base: Option<&LogOptions>) -> LogOptions {
        let base = base.copied().unwrap_or_default();
        let compression = self.compression.unwrap_or(base.compression);
        // Without compression a block size means nothing, neither one asked for nor one found.
        let block_size = match (compression, base.compression) {
            (Compression::None, _) => base.block_size,
            (_, Compression::None) => self.block_size.unwrap_or(LogOptions::default().block_size),
            _ => self.block_size.unwrap_or(base.block_size),
        };
        LogOptions { compression, block_size }
    }
}
