//! What the workers are asked for: every key of the space, in random order, in a file.
//!
//! ```text
//! | length, u32 | key | length, u32 | key | …      a request is the next 20 of them; after the last comes the first
//! ```
//! A worker that drew keys from a list of its own would hold a second copy of them, and we would measure that. So keys
//! reach it as they reach a server: from outside, through a system call and a small buffer. Each worker starts at a
//! different place and goes round, so that all of them read at random over all keys. The file is no part of the data,
//! and nobody maps it: it counts in neither half.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hammerspace::Snapshot;
use hammerspace_error::{Doing, Result};
use serde::{Deserialize, Serialize};

/// Reads per request. A worker takes the newest version before each request, not before each read.
pub(super) const READS_PER_REQUEST: usize = 20;

/// The order of the keys is random, and the same in every run.
const SEED: u64 = 2014;

/// Where a worker begins.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Place {
    file: PathBuf,
    offset: u64,
}

/// Writes all keys to `file`, and gives a place to begin for each worker.
pub(super) fn write(snapshot: &Snapshot, file: &Path, workers: usize) -> Result<Vec<Place>> {
    let mut keys = snapshot.iter().map(|pair| Ok(pair?.0)).collect::<Result<Vec<_>>>()?;
    fastrand::Rng::with_seed(SEED).shuffle(&mut keys);
    let mut to = BufWriter::new(File::create(file).doing(WRITING)?);
    let (mut offset, mut places) = (0, Vec::new());
    for (index, key) in keys.iter().enumerate() {
        while index >= places.len() * keys.len() / workers && places.len() < workers {
            places.push(Place { file: file.into(), offset });
        }
        to.write_all(&(key.len() as u32).to_le_bytes()).and_then(|()| to.write_all(key)).doing(WRITING)?;
        offset += 4 + key.len() as u64;
    }
    to.flush().doing(WRITING)?;
    Ok(places)
}

const WRITING: &str = "write the keys to ask for";
const READING: &str = "read the keys to ask for";

/// Requests without end.
pub(super) struct Traffic {
    keys: BufReader<File>,
    request: [Vec<u8>; READS_PER_REQUEST],
}

impl Traffic {
    pub(super) fn from(place: &Place) -> Result<Self> {
        let mut keys = BufReader::new(File::open(&place.file).doing(READING)?);
        keys.seek(SeekFrom::Start(place.offset)).doing(READING)?;
        Ok(Self { keys, request: Default::default() })
    }

    /// The keys of the next request.
    pub(super) fn request(&mut self) -> Result<&[Vec<u8>]> {
        for key in &mut self.request {
            if self.keys.fill_buf().doing(READING)?.is_empty() {
                self.keys.rewind().doing(READING)?;
            }
            let mut len = [0; 4];
            self.keys.read_exact(&mut len).doing(READING)?;
            key.resize(u32::from_le_bytes(len) as usize, 0);
            self.keys.read_exact(key).doing(READING)?;
        }
        Ok(&self.request)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hammerspace::Space;

    use super::*;

    #[test]
    fn each_worker_goes_round_all_keys_from_a_place_of_its_own() {
        let scratch = tempfile::tempdir().unwrap();
        let space = Space::create(scratch.path()).unwrap();
        let mut writer = space.writer().unwrap();
        (0..100).for_each(|number| writer.put(format!("key {number}"), "value").unwrap());
        writer.publish().unwrap();
        space.refresh().unwrap();

        let places = write(&space.snapshot(), &scratch.path().join("traffic"), 3).unwrap();
        let mut first_keys = Vec::new();
        for place in &places {
            let mut traffic = Traffic::from(place).unwrap();
            let mut asked = BTreeMap::<Vec<u8>, u32>::new();
            for request in 0..10 {
                let keys = traffic.request().unwrap();
                if request == 0 {
                    first_keys.push(keys[0].clone());
                }
                for key in keys {
                    *asked.entry(key.clone()).or_default() += 1;
                }
            }
            assert!(asked.len() == 100 && asked.values().all(|times| *times == 2), "{asked:?}");
        }
        first_keys.dedup();
        assert_eq!(first_keys.len(), 3, "{first_keys:?}");
    }
}
