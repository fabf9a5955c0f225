//! What a writer has changed, for those who ask before it is published.
//!
//! A writer appends and forgets; only one who asks makes it remember. Then its own part of the log is read back, once, and
//! what follows is noted here as it is written.

use std::collections::HashMap;

use hammerspace_error::Result;
use hammerspace_os::{File, Map};
use hammerspace_sparkey::{Address, Log};

/// Keys that were put or deleted.
#[derive(Default)]
pub(crate) struct Changes {
    last: HashMap<Box<[u8]>, Change>,
    count: u64,
}

/// What was done to a key last.
struct Change {
    /// Counts up.
    at: u64,
    /// `None`: it was deleted.
    value: Option<Box<[u8]>>,
}

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
        self.count += 1;
        self.last.insert(key.into(), Change { at: self.count, value: value.map(Into::into) });
    }

    /// `None` where the key was left alone.
    #[expect(clippy::option_option, reason = "left alone, deleted and put are three things")]
    pub(crate) fn of(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.last.get(key).map(|change| change.value.as_deref())
    }

    /// Every key that was changed, and whether it is there now.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.last.iter().map(|(key, change)| (&**key, change.value.is_some()))
    }

    /// The keys that are there now, in the order in which they were put last.
    pub(crate) fn put(&self) -> impl Iterator<Item = &[u8]> {
        let mut put: Vec<_> = self.last.iter().filter(|(_, change)| change.value.is_some()).collect();
        put.sort_unstable_by_key(|(_, change)| change.at);
        put.into_iter().map(|(key, _)| &**key)
    }
}
