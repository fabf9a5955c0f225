//! Making an index: replay the log into a Robin Hood table, then count and write the header.
//!
//! Whoever is farther from home keeps the slot, and among equals whoever came first: a new key goes behind those that want
//! the same slot, and everything from there to the next empty slot moves right. So keys that want the same slot lie in the
//! order in which they came to life, whatever was displaced before. That is our rule; C has another,
//! if it is asked for ([`Ties`]).
//!
//! The walk and the hole-closing both end after `capacity` steps, because a table that is brought up to date comes from
//! outside and may be damaged.

use super::counts::Counts;
use super::header::{HashSize, IndexHeader};
use super::probe::Probe;
use super::slot::{Shape, Slot};
use crate::fault;
use crate::log::Log;
use crate::log::entry::{Address, EntryKind};
use crate::log::header::LogHeader;
use crate::log::lookup::{Lookup, Seen};
use crate::log::named;
use crate::{Compression, Entry};
use hammerspace_error::{Doing, Error, Kind, Result};
use std::fmt::Display;
use std::path::Path;

/// How to make an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexOptions {
    /// Bytes of a hash. By default 4, and 8 from 2^23 slots on.
    pub hash_size: Option<HashSize>,
    /// Seed of the hash function. By default drawn at random.
    pub seed: Option<u32>,
}

/// Slots for so many puts: an odd number, as Spotify's writers have it.
pub(crate) fn capacity_for(puts: u64, slots_per_ten_puts: u64) -> u64 {
    (puts / 10).saturating_mul(slots_per_ten_puts).saturating_add(puts % 10 * slots_per_ten_puts / 10) | 1
}

/// What Spotify's writers give ten puts in a fresh index.
pub(crate) const FRESH: u64 = 13;

/// The header's `num_puts`, if the log's bytes justify a table of that size; else the puts counted.
pub(crate) fn trusted_puts<B: AsRef<[u8]>>(log: &Log<B>) -> Result<u64> {
    let header = log.header();
    if header.num_puts <= header.data_end {
        return Ok(header.num_puts);
    }
    let (mut entries, mut puts) = (log.entries(), 0);
    while let Some(entry) = entries.lend()? {
        puts += u64::from(entry.is_put());
    }
    Ok(puts)
}

/// Makes the index of the log's bytes up to `end`, which hold `puts` puts, one entry after the other.
#[cfg(test)]
pub(crate) fn build_in_sequence<B: AsRef<[u8]>>(
    log: &Log<B>,
    end: u64,
    puts: u64,
    capacity: u64,
    options: &IndexOptions,
) -> Result<Vec<u8>> {
    let hash_size = options.hash_size.unwrap_or(hash_size_for(capacity));
    let shape = shape_for(log.header(), end, hash_size, capacity as usize);
    let mut builder = Builder::new(log, end, shape, seed_of(options)?, Ties::ByAge)?;
    builder.replay(Address::FIRST, puts)?;
    builder.finish()
}

/// The seed asked for, or one drawn at random.
pub(crate) fn seed_of(options: &IndexOptions) -> Result<u32> {
    options.seed.map_or_else(|| getrandom::u32().map_err(std::io::Error::from).doing("draw a hash seed"), Ok)
}

/// The hashes that a table of this many slots gets, where nobody asked for others.
pub(crate) fn hash_size_for(capacity: u64) -> HashSize {
    if capacity < 1 << 23 { HashSize::Four } else { HashSize::Eight }
}

/// Header and table, all zeros.
fn empty_image(shape: Shape) -> Result<Vec<u8>> {
    let mut image = room_for(shape)?;
    image.resize(IndexHeader::SIZE + shape.capacity * shape.slot_size(), 0);
    Ok(image)
}

/// Memory for header and table. So many bytes may not be to be had.
pub(crate) fn room_for(shape: Shape) -> Result<Vec<u8>> {
    let len = shape.table_len().unwrap_or(usize::MAX).saturating_add(IndexHeader::SIZE);
    let mut image = Vec::new();
    image.try_reserve_exact(len).map_err(|_| {
        let finding = format!("there is no memory for an index of {} slots, {len} bytes", shape.capacity);
        Error::new(Kind::Full, finding).remedy("raise the memory limit")
    })?;
    Ok(image)
}

