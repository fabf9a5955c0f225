//! Holding an index against its log.
//!
//! ```text
//! log ─► builder ─► oracle, as many slots ─┐
//!                                          ├─ slot by slot ─► what only one of the two has
//!                  index to be verified ───┘
//! ```
//! The oracle is an index that we make afresh. In Robin Hood order the same keys occupy the same slots, and only those that
//! want the same slot may stand in another order: what one table has here, the other has a few slots on. So both are read
//! from left to right, and an oracle that memory does not hold may lie in a scratch. Only what differs is looked up in the log,
//! to say what is wrong with it.

use super::builder::{IndexOptions, room_for, trusted_puts};
use super::bulk::{Effort, Job};
use super::counts::Counts;
use super::header::IndexHeader;
use super::slot::{Shape, Slot};
use super::{Index, header};
use crate::fault;
use crate::log::entry::{Address, EntryKind};
use crate::log::named;
use crate::report::Report;
use crate::table::Table;
use hammerspace_bytes::Field;
use hammerspace_error::{Doing, Error, Kind, Result};
use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::mem;

/// Adds everything wrong with the index of `table`, whose log gave no findings if `log_is_sound`. From a broken log no
/// oracle can be made; then what is left to check is the table by itself. An error is one of the scratch, or lack of memory.
pub(crate) fn verify<L, I, S>(
    table: &Table<L, I>,
    log_is_sound: bool,
    effort: &Effort,
    scratch: impl Fn() -> Result<S> + Sync,
    report: &mut Report,
) -> Result<()>
where
    L: AsRef<[u8]> + Sync,
    I: AsRef<[u8]>,
    S: Read + Write + Seek + Send,
{
    let is_in_order = compare_header(table, report);
    // Its slots may be twice as wide as those of the index.
    let image_len = table.index().bytes().len() as u64 * 2;
    let compared = if image_len <= effort.memory / 2 {
        let effort = Effort { memory: effort.memory - image_len, ..*effort };
        compare(table, &effort, |shape| room_for(shape).map(Cursor::new), &scratch, is_in_order, report)
    } else {
        compare(table, effort, |_| scratch(), &scratch, is_in_order, report)
    };
    match compared {
        Err(error) if error.kind() == Kind::Corrupt => {
            if log_is_sound {
                report.add(|| error);
            }
            for (at, slot) in slots(table.index()) {
                if let Err(error) = table.address(at, slot) {
                    report.add(|| error);
                }
            }
            Ok(())
        }
        other => other,
    }
}

/// Makes the oracle, of the same part of the log, and holds the index against it.
fn compare<L, I, W, S>(
    table: &Table<L, I>,
    effort: &Effort,
    sink: impl FnOnce(Shape) -> Result<W>,
    scratch: &(impl Fn() -> Result<S> + Sync),
    is_in_order: bool,
    report: &mut Report,
) -> Result<()>
where
    L: AsRef<[u8]> + Sync,
    I: AsRef<[u8]>,
    W: Read + Write + Seek + Send,
    S: Read + Write + Seek + Send,
{
    let (log, said) = (table.log(), table.index().header());
    let options = IndexOptions { hash_size: Some(said.hash_size), seed: Some(said.hash_seed) };
    let job = Job::new(log, said.data_end, trusted_puts(log)?, said.hash_capacity, &options, effort)?;
    let (shape, mut sink) = (*job.shape(), sink(*job.shape())?);
    let header = job.run(&mut sink, scratch)?;
    let mut oracle = Oracle { sink, shape };
    compare_slots(table, &mut oracle, is_in_order, report)?;
    if !is_in_order {
        // A slot may be where no lookup comes to it.
        oracle.each(|_, slot| {
            let address = shape.unpack(slot.address);
            if !slot.is_empty() && meetings(table.index(), slot.hash, address).next().is_none() {
                report.add(|| lost(table.index(), slot.hash, address));
            }
        })?;
    }
    compare_garbage(table, &header, report);
    Ok(())
}

/// The index as it should be.
struct Oracle<S> {
    sink: S,
    shape: Shape,
}

