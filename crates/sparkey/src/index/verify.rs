//! Holding an index against its log.
//!
//! The oracle is an index that we make afresh: the two must hold the same pairs of hash and address, wherever in their
//! tables. Only what differs is looked up in the log, to say what is wrong with it.

use super::builder::{FRESH, IndexOptions, capacity_for, trusted_puts};
use super::bulk::build;
use super::counts::Counts;
use super::slot::Slot;
use super::{Index, header};
use crate::fault;
use crate::log::entry::{Address, EntryKind};
use crate::log::named;
use crate::report::Report;
use crate::table::Table;
use hammerspace_bytes::Field;
use hammerspace_error::{Error, Result};

/// Adds everything wrong with the index of `table`, whose log gave no findings if `log_is_sound`. From a broken log no
/// oracle can be made; then what is left to check is the table by itself.
pub(crate) fn verify<L: AsRef<[u8]> + Sync, I: AsRef<[u8]>>(
    table: &Table<L, I>,
    log_is_sound: bool,
    report: &mut Report,
) {
    compare_header(table, report);
    match oracle(table) {
        Ok(oracle) => compare_slots(table, &oracle, report),
        Err(error) => {
            if log_is_sound {
                report.add(|| error);
            }
            for (at, slot) in slots(table.index()) {
                if let Err(error) = table.address(at, slot) {
                    report.add(|| error);
                }
            }
        }
    }
}

fn compare_slots<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, oracle: &Index<Vec<u8>>, report: &mut Report) {
    let index = table.index();
    for (at, slot) in slots(index) {
        let address = index.shape().unpack(slot.address);
        if meetings(oracle, slot.hash, address).next().is_none() {
            report.add(|| wrong_target(table, at, slot));
        }
    }
    for (_, slot) in slots(oracle) {
        let address = oracle.shape().unpack(slot.address);
        let mut meetings = meetings(index, slot.hash, address);
        match (meetings.next(), meetings.next()) {
            (Some(_), None) => {}
            (None, _) => report.add(|| lost(index, slot.hash, address)),
            (Some(first), Some(second)) => report.add(|| doubled(index, first, second, address)),
        }
    }
}

/// The index as it should be, of the same part of the log.
fn oracle<L: AsRef<[u8]> + Sync, I: AsRef<[u8]>>(table: &Table<L, I>) -> Result<Index<Vec<u8>>> {
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

/// The slots with `address` that a lookup of `hash` comes to.
fn meetings<I: AsRef<[u8]>>(index: &Index<I>, hash: u64, address: Address) -> impl Iterator<Item = usize> {
    let hits = index.probe(hash).filter(move |(_, slot)| index.shape().unpack(slot.address) == address);
    hits.map(|(at, _)| at)
}

fn compare_header<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, report: &mut Report) {
    let (index, said, log) = (table.index(), table.index().header(), table.log().header());
    let counts = Counts::of(index.table(), index.shape(), |at, finding| {
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
