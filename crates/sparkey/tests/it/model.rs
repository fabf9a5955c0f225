//! Random histories against a twin: every seed draws a compression, a block size and a hash size, then rounds of puts and
//! deletes with flushes, crashes and appends in between, and an index made afresh or brought up to date after each.

use crate::reference::Flat;
use hammerspace_sparkey::{
    BlockCache, Compression, Entry, EntryKind, Found, HashSize, Index, IndexOptions, Log, LogOptions, LogWriter, Table,
    build_index, update_index,
};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

/// A fault that a harness must notice, or it notices nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// One delete never reaches the writer.
    LostDelete,
    /// The last index is of the round before.
    OldIndex,
    /// Two slots of the last index have their addresses exchanged.
    CrossedSlots,
    /// One occupied slot of the last index is emptied.
    LostSlot,
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn check(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(what.into()) }
}

#[test]
fn random_histories_read_like_their_twin() {
    for seed in 0..150 {
        run(seed, None).unwrap_or_else(|finding| panic!("seed {seed}: {finding}"));
    }
}

#[test]
fn canary_every_fault_is_noticed() {
    for fault in [Fault::LostDelete, Fault::OldIndex, Fault::CrossedSlots, Fault::LostSlot] {
        let noticed = (0..10).filter(|seed| run(*seed, Some(fault)).is_err()).count();
        assert!(noticed >= 8, "{fault:?} was noticed in {noticed} of 10 runs");
    }
}

fn run(seed: u64, fault: Option<Fault>) -> Outcome {
    let mut history = History::new(seed, fault);
    for _ in 0..history.rng.usize(2..6) {
        history.write()?;
        history.index()?;
    }
    history.spoil_index();
    history.read()
}

struct History {
    rng: fastrand::Rng,
    fault: Option<Fault>,
    options: LogOptions,
    hash_size: HashSize,
    /// What was appended, in order.
    entries: Vec<Flat>,
    /// How much of that the index covers.
    indexed: usize,
    log: Vec<u8>,
    index: Option<Vec<u8>>,
}

