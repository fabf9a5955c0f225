//! The Big Memory workload: events of 16 bytes, each appended to the value of its key. Nothing is stored, and the final value of every key
//! is known in advance, so that a store of any size can be checked by a scan.
//!
//! ```text
//! events, sorted by their key's number:   | class 1: keys with 1 event | class 2: keys with 2 events, 2 each | …
//! record i: event permutation(i)  ──▶  key number j  ──▶  key = mix(j + golden)
//! 16 bytes appended:  key (8 B, little-endian) | mix(!i) (8 B, little-endian)
//! ```
//!
//! Every arrow can be walked back, so from an event in a value one knows its record, and from the record the key it belongs to.
//!
//! Several threads share the records by [`BigMemory::share`]: each goes through a range of its own in ascending order. Then the
//! events of one share stand in ascending order in any value, and nothing else is promised.

mod mix;
mod permutation;

use std::ops::Range;

pub use mix::mix;
use mix::unmix;
use permutation::Permutation;

/// Added to a key's number before it is mixed.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Bytes of an event.
pub const EVENT: usize = 16;
/// The directory of classes has so many entries: few enough to stay in the nearest cache.
const DIRECTORY: u64 = 1 << 12;

/// A key and what is appended to its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The key.
    pub key: u64,
    /// The part of the event that tells its record.
    pub stamp: u64,
}

impl Record {
    /// The bytes that are appended.
    #[inline]
    pub fn event(self) -> [u8; EVENT] {
        let mut event = [0; EVENT];
        event[..8].copy_from_slice(&self.key.to_le_bytes());
        event[8..].copy_from_slice(&self.stamp.to_le_bytes());
        event
    }
}

/// Keys with equally many events.
#[derive(Clone, Copy, Debug)]
struct Class {
    first_event: u64,
    first_key: u64,
    size: u64,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The key is none of the workload's.
    UnknownKey,
    /// The value has another number of bytes than its key's events.
    Length {
        /// How many it is to have.
        expected: usize,
    },
    /// The event at this position is none of this key's.
    Foreign {
        /// In events from the beginning.
        at: usize,
    },
    /// The event at this position is there twice, or stands before one of the same share that came earlier.
    OutOfOrder {
        /// In events from the beginning.
        at: usize,
    },
}

/// A workload of a size.
#[derive(Clone, Debug)]
pub struct BigMemory {
    keys: u64,
    events: u64,
    permutation: Permutation,
    classes: Vec<Class>,
    /// The class of event `entry << shift`.
    directory: Vec<u16>,
    shift: u32,
}

