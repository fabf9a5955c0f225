//! Holding an index against its log.
//!
//! The oracle is an index that we make afresh: the two must hold the same pairs of hash and address, wherever in their
//! tables. Only what differs is looked up in the log, to say what is wrong with it.

use super::builder::{Counts, FRESH, IndexOptions, build, capacity_for, trusted_puts};
use super::slot::Slot;
use super::{Index, header};
use crate::fault;
use crate::log::entry::{Address, EntryKind};
use crate::log::named;
use crate::report::Report;
use crate::table::Table;
use hammerspace_bytes::Field;
use hammerspace_error::Result;

/// Adds everything wrong with the index of `table`. `log_is_sound` says whether the log gave no findings.
pub(crate) fn verify<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, log_is_sound: bool, report: &mut Report) {
    compare_header(table, report);
    let oracle = oracle(table).inspect_err(|error| {
        if log_is_sound {
            report.add(error.clone());
        }
    });
    let oracle = oracle.ok();
    for (at, slot) in slots(table.index()) {
        let known =
            oracle.as_ref().is_some_and(|oracle| holds(oracle, slot.hash, table.index().shape().unpack(slot.address)));
        if !known && let Some(target) = wrong_target(table, at, slot, oracle.is_some()) {
            report.add(target);
        }
    }
    if let Some(oracle) = oracle {
        for (_, slot) in slots(&oracle) {
            seek_in_vain(table, slot.hash, oracle.shape().unpack(slot.address), report);
        }
    }
}

/// The index as it should be, of the same part of the log.
fn oracle<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>) -> Result<Index<Vec<u8>>> {
    let header = table.index().header();
    let options = IndexOptions { hash_size: Some(header.hash_size), seed: Some(header.hash_seed) };
    let puts = trusted_puts(table.log())?;
    Index::open(build(table.log(), header.data_end, puts, capacity_for(puts, FRESH), &options)?)
}

/// The occupied slots, from left to right.
fn slots<I: AsRef<[u8]>>(index: &Index<I>) -> impl Iterator<Item = (usize, Slot)> {
    let (table, shape) = (index.table(), *index.shape());
    (0..shape.capacity).map(move |at| (at, shape.get(table, at))).filter(|(_, slot)| !slot.is_empty())
}

/// Whether a lookup of `hash` comes to a slot that points to `address`.
fn holds<I: AsRef<[u8]>>(index: &Index<I>, hash: u64, address: Address) -> bool {
    index.probe(hash).any(|(_, slot)| index.shape().unpack(slot.address) == address)
}

fn compare_header<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, report: &mut Report) {
    let (index, said, log) = (table.index(), table.index().header(), table.log().header());
    let counts = Counts::of(index.table(), *index.shape(), |at, finding| {
        let error = fault::index(index.shape().offset(at), format!("slot {at} {finding}"));
        report.add(named(error, index.file()));
    });
    let mut compare = |field: Field, said: u64, is: u64, by: &str| {
        if said != is {
            let finding = format!("the header's {} is {said}, but {by} makes it {is}", field.name);
            let error = fault::index(field.offset, finding);
            report.add(named(error, index.file()));
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
}

/// What is wrong with the target of a slot that the oracle does not know. Without an oracle it may be right after all.
fn wrong_target<L: AsRef<[u8]>, I: AsRef<[u8]>>(
    table: &Table<L, I>,
    at: usize,
    slot: Slot,
    is_wrong: bool,
) -> Option<hammerspace_error::Error> {
    let address = match table.address(at, slot) {
        Ok(address) => address,
        Err(error) => return Some(error),
    };
    let place = format!("log offset {}, entry {}", address.offset, address.index);
    let target = match read(table, address) {
        Err(error) => format!("{place}, where no entry can be read: {}", error.finding()),
        Ok((EntryKind::Delete, _)) => format!("{place}, a delete"),
        Ok((EntryKind::Put, hash)) if hash != slot.hash => {
            format!("{place}, a put whose key has the hash {hash:#x}, not {:#x}", slot.hash)
        }
        Ok(_) if is_wrong => format!("{place}, a put that a later entry overwrote or deleted, or none at all"),
        Ok(_) => return None,
    };
    Some(table.damaged(at, target))
}

/// Kind and hash of the entry at `address`.
fn read<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, address: Address) -> Result<(EntryKind, u64)> {
    let mut entries = table.log().entries_between(address, table.index().header().data_end)?;
    match entries.lend()? {
        Some(entry) => Ok((entry.kind, table.index().hash(&entry.key))),
        None => Err(fault::log(address.offset as usize, "the block has fewer entries")),
    }
}

/// Adds a finding unless a lookup meets the live put at `address` exactly once.
fn seek_in_vain<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, hash: u64, address: Address, report: &mut Report) {
    let shape = table.index().shape();
    let mut meetings = table.index().probe(hash).filter(|(_, slot)| shape.unpack(slot.address) == address);
    let place = format!("the live put at log offset {}, entry {}", address.offset, address.index);
    let (offset, finding) = match (meetings.next(), meetings.next()) {
        (Some(_), None) => return,
        (None, _) => {
            (shape.offset(shape.wanted(hash)), format!("no lookup from slot {} finds {place}", shape.wanted(hash)))
        }
        (Some((first, _)), Some((second, _))) => {
            (shape.offset(second), format!("slot {second} points to {place}, as slot {first} does already"))
        }
    };
    report.add(named(fault::index(offset, finding), table.index().file()));
}
