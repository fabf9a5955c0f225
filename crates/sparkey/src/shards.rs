//! Shards: tables that divide the keys among them by a hash, as Scio writes them.
//!
//! ```text
//! key ── hash ──► shard = hash mod count, never negative ──► Table of that shard
//! ```
//! What always holds:
//! 1. Every shard is there, empty ones too: a table that is missing would look like keys that are missing.
//! 2. One hash was used for all keys. Nothing in the files says which of the two, but the keys do: each lies in the shard
//!    that the right hash says, and the wrong one is right by chance only, once in `count` times.
//!
//! Format page: `docs/format/sparkey-shards.md`.

use crate::fault;
use crate::index::bulk::Effort;
use crate::log::named;
use crate::report::Report;
use crate::table::Table;
use hammerspace_bytes::murmur3;
use hammerspace_error::{Error, Kind, Result};
use std::borrow::Cow;
use std::io::{Read, Seek, Write};

/// What the keys were to the writer, and so the hash that tells their shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShardKeys {
    /// Bytes: MurmurHash3_x86_32 of them.
    #[default]
    Bytes,
    /// Strings of Scala or Java, kept as UTF-8: Scala's `stringHash` of their UTF-16.
    Strings,
}

impl ShardKeys {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Bytes, Self::Strings];
    /// The seed of either hash.
    pub const SEED: u32 = 1;
    /// The most shards there can be: Scio counts them in a Java `short`.
    pub const COUNT_MAX: usize = i16::MAX as usize;

    /// Their name in words: `bytes`, `strings`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Strings => "strings",
        }
    }

    /// The hash of a key; `None` for bytes that are no UTF-8, and therefore no string.
    pub fn hash(self, key: &[u8]) -> Option<u32> {
        match self {
            Self::Bytes => Some(murmur3::x86_32(key, Self::SEED)),
            Self::Strings => Some(murmur3::utf16_32(std::str::from_utf8(key).ok()?.encode_utf16(), Self::SEED)),
        }
    }

    /// Which of `count` shards a key lies in, from 0 on.
    pub fn shard_of(self, key: &[u8], count: usize) -> Option<usize> {
        debug_assert!((1..=Self::COUNT_MAX).contains(&count));
        // Java's hashes are signed, and its floorMod is never negative.
        let hash = self.hash(key)?.cast_signed() as isize;
        Some(hash.rem_euclid(count.cast_signed()).cast_unsigned())
    }
}

/// Tables that divide the keys among them, read as one.
#[derive(Clone, Debug)]
pub struct Shards<L, I> {
    tables: Vec<Table<L, I>>,
    keys: ShardKeys,
}

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Shards<L, I> {
    /// Puts all shards together, in their order. Reads keys until they tell the hash, as a rule two or three.
    pub fn join(tables: Vec<Table<L, I>>) -> Result<Self> {
        if !(1..=ShardKeys::COUNT_MAX).contains(&tables.len()) {
            let finding = format!("{} shards are not 1 to {}", tables.len(), ShardKeys::COUNT_MAX);
            return Err(fault::invalid(finding));
        }
        let keys = told_by(&tables)?;
        Ok(Self { tables, keys })
    }

    /// The shards, in their order.
    pub fn tables(&self) -> &[Table<L, I>] {
        &self.tables
    }

    /// What the keys were hashed as. Where too few keys are there to tell, either is right.
    pub fn keys(&self) -> ShardKeys {
        self.keys
    }

    /// Live keys. Linear in the shards.
    pub fn len(&self) -> u64 {
        self.tables.iter().map(Table::len).fold(0, u64::saturating_add)
    }

    /// Whether there is no live key.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(Table::is_empty)
    }

    /// The value of `key`. A hash more than a lookup in a table.
    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        self.table_of(key).map_or(Ok(None), |table| table.get(key))
    }

    /// Whether `key` is live.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        self.table_of(key).map_or(Ok(false), |table| table.contains(key))
    }

    /// The values of many keys, in their order. Each shard is asked once for all of its keys.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        let count = self.tables.len();
        let shard_of = |key: &K| self.keys.shard_of(key.as_ref(), count);
        let mut order: Vec<(usize, usize)> =
            keys.iter().enumerate().filter_map(|(at, key)| Some((shard_of(key)?, at))).collect();
        order.sort_unstable();
        let mut values = vec![None; keys.len()];
        for batch in order.chunk_by(|left, right| left.0 == right.0) {
            let asked: Vec<&[u8]> = batch.iter().map(|(_, at)| keys[*at].as_ref()).collect();
            let found = self.tables[batch[0].0].get_many(&asked)?;
            for ((_, at), value) in batch.iter().zip(found) {
                values[*at] = value;
            }
        }
        Ok(values)
    }

    /// Live entries, shard by shard, in the order of each log.
    pub fn iter(&self) -> impl Iterator<Item = Result<crate::Entry<'_>>> {
        self.tables.iter().flat_map(Table::iter)
    }

    /// Reads everything, and says all that is wrong: with each shard, and with keys that lie in another's. Linear; as
    /// [`Table::verify`].
    pub fn verify(&self) -> Report
    where
        L: Sync,
    {
        Report::in_memory(|effort, scratch| self.verify_within(effort, scratch))
    }

    /// The same within bounds, as [`Table::verify_within`].
    pub fn verify_within<S>(&self, effort: &Effort, scratch: impl Fn() -> Result<S> + Sync) -> Result<Report>
    where
        L: Sync,
        S: Read + Write + Seek + Send,
    {
        let mut report = Report::default();
        for (number, table) in self.tables.iter().enumerate() {
            let found = table.verify_within(effort, &scratch)?;
            let is_clean = found.is_clean();
            report.absorb(found);
            // What is wrong with a table may be what hides its keys; nothing is said twice.
            if is_clean {
                self.verify_places(number, table, &mut report);
            }
        }
        Ok(report)
    }

    fn verify_places(&self, number: usize, table: &Table<L, I>, report: &mut Report) {
        for entry in table.iter().flatten() {
            if self.keys.shard_of(&entry.key, self.tables.len()) != Some(number) {
                let offset = entry.address.offset;
                report.add(|| named(misplaced(number, self.tables.len()).at(offset), table.log().file()));
            }
        }
    }

    fn table_of(&self, key: &[u8]) -> Option<&Table<L, I>> {
        Some(&self.tables[self.keys.shard_of(key, self.tables.len())?])
    }
}

/// The hash that puts the keys where they lie. Each key strikes out the hashes that would put it elsewhere.
fn told_by<L: AsRef<[u8]>, I: AsRef<[u8]>>(tables: &[Table<L, I>]) -> Result<ShardKeys> {
    let count = tables.len();
    if count == 1 {
        return Ok(ShardKeys::Bytes);
    }
    let mut left = ShardKeys::ALL.to_vec();
    for (number, table) in tables.iter().enumerate() {
        for entry in table {
            let entry = entry?;
            left.retain(|keys| keys.shard_of(&entry.key, count) == Some(number));
            match left[..] {
                [] => return Err(named(misplaced(number, count).at(entry.address.offset), table.log().file())),
                [only] => return Ok(only),
                _ => {}
            }
        }
    }
    // All keys agree with both, and no other key is there to be found.
    Ok(ShardKeys::Bytes)
}

#[cold]
fn misplaced(number: usize, count: usize) -> Error {
    Error::new(Kind::Corrupt, format!("a key of another shard lies in shard {number} of {count}"))
        .remedy("see that the files have the names they were written under, or write the shards anew")
}
