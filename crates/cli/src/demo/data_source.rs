//! What a worker answers from: a `HashMap` of its own, or the space that all share. Both are asked in the same words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;

use hammerspace::{Snapshot, Space};
use hammerspace_error::Result;
use serde::{Deserialize, Serialize};

use super::data::Data;

/// Where a worker gets its data.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Source {
    /// It reads the files, as a service does that has them in a map.
    Files(Data),
    /// It opens the space.
    Space(PathBuf),
}

type Map = HashMap<Vec<u8>, Vec<u8>>;

/// Data that can be asked.
pub(super) enum DataSource {
    Own(Map),
    Shared(Space),
}

/// One version of the data, for the reads of one request.
pub(super) enum Version<'a> {
    Own(&'a Map),
    Shared(Snapshot),
}

impl DataSource {
    /// Brings the data to where it can be asked.
    pub(super) fn open(source: &Source) -> Result<Self> {
        match source {
            Source::Files(data) => load(data).map(Self::Own),
            Source::Space(path) => Space::open(path).map(Self::Shared),
        }
    }

    /// Reads every key and value, so that every page that may ever be needed is in memory and counts.
    pub(super) fn touch(&self) -> Result<()> {
        match self {
            Self::Own(map) => map.iter().for_each(|pair| touch(pair.0, pair.1)),
            Self::Shared(space) => {
                for pair in &space.snapshot() {
                    let (key, value) = pair?;
                    touch(&key, &value);
                }
            }
        }
        Ok(())
    }

    /// The newest version.
    #[inline]
    pub(super) fn newest(&self) -> Result<Version<'_>> {
        match self {
            Self::Own(map) => Ok(Version::Own(map)),
            Self::Shared(space) => {
                space.refresh()?;
                Ok(Version::Shared(space.snapshot()))
            }
        }
    }
}

impl Version<'_> {
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        match self {
            Self::Own(map) => Ok(map.get(key).map(|value| Cow::Borrowed(value.as_slice()))),
            Self::Shared(snapshot) => snapshot.get(key),
        }
    }
}

fn load(data: &Data) -> Result<Map> {
    let mut map = Map::new();
    data.read(&mut |key, value| {
        map.insert(key.into(), value.into());
        Ok(())
    })?;
    Ok(map)
}

fn touch(key: &[u8], value: &[u8]) {
    black_box((
        key.iter().map(|byte| u64::from(*byte)).sum::<u64>(),
        value.iter().map(|byte| u64::from(*byte)).sum::<u64>(),
    ));
}