impl History {
    fn new(seed: u64, fault: Option<Fault>) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let compression = *rng.choice(&[Compression::None, Compression::Snappy, Compression::Zstd]).unwrap();
        let block_size = *rng.choice(&[10, 11, 30, 100, 1000, 4096]).unwrap();
        let hash_size = *rng.choice(&[HashSize::Four, HashSize::Eight]).unwrap();
        let options = LogOptions { compression, block_size };
        Self { rng, fault, options, hash_size, entries: Vec::new(), indexed: 0, log: Vec::new(), index: None }
    }

    /// Creates the log or appends to it; now and then the writer dies at the end, and only what was flushed is there.
    fn write(&mut self) -> Outcome {
        let sink = Cursor::new(std::mem::take(&mut self.log));
        let writer =
            if self.index.is_none() { LogWriter::create(sink, &self.options) } else { LogWriter::append(sink) };
        let mut writer = writer?;
        for _ in 0..self.rng.usize(..200) {
            let entry = self.draw();
            let lost = self.fault == Some(Fault::LostDelete) && entry.0 == EntryKind::Delete && self.rng.u32(..4) == 0;
            match entry.0 {
                EntryKind::Delete if lost => {}
                EntryKind::Delete => writer.delete(&entry.1)?,
                EntryKind::Put => writer.put(&entry.1, &entry.2)?,
            }
            self.entries.push(entry);
            if self.rng.u32(..50) == 0 {
                writer.flush()?;
            }
        }
        self.log = writer.finish()?.0.into_inner();
        if self.rng.u32(..3) == 0 {
            self.crash_while_appending()?;
        }
        Ok(())
    }

    /// Leaves bytes behind `data_end` that nobody may ever see.
    fn crash_while_appending(&mut self) -> Outcome {
        let mut writer = LogWriter::append(Cursor::new(self.log.clone()))?;
        let before = self.log.clone();
        writer.put(b"never", b"seen")?;
        drop(writer);
        check(self.log == before, "a dropped writer wrote")?;
        let garbage = self.rng.usize(..100);
        self.log.extend(std::iter::repeat_with(|| self.rng.u8(..)).take(garbage));
        Ok(())
    }

    /// Few keys, so that many are overwritten and deleted; short and long ones, empty ones too.
    fn draw(&mut self) -> Flat {
        let key = self.rng.u32(..60).to_string().repeat(self.rng.usize(..4)).into_bytes();
        if self.rng.u32(..4) == 0 {
            return (EntryKind::Delete, key, Vec::new());
        }
        let len = if self.rng.u32(..20) == 0 { 20_000 } else { 100 };
        (EntryKind::Put, key, vec![self.rng.u8(..); self.rng.usize(..len)])
    }

    /// Makes the index, or brings it up to date; the two must answer alike.
    fn index(&mut self) -> Outcome {
        let log = Log::open(&self.log[..])?;
        let hash_size = Some(self.hash_size);
        let fresh = build_index(&log, &IndexOptions { hash_size, seed: Some(self.rng.u32(..)) });
        let fresh = fresh?;
        let index = match self.index.take() {
            None => fresh,
            Some(old) if self.fault == Some(Fault::OldIndex) => old,
            Some(old) => {
                if self.rng.u32(..10) == 0 {
                    self.hash_size = *self.rng.choice(&[HashSize::Four, HashSize::Eight]).unwrap();
                }
                let options = IndexOptions { hash_size: Some(self.hash_size), seed: None };
                let old = Index::open(old)?;
                let updated = update_index(&log, &old, &options)?;
                let updated = Index::open(updated)?;
                check(updated.header().hash_seed == old.header().hash_seed, "the update lost the seed")?;
                check(updated.header().garbage_size == Index::open(fresh).unwrap().header().garbage_size, "garbage")?;
                updated.into_inner()
            }
        };
        self.indexed = self.entries.len();
        self.index = Some(index);
        Ok(())
    }

    fn spoil_index(&mut self) {
        let Some(Fault::CrossedSlots | Fault::LostSlot) = self.fault else { return };
        let mut bytes = self.index.take().unwrap();
        let header = Index::open(&bytes).unwrap().header().clone();
        let (slot_size, hash_size) = (header.slot_size(), header.hash_size.bytes());
        let addresses = (0..header.hash_capacity as usize).map(|at| 112 + at * slot_size + hash_size);
        let occupied: Vec<usize> = addresses.filter(|at| bytes[*at..*at + 4] != [0; 4]).collect();
        if self.fault == Some(Fault::LostSlot) {
            let at = occupied[0];
            bytes[at..at + 4].fill(0);
        } else if let [first, .., last] = occupied[..] {
            (0..4).for_each(|byte| bytes.swap(first + byte, last + byte));
        }
        self.index = Some(bytes);
    }

    /// Reads everything in every way, and compares.
    fn read(&mut self) -> Outcome {
        let table = Table::open(&self.log[..], self.index.as_deref().unwrap())?;
        let table = &table;
        let raw: Vec<Entry<'_>> = collect(table.log().entries())?;
        check(raw.iter().map(flat).eq(self.entries.iter().cloned()), "raw iteration")?;

        let expected = live(&self.entries[..self.indexed]);
        let twin: BTreeMap<Vec<u8>, Vec<u8>> =
            expected.iter().map(|(_, key, value)| (key.clone(), value.clone())).collect();
        let found: Vec<Entry<'_>> = collect(table)?;
        check(found.iter().map(flat).eq(expected), "live iteration")?;
        check(table.len() == twin.len() as u64, "the number of entries")?;

        self.look_up(table, &twin)?;
        // A cache for everything, and one that evicts all the time; read twice, so that there is something to find.
        for bytes in [1 << 20, 2000] {
            let cached = table.clone().with_cache(Arc::new(BlockCache::new(bytes)));
            self.look_up(&cached, &twin)?;
            self.look_up(&cached, &twin)?;
        }

        if let Some(start) = self.rng.choice(0..raw.len()) {
            let address = raw[start].address;
            let later = table.log().entries_from(address)?;
            check(collect(later)? == raw[start..], "raw iteration from an address")?;
            let later = table.iter_from(address)?;
            check(collect(later)?.iter().eq(found.iter().filter(|entry| entry.address >= address)), "from an address")?;
        }
        let report = table.verify();
        check(report.is_clean(), &format!("verify: {:?}", report.findings))
    }

    /// Looks up every key in every way, and compares.
    fn look_up(&self, table: &Table<&[u8], &[u8]>, twin: &BTreeMap<Vec<u8>, Vec<u8>>) -> Outcome {
        let keys: Vec<&Vec<u8>> = self.entries.iter().map(|(_, key, _)| key).collect();
        let many = table.get_many(&keys)?;
        for (key, many) in keys.iter().zip(many) {
            let value = twin.get(*key).map(Vec::as_slice);
            check(many.as_deref() == value, "get_many")?;
            check(table.get(key)?.as_deref() == value, "get")?;
            check(table.get_with(key, <[u8]>::to_vec)?.as_deref() == value, "get_with")?;
            check(table.contains(key)? == value.is_some(), "contains")?;
            let found = table.find(key)?;
            let found = found.map(|found| match found {
                Found::Mapped(range) => self.log[range].to_vec(),
                Found::Decoded(value) => value.into_vec(),
                Found::Cached(value) => value.to_vec(),
            });
            check(found.as_deref() == value, "find")?;
        }
        check(table.get(b"absent")?.is_none(), "an absent key")
    }
}

fn collect<'a>(entries: impl IntoIterator<Item = hammerspace_error::Result<Entry<'a>>>) -> Outcome<Vec<Entry<'a>>> {
    Ok(entries.into_iter().collect::<Result<_, _>>()?)
}

fn flat(entry: &Entry<'_>) -> Flat {
    (entry.kind, entry.key.to_vec(), entry.value.to_vec())
}

/// Live entries in log order, by the plainest means: the last entry of a key decides.
pub(crate) fn live(entries: &[Flat]) -> Vec<Flat> {
    let last: BTreeMap<&[u8], usize> = entries.iter().enumerate().map(|(at, (_, key, _))| (&key[..], at)).collect();
    let is_live = |at: usize| entries[at].0 == EntryKind::Put && last[&entries[at].1[..]] == at;
    (0..entries.len()).filter(|at| is_live(*at)).map(|at| entries[at].clone()).collect()
}
