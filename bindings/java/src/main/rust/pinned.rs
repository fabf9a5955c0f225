//! What stays as it is while it is read: a version of a space, or a Sparkey table.

use std::borrow::Cow;
use std::sync::Arc;

use hammerspace::sparkey::Table;
use hammerspace::{Pair, Result, Snapshot};
use hammerspace_os::Map;

#[derive(Clone)]
pub(crate) enum Pinned {
    Snapshot(Snapshot),
    Table(Arc<Table<Map, Map>>),
}

/// All pairs of one, in the order in which keys were last written.
pub(crate) type Pairs<'a> = Box<dyn Iterator<Item = Result<Pair<'a>>> + Send + 'a>;

impl Pinned {
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get(key),
            Self::Table(table) => table.get(key),
        }
    }

    #[inline]
    pub(crate) fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get_with(key, show),
            Self::Table(table) => table.get_with(key, show),
        }
    }

    pub(crate) fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.get_many(keys),
            Self::Table(table) => table.get_many(keys),
        }
    }

    pub(crate) fn contains(&self, key: &[u8]) -> Result<bool> {
        match self {
            Self::Snapshot(snapshot) => snapshot.contains(key),
            Self::Table(table) => table.contains(key),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Snapshot(snapshot) => snapshot.len(),
            Self::Table(table) => table.len(),
        }
    }

    /// The number of the version. A table has none.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Snapshot(snapshot) => snapshot.number(),
            Self::Table(_) => None,
        }
    }

    pub(crate) fn pairs(&self) -> Pairs<'_> {
        match self {
            Self::Snapshot(snapshot) => Box::new(snapshot.iter()),
            Self::Table(table) => Box::new(table.iter().map(|entry| entry.map(|entry| (entry.key, entry.value)))),
        }
    }
}
