//! Reading a whole log, and holding it against its header.

use super::entry::EntryKind;
use super::{Log, header, named};
use crate::codec::Compression;
use crate::fault;
use crate::report::Report;

/// What the header should say.
#[derive(Default)]
struct Tally {
    num_puts: u64,
    num_deletes: u64,
    put_size: u64,
    delete_size: u64,
    max_key_len: u64,
    max_value_len: u64,
    max_entries_per_block: u32,
}

/// Adds everything wrong with the log. A broken entry hides what follows it: nothing says where the next one starts.
pub(crate) fn verify<B: AsRef<[u8]>>(log: &Log<B>, report: &mut Report) {
    match tally(log) {
        Ok(tally) => compare(log, &tally, report),
        Err(error) => report.add(|| error),
    }
}

fn tally<B: AsRef<[u8]>>(log: &Log<B>) -> hammerspace_error::Result<Tally> {
    let (mut tally, mut entries) = (Tally::default(), log.entries());
    while let Some(entry) = entries.lend()? {
        tally.max_entries_per_block = tally.max_entries_per_block.max(entry.address.index + 1);
        match entry.kind {
            EntryKind::Put => {
                tally.num_puts += 1;
                tally.put_size += entry.encoded_len();
                tally.max_key_len = tally.max_key_len.max(entry.key.len() as u64);
                tally.max_value_len = tally.max_value_len.max(entry.value.len() as u64);
            }
            EntryKind::Delete => {
                tally.num_deletes += 1;
                tally.delete_size += entry.encoded_len();
            }
        }
    }
    Ok(tally)
}

fn compare<B: AsRef<[u8]>>(log: &Log<B>, tally: &Tally, report: &mut Report) {
    let said = log.header();
    let packed = said.compression != Compression::None;
    let (most, started) = (u64::from(said.max_entries_per_block), u64::from(tally.max_entries_per_block));
    for (field, said, is, sound) in [
        (header::NUM_PUTS, said.num_puts, tally.num_puts, said.num_puts == tally.num_puts),
        (header::NUM_DELETES, said.num_deletes, tally.num_deletes, said.num_deletes == tally.num_deletes),
        // Writers differ in whether the keys of deletes count, so it may be larger.
        (header::MAX_KEY_LEN, said.max_key_len, tally.max_key_len, said.max_key_len >= tally.max_key_len),
        (header::MAX_VALUE_LEN, said.max_value_len, tally.max_value_len, said.max_value_len == tally.max_value_len),
        (header::DELETE_SIZE, said.delete_size, tally.delete_size, said.delete_size == tally.delete_size),
        (header::PUT_SIZE, said.put_size, tally.put_size, said.put_size == tally.put_size),
        (header::MAX_ENTRIES_PER_BLOCK, most, started, !packed || most >= started),
    ] {
        if !sound {
            let finding = || format!("the header's {} is {said}, but the entries make it {is}", field.name);
            report.add(|| named(fault::log(field.offset, finding()), log.file()));
        }
    }
}
