//! One operation after the other, and batches of 64: by the owner, by another process while a writer and the cleaner are at work, and by
//! what else keeps keys and values in memory.

use std::io::{Error, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use hammerspace::store::{Key, Options, Put, Table, ValueKind};
use hammerspace_os::process::fork::{self, Child};
use hammerspace_rivals::stores::{self, Store};
use hammerspace_workloads::bigmem::mix;

use super::stand::{self, Stand};
use crate::Result;
use crate::measure::{Work, in_turn, millions_a_second};
use crate::report::Row;
use crate::scale::{Scale, in_words};

const BATCH: u64 = 64;
const APPENDED: usize = 16;

/// Stores of one size.
#[derive(Clone, Copy)]
struct Size {
    keys: u64,
    value: usize,
    /// Operations of a kind, in a round.
    asked: u64,
    /// The goal of `get_many`, which is one of 8 M keys.
    many: Option<&'static str>,
    has_peers: bool,
}

const FULL: &[Size] = &[
    Size { keys: 8_000_000, value: 100, asked: 2_000_000, many: Some(">= 10 M/s"), has_peers: false },
    Size { keys: 10_000_000, value: 100, asked: 2_000_000, many: None, has_peers: true },
    Size { keys: 100_000_000, value: 64, asked: 2_000_000, many: None, has_peers: false },
];
const SMALL: &[Size] = &[Size { keys: 4_000, value: 100, asked: 1_024, many: None, has_peers: true }];

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in if scale.is_full() { FULL } else { SMALL } {
        rows.extend(size.rows(scale)?);
    }
    Ok(rows)
}

impl Size {
    fn rows(&self, scale: &Scale) -> Result<Vec<Row>> {
        let words = in_words(self.keys as usize);
        let (ours, [owner, reader]) = self.ours(scale)?;
        let mut rows = Vec::new();
        // With peers each is told beside them.
        for (operation, ours) in KINDS.into_iter().zip(ours).filter(|_| !self.has_peers) {
            let row = Row::alone(format!("{}, {words} keys", operation.name()), "M/s", ours);
            rows.push(row.goal(if operation == Kind::GetMany { self.many } else { None }));
        }
        for (operation, (owner, reader)) in READS.into_iter().zip(owner.into_iter().zip(reader)) {
            let name = format!("{}, {words} keys, another process's time, with a writer", operation.name());
            rows.push(Row::new(name, "us", reader, "the owner's", owner).goal(scale.goal("<= 1.2")));
        }
        if self.has_peers {
            for (peer, mut store) in stores::all(self.keys)? {
                // Servers answer some ten thousand questions a second.
                let slower = if ["Redis", "memcached"].contains(&peer) { 16 } else { 2 };
                let theirs = Size { asked: self.asked / slower, ..*self }.rates(scale, &mut *store)?;
                for (operation, (ours, theirs)) in KINDS.into_iter().zip(ours.into_iter().zip(theirs)) {
                    rows.push(Row::new(format!("{}, {words} keys", operation.name()), "M/s", ours, peer, theirs));
                }
            }
        }
        Ok(rows)
    }