impl<S: Read + Seek> Oracle<S> {
    /// Shows every slot, from left to right.
    fn each(&mut self, mut show: impl FnMut(usize, Slot)) -> Result<()> {
        const CHUNK_LEN: usize = 1 << 12;
        let (shape, mut bytes) = (self.shape, Vec::new());
        self.sink.seek(SeekFrom::Start(IndexHeader::SIZE as u64)).doing("read the scratch")?;
        for first in (0..shape.capacity).step_by(CHUNK_LEN) {
            let len = CHUNK_LEN.min(shape.capacity - first);
            bytes.resize(len * shape.slot_size(), 0);
            self.sink.read_exact(&mut bytes).doing("read the scratch")?;
            (0..len).for_each(|at| show(first + at, shape.get(&bytes, at)));
        }
        Ok(())
    }
}

fn compare_slots<L: AsRef<[u8]>, I: AsRef<[u8]>, S: Read + Seek>(
    table: &Table<L, I>,
    oracle: &mut Oracle<S>,
    is_in_order: bool,
    report: &mut Report,
) -> Result<()> {
    let (index, shape) = (table.index(), oracle.shape);
    let target = |slot: Slot, shape: &Shape| (!slot.is_empty()).then(|| (slot.hash, shape.unpack(slot.address)));
    let (mut unmatched, mut around_the_end) = (Unmatched::default(), None);
    oracle.each(|at, ours| {
        let theirs = index.shape().get(index.table(), at);
        unmatched.meet(target(ours, &shape), target(theirs, index.shape()).map(|target| (target, at)));
        // In order, whatever wants a slot before an empty one stands before it, in both tables.
        if is_in_order && ours.is_empty() && theirs.is_empty() {
            let run = mem::take(&mut unmatched);
            match around_the_end {
                None => around_the_end = Some(run),
                Some(_) => run.tell(table, is_in_order, report),
            }
        }
    })?;
    unmatched.absorb(around_the_end.unwrap_or_default());
    unmatched.tell(table, is_in_order, report);
    Ok(())
}

/// What a slot points to: a key's hash, and the put.
type Target = (u64, Address);

/// What only one of the two tables has, as far as both were read.
#[derive(Default)]
struct Unmatched {
    ours: HashSet<Target>,
    /// With the slots.
    theirs: HashMap<Target, Vec<usize>>,
}

impl Unmatched {
    /// Adds a slot of either table.
    fn meet(&mut self, ours: Option<Target>, theirs: Option<(Target, usize)>) {
        if ours == theirs.map(|(target, _)| target) {
            return;
        }
        if let Some(target) = ours
            && self.theirs.get_mut(&target).and_then(Vec::pop).is_none()
        {
            self.ours.insert(target);
        }
        if let Some((target, at)) = theirs
            && !self.ours.remove(&target)
        {
            self.theirs.entry(target).or_default().push(at);
        }
    }

    fn absorb(&mut self, other: Self) {
        for target in other.ours {
            self.meet(Some(target), None);
        }
        for (at, target) in by_slot(other.theirs) {
            self.meet(None, Some((target, at)));
        }
    }

    fn tell<L: AsRef<[u8]>, I: AsRef<[u8]>>(self, table: &Table<L, I>, is_in_order: bool, report: &mut Report) {
        let index = table.index();
        for (at, (hash, address)) in by_slot(self.theirs) {
            match meetings(index, hash, address).find(|other| *other != at) {
                Some(other) => report.add(|| doubled(index, at.min(other), at.max(other), address)),
                None => report.add(|| wrong_target(table, at, index.shape().get(index.table(), at))),
            }
        }
        if is_in_order {
            let mut ours: Vec<Target> = self.ours.into_iter().collect();
            ours.sort_unstable_by_key(|(_, address)| *address);
            for (hash, address) in ours {
                report.add(|| lost(index, hash, address));
            }
        }
    }
}

fn by_slot(targets: HashMap<Target, Vec<usize>>) -> Vec<(usize, Target)> {
    let slots = targets.into_iter().flat_map(|(target, slots)| slots.into_iter().map(move |at| (at, target)));
    let mut slots: Vec<_> = slots.collect();
    slots.sort_unstable();
    slots
}

/// The occupied slots, from left to right.
fn slots<I: AsRef<[u8]>>(index: &Index<I>) -> impl Iterator<Item = (usize, Slot)> {
    let (table, shape) = (index.table(), *index.shape());
    (0..shape.capacity).map(move |at| (at, shape.get(table, at))).filter(|(_, slot)| !slot.is_empty())
}

