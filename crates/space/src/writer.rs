//! Writing: the next version, private until it is published.
//!
//! A writer appends to the log of a [`Draft`], which only its own process can write, publish or remove.

use std::fmt;
use std::sync::Arc;

use hammerspace_error::Result;
use hammerspace_os::{Owned, Paging};
use hammerspace_sparkey::{LogOptions, LogWriter};

use crate::draft::Draft;
use crate::home::Home;
use crate::publish;
use crate::snapshot::{Snapshot, State};
use crate::version::Version;

/// The next version of a space, in the making: put and delete keys, then [`publish`](Self::publish).
///
/// Any number of writers may be at work, in any processes; the last to publish wins as a whole. A writer that is dropped
/// publishes nothing and leaves nothing behind.
pub struct Writer {
    draft: Draft,
    log: LogWriter<Owned>,
    base: Option<Arc<Version>>,
    /// Whether the log continues that of the base.
    continues: bool,
}

impl Writer {
    /// Starts empty.
    pub(crate) fn replace(home: Arc<Home>) -> Result<Self> {
        let options = home.options.log(None);
        Self::fresh(home, options)
    }

    /// Starts from the current version, by copying its log and appending to it.
    pub(crate) fn update(home: Arc<Home>) -> Result<Self> {
        let Some(base) = Version::current(&home.dir, Paging::OnDemand)? else { return Self::replace(home) };
        let header = base.table.log().header();
        let base_options = LogOptions { compression: header.compression, block_size: header.block_size };
        let options = home.options.log(Some(&base_options));
        let same = (options.compression, options.block_size) == (header.compression, header.block_size);
        if same && is_worth_copying(&base) {
            return Self::copy(home, base);
        }
        let mut writer = Self::fresh(home, options)?;
        writer.put_all(&base)?;
        Ok(Self { base: Some(Arc::new(base)), ..writer })
    }

    fn fresh(home: Arc<Home>, options: LogOptions) -> Result<Self> {
        let draft = Draft::create(home)?;
        let log = LogWriter::create(draft.create_log()?, &options).map_err(|error| draft.explain(error))?;
        Ok(Self { draft, log, base: None, continues: false })
    }

    fn copy(home: Arc<Home>, base: Version) -> Result<Self> {
        let draft = Draft::create(home)?;
        let log = draft.create_log()?;
        let data_end = base.table.log().header().data_end;
        log.file.copy_from(&base.log, &base.table.log().bytes()[..data_end as usize])?;
        let log = LogWriter::append(log).map_err(|error| draft.explain(error))?;
        Ok(Self { log, draft, base: Some(Arc::new(base)), continues: true })
    }

    fn put_all(&mut self, base: &Version) -> Result<()> {
        for entry in &base.table {
            let entry = entry?;
            self.put(&entry.key, &entry.value)?;
        }
        Ok(())
    }

    /// The version that it started from; of a replacement, an empty one.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// let mut writer = space.writer()?;
    /// writer.put("cartoons", "mallets")?;
    /// assert!(!writer.base().contains("cartoons")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn base(&self) -> Snapshot {
        Snapshot(Arc::new(State { generation: 0, version: self.base.clone() }))
    }

    /// Sets the value of `key`, whatever it was.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.log.put(key.as_ref(), value.as_ref()).map_err(|error| self.draft.explain(error))
    }

    /// Removes `key`, if it is there.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.log.delete(key.as_ref()).map_err(|error| self.draft.explain(error))
    }

    /// Makes this the current version, in one step, and gives its number. When it returns, every reader that opens or
    /// refreshes sees all of it, and (unless [relaxed](crate::Durability)) a power cut can no longer take it away.
    ///
    /// Should it fail, the version before is still current; the error says so where it is otherwise.
    pub fn publish(self) -> Result<u64> {
        self.draft.check_owner()?;
        let (log, _) = self.log.finish().map_err(|error| self.draft.explain(error))?;
        publish::publish(self.draft, &log.file, self.base.as_deref().filter(|_| self.continues))
    }
}

/// Whether appending to a copy of the log serves better than writing the live entries anew: at most half of it is garbage,
/// and its index covers all of it (appending would bring entries to light that readers do not see).
fn is_worth_copying(base: &Version) -> bool {
    let (log, index) = (base.table.log().header(), base.table.index().header());
    index.data_end == log.data_end && index.garbage_size <= log.put_size.saturating_add(log.delete_size) / 2
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("uid", &self.draft.uid).finish_non_exhaustive()
    }
}