/// The narrowest addresses that reach every entry before `end`.
pub(crate) fn shape_for(header: &LogHeader, end: u64, hash_size: HashSize, capacity: usize) -> Shape {
    let block_bits = match header.compression {
        // Java from 22 on assumes 0 here, and finds no key otherwise.
        Compression::None => 0,
        _ => bits_for(header.max_entries_per_block),
    };
    let address_size = if end < 1 << (32 - block_bits) { 4 } else { 8 };
    Shape::new(hash_size, address_size, block_bits, capacity)
}

/// The significant bits of `count`, as C has it; 31 at most.
fn bits_for(count: u32) -> u32 {
    (u32::BITS - count.leading_zeros()).min(31)
}

/// What an index says about itself: of the log up to `end`, with a table of this shape.
pub(crate) fn header_for(
    log: &LogHeader,
    end: u64,
    shape: &Shape,
    seed: u32,
    garbage_size: u64,
    counts: &Counts,
) -> IndexHeader {
    IndexHeader {
        minor_version: IndexHeader::MINOR_VERSION,
        file_identifier: log.file_identifier,
        hash_seed: seed,
        data_end: end,
        max_key_len: log.max_key_len,
        max_value_len: log.max_value_len,
        num_puts: log.num_puts,
        garbage_size,
        num_entries: counts.entries,
        address_size: shape.address_size as u32,
        hash_size: shape.hash_size,
        hash_capacity: shape.capacity as u64,
        max_displacement: counts.max_displacement,
        entry_block_bits: shape.block_bits,
        hash_collisions: counts.collisions,
        total_displacement: counts.total_displacement,
    }
}

/// Who comes first among keys that are equally far from home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The one that came to life first: the table does not depend on the order of insertion.
    ByAge,
    /// The one that has not been moved, as in C.
    AsC,
}

/// A table in the making, with room for the header before it.
pub(crate) struct Builder<'a, B> {
    pub(crate) log: &'a Log<B>,
    /// How much of the log the index will cover.
    pub(crate) end: u64,
    pub(crate) shape: Shape,
    pub(crate) seed: u32,
    pub(crate) ties: Ties,
    pub(crate) image: Vec<u8>,
    pub(crate) garbage_size: u64,
    pub(crate) num_entries: u64,
    /// What the old header says of the table, for as long as no slot has moved. Counting anew is linear in the table, and
    /// an update may change a single address.
    pub(crate) counts: Option<Counts>,
    /// The file that the table was copied from, if it was and if it has a name.
    pub(crate) source: Option<&'a Path>,
}

impl<'a, B: AsRef<[u8]>> Builder<'a, B> {
    /// An empty table.
    pub(crate) fn new(log: &'a Log<B>, end: u64, shape: Shape, seed: u32, ties: Ties) -> Result<Self> {
        let image = empty_image(shape)?;
        Ok(Self { log, end, shape, seed, ties, image, garbage_size: 0, num_entries: 0, counts: None, source: None })
    }