/// The slots with `address` that a lookup of `hash` comes to.
fn meetings<I: AsRef<[u8]>>(index: &Index<I>, hash: u64, address: Address) -> impl Iterator<Item = usize> {
    let hits = index.probe(hash).filter(move |(_, slot)| index.shape().unpack(slot.address) == address);
    hits.map(|(at, _)| at)
}

/// Counts the table for the header; gives whether it is in Robin Hood order.
fn compare_header<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, report: &mut Report) -> bool {
    let mut is_in_order = true;
    let (index, said, log) = (table.index(), table.index().header(), table.log().header());
    let counts = Counts::of(index.table(), index.shape(), |at, finding| {
        is_in_order = false;
        report.add(|| named(fault::index(index.shape().offset(at), format!("slot {at} {finding}")), index.file()));
    });
    let mut compare = |field: Field, said: u64, is: u64, by: &str| {
        if said != is {
            let finding = || format!("the header's {} is {said}, but {by} makes it {is}", field.name);
            report.add(|| named(fault::index(field.offset, finding()), index.file()));
        }
    };
    compare(header::NUM_ENTRIES, said.num_entries, counts.entries, "the table");
    compare(header::MAX_DISPLACEMENT, said.max_displacement, counts.max_displacement, "the table");
    compare(header::TOTAL_DISPLACEMENT, said.total_displacement, counts.total_displacement, "the table");
    compare(header::HASH_COLLISIONS, said.hash_collisions, counts.collisions, "the table");
    if said.data_end == log.data_end {
        compare(header::NUM_PUTS, said.num_puts, log.num_puts, "the log");
        compare(header::MAX_KEY_LEN, said.max_key_len, log.max_key_len, "the log");
        compare(header::MAX_VALUE_LEN, said.max_value_len, log.max_value_len, "the log");
    }
    is_in_order
}

/// Writers differ in what is garbage, but dead puts are for all. Readers take a header at its word that there is none.
fn compare_garbage<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, oracle: &IndexHeader, report: &mut Report) {
    let (index, said, log) = (table.index(), table.index().header(), table.log().header());
    let dead_size = oracle.garbage_size.saturating_sub(log.delete_size);
    if said.data_end == log.data_end && said.garbage_size < dead_size {
        let finding = format!("the header's garbage_size is {}, but dead puts take {dead_size}", said.garbage_size);
        report.add(|| named(fault::index(header::GARBAGE_SIZE.offset, finding), index.file()));
    }
}

/// What is wrong with the target of a slot that the oracle does not have.
fn wrong_target<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, at: usize, slot: Slot) -> Error {
    let address = match table.address(at, slot) {
        Ok(address) => address,
        Err(error) => return error,
    };
    let place = place(address);
    let target = match read(table, address) {
        Err(error) => format!("{place}, where no entry can be read: {}", error.finding()),
        Ok((EntryKind::Delete, _)) => format!("{place}, a delete"),
        Ok((EntryKind::Put, hash)) if hash != slot.hash => {
            format!("{place}, a put whose key has the hash {hash:#x}, not {:#x}", slot.hash)
        }
        Ok(_) => format!("{place}, a put that a later entry overwrote or deleted"),
    };
    table.damaged(at, target)
}

/// Kind and hash of the entry at `address`.
fn read<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, address: Address) -> Result<(EntryKind, u64)> {
    let mut entries = table.log().entries_between(address, table.index().header().data_end)?;
    match entries.lend()? {
        Some(entry) => Ok((entry.kind, table.index().hash(&entry.key))),
        None => Err(fault::log(address.offset as usize, "the block has fewer entries")),
    }
}

fn lost<I: AsRef<[u8]>>(index: &Index<I>, hash: u64, address: Address) -> Error {
    let wanted = index.shape().wanted(hash);
    let finding = format!("no lookup from slot {wanted} on finds the live put at {}", place(address));
    named(fault::index(index.shape().offset(wanted), finding), index.file())
}

fn doubled<I: AsRef<[u8]>>(index: &Index<I>, first: usize, second: usize, address: Address) -> Error {
    let finding = format!("slot {second} points to {}, as slot {first} does already", place(address));
    named(fault::index(index.shape().offset(second), finding), index.file())
}

fn place(address: Address) -> String {
    format!("log offset {}, entry {}", address.offset, address.index)
}