impl BigMemory {
    /// Reads a table: lines of `events_per_key,keys`, ascending. What does not begin with a digit is a comment.
    ///
    /// # Panics
    ///
    /// If it is no such table.
    pub fn parse(table: &str, seed: u64) -> Self {
        let mut classes = Vec::new();
        let (mut keys, mut events) = (0, 0);
        for line in table.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
            let (size, count) = line.split_once(',').expect("two numbers in a line");
            let [size, count] = [size, count].map(|number| number.parse::<u64>().expect("a number"));
            assert!(classes.last().is_none_or(|last: &Class| last.size < size), "classes ascend");
            if count > 0 {
                classes.push(Class { first_event: events, first_key: keys, size });
            }
            keys += count;
            events += size * count;
        }
        assert!(events > 0, "a workload has events");
        let shift = (u64::BITS - (events - 1).leading_zeros()).saturating_sub(DIRECTORY.ilog2());
        let class_of = |event: u64| classes.partition_point(|class| class.first_event <= event) as u16 - 1;
        let directory = (0..=(events - 1) >> shift).map(|entry| class_of(entry << shift)).collect();
        Self { keys, events, permutation: Permutation::new(events, seed), classes, directory, shift }
    }

    /// How many keys there are.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// How many records there are.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The key with this number.
    #[inline]
    pub fn key(&self, ordinal: u64) -> u64 {
        mix(ordinal.wrapping_add(GOLDEN))
    }

    /// The number of a key, if it is one of the workload's.
    #[inline]
    pub fn ordinal(&self, key: u64) -> Option<u64> {
        let ordinal = unmix(key).wrapping_sub(GOLDEN);
        (ordinal < self.keys).then_some(ordinal)
    }

    /// How many events the key with this number receives.
    pub fn count(&self, ordinal: u64) -> u64 {
        self.class_of_key(ordinal).size
    }

    /// The number of the key that a record belongs to.
    #[inline]
    pub fn ordinal_of_record(&self, record: u64) -> u64 {
        let event = self.permutation.apply(record);
        let mut at = self.directory[(event >> self.shift) as usize] as usize;
        while self.classes.get(at + 1).is_some_and(|next| next.first_event <= event) {
            at += 1;
        }
        let class = &self.classes[at];
        class.first_key + (event - class.first_event) / class.size
    }

    /// A record.
    #[inline]
    pub fn record(&self, number: u64) -> Record {
        Record { key: self.key(self.ordinal_of_record(number)), stamp: mix(!number) }
    }

    /// Makes as many records as there is room for, from this one on. Faster than one at a time, as they do not wait for each other.
    pub fn fill(&self, first: u64, records: &mut [Record]) {
        for (number, record) in (first..).zip(records) {
            *record = self.record(number);
        }
    }

    /// The records of one of so many threads.
    pub fn share(&self, thread: u64, threads: u64) -> Range<u64> {
        share_start(self.events, thread, threads)..share_start(self.events, thread + 1, threads)
    }

    /// The final value of the key with this number, if all records were appended in order.
    pub fn value(&self, ordinal: u64) -> Vec<u8> {
        let key = self.key(ordinal);
        let event = |number: u64| Record { key, stamp: mix(!number) }.event();
        self.records(ordinal).into_iter().flat_map(event).collect()
    }

    /// The numbers of a key's records, ascending.
    fn records(&self, ordinal: u64) -> Vec<u64> {
        let class = self.class_of_key(ordinal);
        let first = class.first_event + (ordinal - class.first_key) * class.size;
        let mut records: Vec<u64> = (first..first + class.size).map(|event| self.permutation.invert(event)).collect();
        records.sort_unstable();
        records
    }

    /// Whether a value is what its key's is after all records were appended by so many threads, each going through its share.
    /// Takes no memory but a number for each thread.
    pub fn check(&self, key: u64, value: &[u8], threads: u64) -> Result<(), Fault> {
        let ordinal = self.ordinal(key).ok_or(Fault::UnknownKey)?;
        let expected = self.count(ordinal) as usize * EVENT;
        if value.len() != expected {
            return Err(Fault::Length { expected });
        }
        // Of each share, the first record that may still come.
        let mut next = vec![0; threads as usize];
        for (at, event) in value.as_chunks::<EVENT>().0.iter().enumerate() {
            let number = self.record_of(key, event).ok_or(Fault::Foreign { at })?;
            let next = &mut next[share_of(self.events, number, threads) as usize];
            if number < *next {
                return Err(Fault::OutOfOrder { at });
            }
            *next = number + 1;
        }
        Ok(())
    }

    /// The record that an event comes from; none if it is not of this key, or of no record at all.
    fn record_of(&self, key: u64, event: &[u8; EVENT]) -> Option<u64> {
        let [own_key, stamp] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| event[at + byte])));
        let number = !unmix(stamp);
        let is_ours = own_key == key && number < self.events && self.key(self.ordinal_of_record(number)) == key;
        is_ours.then_some(number)
    }

    fn class_of_key(&self, ordinal: u64) -> &Class {
        &self.classes[self.classes.partition_point(|class| class.first_key <= ordinal) - 1]
    }
}

/// Where a share begins: shares differ by one record at most.
fn share_start(events: u64, thread: u64, threads: u64) -> u64 {
    (u128::from(events) * u128::from(thread)).div_ceil(u128::from(threads)) as u64
}

/// Whose share a record is in.
fn share_of(events: u64, record: u64, threads: u64) -> u64 {
    (u128::from(record) * u128::from(threads) / u128::from(events)) as u64
}

#[cfg(test)]
mod tests;
