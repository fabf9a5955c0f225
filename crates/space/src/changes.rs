//! What a writer has changed, for those who ask before it is published.
//!
//! A writer appends and forgets; only one who asks makes it remember. Then its own part of the log is read back, once, and
//! what follows is noted here as it is written.

use std::collections::HashMap;

use hammerspace_error::Result;
use hammerspace_os::{File, Map};
use hammerspace_sparkey::{Address, Log};

/// Keys that were put or deleted, each with the value it has now, if any.
#[derive(Default)]
pub(crate) struct Changes(HashMap<Box<[u8]>, Option<Box<[u8]>>>);

impl Changes {
    /// Reads a flushed log from `start` on, where an entry or a block begins.
    pub(crate) fn read(log: &File, start: u64) -> Result<Self> {
        let opened = Log::open(Map::new(log)?).map_err(|error| error.file(log.path()))?.named(log.path());
        let mut changes = Self::default();
        for entry in opened.entries_from(Address { offset: start, index: 0 })? {
            let entry = entry?;
            changes.note(&entry.key, entry.is_put().then_some(&*entry.value));
        }
        Ok(changes)
    }

    pub(crate) fn note(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.0.insert(key.into(), value.map(Into::into));
    }

    /// `None` where the key was left alone.
    #[expect(clippy::option_option, reason = "left alone, deleted and put are three things")]
    pub(crate) fn of(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.0.get(key).map(Option::as_deref)
    }
}
