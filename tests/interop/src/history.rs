//! Random histories, and the twin that knows what they come to.

use std::collections::BTreeMap;

use fastrand::Rng;
use hammerspace_sparkey::{Compression, HashSize};

use crate::{Contents, Format};

/// One entry of a log.
#[derive(Clone, Debug)]
pub enum Change {
    /// Gives a key a value.
    Put(Vec<u8>, Vec<u8>),
    /// Takes a key away, if it is there.
    Delete(Vec<u8>),
}

fn put(key: &str, value: &str) -> Change {
    Change::Put(key.into(), value.into())
}

/// What is written into one pair: first by one peer, then by another.
#[derive(Clone, Debug)]
pub struct Case {
    /// As it is called in messages; a random one carries its seed.
    pub name: String,
    /// What the log starts with.
    pub first: Vec<Change>,
    /// What is appended.
    pub second: Vec<Change>,
    /// Bytes per block before compression, where there is any.
    pub block_size: u32,
    /// Bytes of a hash.
    pub hash_size: HashSize,
}

impl Case {
    /// The edges that random histories miss.
    pub fn edges() -> Vec<Self> {
        let long = |key_len: usize, value_len: usize| Change::Put(vec![b'k'; key_len], vec![b'v'; value_len]);
        vec![
            Self::edge("empty", 10, HashSize::Four, vec![], vec![]),
            Self::edge("a full table", 64, HashSize::Eight, vec![put("k", "v")], vec![put("l", "w"), put("m", "x")]),
            Self::edge("nothing left", 10, HashSize::Four, vec![put("k", "v")], vec![Change::Delete(b"k".to_vec())]),
            Self::edge("empty key, empty value", 10, HashSize::Eight, vec![put("", "")], vec![put("", "now more")]),
            Self::edge("lengths of one byte", 10, HashSize::Four, vec![long(126, 127)], vec![long(126, 126)]),
            Self::edge("lengths of two bytes", 64, HashSize::Four, vec![long(127, 128)], vec![long(128, 16383)]),
            Self::edge(
                "lengths of three bytes",
                4096,
                HashSize::Eight,
                vec![long(16383, 16384)],
                vec![long(16384, 300_000)],
            ),
        ]
    }

    fn edge(name: &str, block_size: u32, hash_size: HashSize, first: Vec<Change>, second: Vec<Change>) -> Self {
        Self { name: name.into(), first, second, block_size, hash_size }
    }

    /// A history drawn from a seed: puts, overwrites, deletes of keys that are there and of keys that never were.
    pub fn random(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let block_size = [10, 64, 1000, 4096][rng.usize(..4)];
        let hash_size = if rng.bool() { HashSize::Four } else { HashSize::Eight };
        let mut drawn =
            Drawn { key_count: rng.u32(1..60), value_len_max: [20, 300, 3000][rng.usize(..3)], put_len_max: 0, rng };
        let (first, second) = (drawn.changes(), drawn.changes());
        Self { name: format!("seed {seed}"), first, second, block_size, hash_size }
    }

    /// The format that this case takes with one compression.
    pub fn format(&self, compression: Compression) -> Format {
        Format { compression, block_size: self.block_size, hash_size: self.hash_size }
    }

    /// Every key of the case, and some that it does not have.
    pub fn probes(&self) -> Vec<Vec<u8>> {
        let keys = self.first.iter().chain(&self.second).map(|change| match change {
            Change::Put(key, _) | Change::Delete(key) => key.clone(),
        });
        keys.chain([b"".to_vec(), b"absent".to_vec(), vec![0xff; 200]]).collect()
    }
}

/// A history in the drawing.
struct Drawn {
    rng: Rng,
    key_count: u32,
    value_len_max: usize,
    /// The longest key put so far. sparkey-java cannot read a longer delete from C, and does not write one.
    put_len_max: usize,
}

impl Drawn {
    fn changes(&mut self) -> Vec<Change> {
        (0..self.rng.usize(..80)).map(|_| self.change()).collect()
    }

    fn change(&mut self) -> Change {
        let key = self.key();
        if self.rng.u8(..4) == 0 && key.len() <= self.put_len_max {
            return Change::Delete(key);
        }
        self.put_len_max = self.put_len_max.max(key.len());
        let len = self.rng.usize(..=self.value_len_max);
        // Half of a value repeats itself, so that compression has something to do.
        let value = (0..len).map(|at| if at % 2 == 0 { b'=' } else { self.rng.u8(..) }).collect();
        Change::Put(key, value)
    }

    /// One of `key_count` keys, of very different lengths, with bytes that are no text.
    fn key(&mut self) -> Vec<u8> {
        let number = self.rng.u32(..self.key_count);
        let mut key = number.to_be_bytes().to_vec();
        key.resize(4 + (number as usize * 37) % 200, 0xf0);
        key
    }
}

/// What a log and its index must hold: the same history, kept in a plain list.
#[derive(Clone, Debug, Default)]
pub struct Twin {
    live: Vec<(Vec<u8>, Vec<u8>)>,
    header: BTreeMap<String, u64>,
}

impl Twin {
    /// Of a pair in this format that holds these changes.
    pub fn of(format: Format, changes: &[Change]) -> Self {
        let mut twin = Self::default();
        for name in ["num_puts", "num_deletes", "put_size", "delete_size", "max_key_len", "max_value_len"] {
            twin.header.insert(name.into(), 0);
        }
        twin.header.insert("compression_type".into(), u64::from(format.compression.code()));
        twin.header.insert("hash_size".into(), format.hash_size.bytes() as u64);
        for change in changes {
            twin.apply(change);
        }
        twin.header.insert("num_entries".into(), twin.live.len() as u64);
        twin
    }

    /// What every reader must see.
    pub fn contents(&self, probes: &[Vec<u8>]) -> Contents {
        let find = |probe| self.live.iter().find(|(key, _)| key == probe).map(|(_, value)| value.clone());
        Contents { live: self.live.clone(), found: probes.iter().map(find).collect(), header: self.header.clone() }
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Put(key, value) => {
                // Log order is the order of the last put.
                self.live.retain(|(live, _)| live != key);
                self.live.push((key.clone(), value.clone()));
                self.count(
                    "num_puts",
                    "put_size",
                    vlq_len(key.len() + 1) + vlq_len(value.len()) + key.len() + value.len(),
                );
                self.raise("max_key_len", key.len());
                self.raise("max_value_len", value.len());
            }
            Change::Delete(key) => {
                self.live.retain(|(live, _)| live != key);
                self.count("num_deletes", "delete_size", 1 + vlq_len(key.len()) + key.len());
            }
        }
    }

    fn count(&mut self, number: &str, size: &str, len: usize) {
        *self.header.get_mut(number).expect("made in `of`") += 1;
        *self.header.get_mut(size).expect("made in `of`") += len as u64;
    }

    fn raise(&mut self, name: &str, len: usize) {
        let field = self.header.get_mut(name).expect("made in `of`");
        *field = (*field).max(len as u64);
    }
}

/// Bytes of a number in groups of seven bits; written again here, so that an error in ours would show.
fn vlq_len(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).div_ceil(7).max(1) as usize
}
