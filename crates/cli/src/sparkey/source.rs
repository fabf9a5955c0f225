//! What lookups and dumps go to: a pair, or a directory of shards.

use std::borrow::Cow;
use std::path::Path;

use hammerspace_error::Result;
use hammerspace_os::Map;
use hammerspace_sparkey::{Entry, Shards, Table};
use hammerspace_tables::{Pair, open_shards};

pub(super) enum Source {
    Pair(Box<Table<Map, Map>>),
    Shards(Shards<Map, Map>),
}

impl Source {
    /// Opens the shards in a directory, or the pair of an index.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            open_shards(path).map(Self::Shards)
        } else {
            Ok(Self::Pair(Pair::of_index(path)?.open()?.into()))
        }
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        match self {
            Self::Pair(table) => table.get(key),
            Self::Shards(shards) => shards.get(key),
        }
    }

    /// Live entries.
    pub(super) fn entries(&self) -> Box<dyn Iterator<Item = Result<Entry<'_>>> + '_> {
        match self {
            Self::Pair(table) => Box::new(table.iter()),
            Self::Shards(shards) => Box::new(shards.iter()),
        }
    }
}