    /// Applies the log's entries from `from` on, among which there are `puts` puts.
    pub(crate) fn replay(&mut self, from: Address, puts: u64) -> Result<()> {
        let log = self.log;
        let mut entries = log.entries_between(from, self.end)?;
        let mut lookup = Lookup::new(log.data(self.end), log.header());
        let mut left = puts;
        while let Some(entry) = entries.lend()? {
            match entry.kind {
                EntryKind::Put => {
                    left = left.checked_sub(1).ok_or_else(|| too_many_puts(log, entry.address))?;
                    self.put(&entry, &mut lookup)?;
                }
                EntryKind::Delete => self.delete(&entry, &mut lookup)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, entry: &Entry<'_>, lookup: &mut Lookup<'a>) -> Result<()> {
        let hash = self.shape.hash_size.hash(&entry.key, self.seed);
        let address = self.shape.pack(entry.address).ok_or_else(|| address_too_wide(self.log, entry.address))?;
        match self.find(hash, &entry.key, lookup)? {
            Some((at, dead)) => {
                self.bury(dead);
                self.set(at, Slot { hash, address });
                Ok(())
            }
            None => self.insert(Slot { hash, address }),
        }
    }

    fn delete(&mut self, entry: &Entry<'_>, lookup: &mut Lookup<'a>) -> Result<()> {
        self.bury(entry.encoded_len());
        let hash = self.shape.hash_size.hash(&entry.key, self.seed);
        if let Some((at, dead)) = self.find(hash, &entry.key, lookup)? {
            self.bury(dead);
            self.remove(at)?;
        }
        Ok(())
    }

    /// Saturating, as an old index may say what it likes.
    fn bury(&mut self, dead: u64) {
        self.garbage_size = self.garbage_size.saturating_add(dead);
    }

    /// The slot of `key`, and the encoded bytes of the put it points to.
    fn find(&self, hash: u64, key: &[u8], lookup: &mut Lookup<'a>) -> Result<Option<(usize, u64)>> {
        for (at, slot) in Probe::new(self.table(), self.shape, hash) {
            let address = self.shape.unpack(slot.address);
            if !(LogHeader::SIZE as u64..self.end).contains(&address.offset) {
                return Err(self.damaged(at, format!("points to {}, outside the log's data", address.offset)));
            }
            match lookup.put_at(address, key).map_err(|error| named(error, self.log.file()))? {
                Seen::Put(put) => return Ok(Some((at, put.head.entry_len()))),
                Seen::Other => {}
                Seen::Delete => return Err(self.damaged(at, format!("points to a delete at {}", address.offset))),
            }
        }
        Ok(None)
    }

    /// Robin Hood: the carried slot takes the place of the first one that is nearer home, and that one is carried on.
    pub(crate) fn insert(&mut self, mut carried: Slot) -> Result<()> {
        self.counts = None;
        let mut at = self.shape.wanted(carried.hash);
        let (mut displacement, mut moves) = (0, false);
        for _ in 0..self.shape.capacity {
            let resident = self.get(at);
            if resident.is_empty() {
                self.set(at, carried);
                self.num_entries += 1;
                return Ok(());
            }
            let theirs = self.shape.displacement(at, resident.hash);
            let goes_first = displacement == theirs && moves && self.ties == Ties::ByAge;
            if displacement > theirs || goes_first {
                self.set(at, carried);
                (carried, displacement, moves) = (resident, theirs, true);
            }
            (at, displacement) = (self.shape.after(at), displacement + 1);
        }
        Err(self.damaged(at, "and all others are occupied"))
    }

    /// Empties a slot and moves what is displaced behind it one nearer home.
    fn remove(&mut self, mut hole: usize) -> Result<()> {
        self.counts = None;
        for _ in 1..self.shape.capacity {
            let next = self.shape.after(hole);
            let slot = self.get(next);
            if slot.is_empty() || self.shape.wanted(slot.hash) == next {
                break;
            }
            self.set(hole, slot);
            hole = next;
        }
        self.set(hole, Slot::EMPTY);
        self.num_entries = self.num_entries.checked_sub(1).ok_or_else(|| self.damaged(hole, "was not counted"))?;
        Ok(())
    }

    /// Takes the statistics and completes the image.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        let counts = self.counts.map_or_else(|| self.count(), Ok)?;
        let header = header_for(self.log.header(), self.end, &self.shape, self.seed, self.garbage_size, &counts);
        self.image[..IndexHeader::SIZE].copy_from_slice(&header.encode());
        Ok(self.image)
    }

    fn count(&self) -> Result<Counts> {
        let mut broken = None;
        let counts = Counts::of(self.table(), &self.shape, |at, finding| {
            broken.get_or_insert_with(|| self.damaged(at, finding));
        });
        if counts.entries != self.num_entries {
            let finding = format!("begins a table of {} entries, not {}", counts.entries, self.num_entries);
            broken.get_or_insert_with(|| self.damaged(0, finding));
        }
        broken.map_or(Ok(counts), Err)
    }

    fn table(&self) -> &[u8] {
        &self.image[IndexHeader::SIZE..]
    }

    fn get(&self, at: usize) -> Slot {
        self.shape.get(self.table(), at)
    }

    fn set(&mut self, at: usize, slot: Slot) {
        self.shape.set(&mut self.image[IndexHeader::SIZE..], at, slot);
    }

    /// Only a table that came from outside can get here.
    #[cold]
    fn damaged(&self, at: usize, finding: impl Display) -> Error {
        named(fault::index(self.shape.offset(at), format!("slot {at} {finding}")), self.source)
    }
}

#[cold]
pub(crate) fn too_many_puts<B: AsRef<[u8]>>(log: &Log<B>, at: Address) -> Error {
    let finding = format!("a put more than the header's num_puts {}", log.header().num_puts);
    named(fault::log(at.offset as usize, finding), log.file())
}

#[cold]
pub(crate) fn address_too_wide<B: AsRef<[u8]>>(log: &Log<B>, at: Address) -> Error {
    let Address { offset, index } = at;
    let most = log.header().max_entries_per_block;
    let finding = format!("entry {index} of a block, but the header's max_entries_per_block is {most}");
    named(fault::log(offset as usize, finding), log.file())
}
