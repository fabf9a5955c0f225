//! What callers can know and do about when changes are on disk.

use hammerspace_disklog::{Durability, Extent, Log};
use hammerspace_error::Result;

use crate::store::Store;

impl Store {
    pub(crate) fn log(&self) -> Option<&Log> {
        self.shared.durable.as_ref().map(|durable| &*durable.log)
    }

    /// Makes every change durable that was made before. Nothing to do in a store without a log.
    pub fn sync(&self) -> Result<()> {
        self.shared.memory()?.check()?;
        self.log().map_or(Ok(()), Log::sync)
    }

    /// The number of the last change. A reader takes it after a read, and waits until
    /// [`durable`](Self::durable) is no less: then what it read is on disk.
    pub fn last_change(&self) -> u64 {
        self.shared.view().sequence()
    }

    /// Every change up to this number is durable; 0 in a store without a log. Any process may ask.
    pub fn durable(&self) -> u64 {
        self.shared.view().durable()
    }

    /// Waits until all changes up to this number are durable.
    pub fn wait_durable(&self, number: u64) -> Result<()> {
        self.shared.memory()?.check()?;
        self.log().map_or(Ok(()), |log| log.wait(number))
    }

    /// Calls `then` when all changes up to this number are durable, or cannot become so: from another thread,
    /// or at once.
    pub fn when_durable(&self, number: u64, then: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        self.shared.memory()?.check()?;
        match self.log() {
            Some(log) => log.when_durable(number, then),
            None => then(Ok(())),
        }
        Ok(())
    }

    /// When changes are durable: as far as the owner, which this handle must be of, is concerned.
    pub fn durability(&self) -> Result<Durability> {
        self.shared.memory()?;
        Ok(self.log().map_or(Durability::None, Log::durability))
    }

    /// How long the log is, for the owner; `None` where there is none.
    pub fn log_extent(&self) -> Option<Extent> {
        self.log().map(Log::extent)
    }
}