    /// Our rates, and the microseconds of a read with a writer at work: the owner's and another process's.
    fn ours(&self, scale: &Scale) -> Result<([f64; KINDS.len()], [[f64; READS.len()]; 2])> {
        // Head, key and value; 14 bytes in the index; and a third more, for what is dead.
        let record = 16 + self.value.next_multiple_of(8) as u64 + 14;
        let limit = self.keys * record * 4 / 3 + (64 << 20);
        let stand = Stand::create(&Options { cleaners: 1, ..Options::with_limit(limit) }, false)?;
        let mut owner = Ours::new(&stand.table);
        let rates = self.rates(scale, &mut owner)?;
        let mut reader = OtherProcess::start(&stand, *self)?;
        let short = Size { asked: self.asked / 4, ..*self };
        let mut time = |operation| {
            let works: &mut [Work<'_>; 2] =
                &mut [&mut || short.time(&mut owner, operation, 0), &mut || reader.time(operation)];
            in_turn(scale.rounds, works)
        };
        self.wear(&stand)?;
        let moved = stand.store.usage().moved;
        let times = self.with_writer(&stand.table, || Ok([time(READS[0])?, time(READS[1])?, time(READS[2])?]))?;
        if scale.is_full() && stand.store.usage().moved == moved {
            return Err("the cleaner was not at work meanwhile".into());
        }
        #[expect(clippy::cast_precision_loss, reason = "some millions")]
        let micros = |side: usize| times.map(|of_both: [f64; 2]| of_both[side] * 1e6 / short.asked as f64);
        Ok((rates, [micros(0), micros(1)]))
    }

    /// Overwrites values until more was written than there was room for, a quarter of the limit: from then on the cleaner is at work whenever
    /// somebody writes.
    fn wear(&self, stand: &Stand) -> Result {
        let (mut store, value) = (Ours::new(&stand.table), vec![9; self.value]);
        let record = 16 + self.value as u64;
        let overwrites = stand.store.usage().limit / 3 / record;
        (0..overwrites).try_for_each(|number| store.put(self.some_key(number, 11), &value)).map_err(Into::into)
    }

    /// Does some work while a thread overwrites values as fast as it can.
    fn with_writer<T>(&self, table: &Table, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| -> std::io::Result<()> {
                let mut store = Ours::new(table);
                let value = vec![9; self.value];
                let mut number = 0;
                while !is_over.load(Relaxed) {
                    store.put(self.some_key(number, 7), &value)?;
                    number += 1;
                }
                Ok(())
            });
            let done = work();
            is_over.store(true, Relaxed);
            writer.join().expect("the writer returns its error")?;
            done
        })
    }

    /// Fills a store and measures all kinds: millions a second. What can be done again is, with other keys: a round takes some tenths of a second.
    fn rates(&self, scale: &Scale, store: &mut dyn Store) -> Result<[f64; KINDS.len()]> {
        let value = vec![7; self.value];
        let mut batch = Vec::new();
        for number in 0..self.keys - self.asked {
            batch.push((mix(number), &value[..]));
            if batch.len() == BATCH as usize {
                store.put_many(&batch)?;
                batch.clear();
            }
        }
        store.put_many(&batch)?;
        let mut rates = [0.0; KINDS.len()];
        for (rate, operation) in rates.iter_mut().zip(KINDS) {
            let mut round = 0;
            let mut once = || {
                round += 1;
                self.time(store, operation, round)
            };
            let seconds = if READS.contains(&operation) {
                in_turn(scale.rounds_large, &mut [&mut once])?[0]
            } else {
                once()?.as_secs_f64()
            };
            *rate = millions_a_second(self.asked as usize, seconds);
        }
        Ok(rates)
    }

    /// How long it takes to do what is asked, with other keys in each round.
    fn time(&self, store: &mut dyn Store, operation: Kind, round: u64) -> Result<Duration> {
        let (value, mut found, mut out) = (vec![8; self.value], 0, Vec::new());
        let mut numbers = round * self.asked..(round + 1) * self.asked;
        let started = Instant::now();
        match operation {
            Kind::Insert => {
                (self.keys - self.asked..self.keys).try_for_each(|number| store.put(mix(number), &value))?;
            }
            Kind::Get => {
                for number in numbers {
                    found += u64::from(store.get(self.some_key(number, 1), &mut out)?);
                }
            }
            Kind::Miss => {
                for number in numbers {
                    found += u64::from(!store.get(mix(self.keys + number), &mut out)?);
                }
            }
            Kind::GetMany => {
                let mut keys = [0; BATCH as usize];
                for first in numbers.clone().step_by(keys.len()) {
                    let count = BATCH.min(numbers.end - first);
                    let keys = &mut keys[..count as usize];
                    keys.iter_mut().zip(first..).for_each(|(key, number)| *key = self.some_key(number, 9));
                    store.get_many(keys, &mut |value| found += u64::from(value.is_some()))?;
                }
            }
            Kind::Overwrite => numbers.try_for_each(|number| store.put(self.some_key(number, 3), &value))?,
            Kind::Append => {
                numbers.try_for_each(|number| store.append(self.some_key(number, 5), &value[..APPENDED]))?;
            }
        }
        let time = started.elapsed();
        if READS.contains(&operation) && found != self.asked {
            return Err(format!("{}: {found} of {} are as they should be", operation.name(), self.asked).into());
        }
        Ok(time)
    }

    /// One of those there are; another for each number.
    fn some_key(&self, number: u64, run: u64) -> u64 {
        mix(mix(number ^ (run << 48)) % self.keys)
    }
}

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Insert,
    Get,
    Miss,
    GetMany,
    Overwrite,
    Append,
}

const KINDS: [Kind; 6] = [Kind::Insert, Kind::Get, Kind::Miss, Kind::GetMany, Kind::Overwrite, Kind::Append];
const READS: [Kind; 3] = [Kind::Get, Kind::Miss, Kind::GetMany];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Get => "get",
            Self::Miss => "get, miss",
            Self::GetMany => "get_many of 64",
            Self::Overwrite => "overwrite",
            Self::Append => "append of 16 B",
        }
    }
}

/// Our table as a peer's store, so that all are asked alike. By a handle that is attached it is read.
struct Ours<'t> {
    table: &'t Table,
    keys: Vec<Key<'static>>,
}

impl<'t> Ours<'t> {
    fn new(table: &'t Table) -> Self {
        Self { table, keys: Vec::new() }
    }
}

/// What is appended to must be of that kind.
const KIND: ValueKind = ValueKind::Append;

impl Store for Ours<'_> {
    fn put(&mut self, key: u64, value: &[u8]) -> std::io::Result<()> {
        self.table.put_with(key, value, &Put::default().kind(KIND)).map(drop).map_err(Error::other)
    }

    fn get(&mut self, key: u64, value: &mut Vec<u8>) -> std::io::Result<bool> {
        value.clear();
        let found = self.table.get_into(key, value).map_err(Error::other)?;
        Ok(found.is_some())
    }

    fn append(&mut self, key: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.table.append(key, bytes).map(drop).map_err(Error::other)
    }

    fn delete(&mut self, key: u64) -> std::io::Result<bool> {
        self.table.delete(key).map_err(Error::other)
    }

    fn memory_used(&mut self) -> std::io::Result<u64> {
        Err(Error::other("a table shares its store's memory"))
    }

    /// Of keys that are new, as all are that are put many at a time: so to append is to put.
    fn put_many(&mut self, pairs: &[(u64, &[u8])]) -> std::io::Result<()> {
        let operands: Vec<_> = pairs.iter().map(|(key, value)| (Key::Integer(*key), value)).collect();
        self.table.merge_many(KIND, &operands).map_err(Error::other)
    }

    fn get_many(&mut self, keys: &[u64], each: &mut dyn FnMut(Option<&[u8]>)) -> std::io::Result<()> {
        self.keys.clear();
        self.keys.extend(keys.iter().map(|key| Key::Integer(*key)));
        let found = self.table.get_many(&self.keys, |_, found| each(found.map(|(_, value)| value)));
        found.map_err(Error::other)
    }
}

/// Another process that reads the store when it is asked to: a byte asks, the nanoseconds answer.
struct OtherProcess {
    stream: UnixStream,
    /// Ends with its handle.
    _child: Child,
}

impl OtherProcess {
    fn start(stand: &Stand, size: Size) -> Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        let child = fork::fork(|| i32::from(serve(stand, size, theirs).is_err()));
        Ok(Self { stream, _child: child })
    }

    fn time(&mut self, operation: Kind) -> Result<Duration> {
        self.stream.write_all(&[operation as u8])?;
        let mut nanos = [0; 8];
        self.stream.read_exact(&mut nanos)?;
        Ok(Duration::from_nanos(u64::from_le_bytes(nanos)))
    }
}

/// Asks for as many keys as there are, so that pages are mapped as they are in the owner's process; then answers.
fn serve(stand: &Stand, size: Size, mut stream: UnixStream) -> Result {
    let table = hammerspace::Store::attach(stand.path())?.table(stand::NAME)?;
    let mut store = Ours::new(&table);
    Size { asked: size.keys, ..size }.time(&mut store, Kind::GetMany, 0)?;
    let short = Size { asked: size.asked / 4, ..size };
    let mut operation = [0];
    loop {
        stream.read_exact(&mut operation)?;
        let kind = KINDS[usize::from(operation[0])];
        stream.write_all(&u64::try_from(short.time(&mut store, kind, 0)?.as_nanos())?.to_le_bytes())?;
    }
}
