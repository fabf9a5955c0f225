//! Reading a whole log, and holding it against its header.

use super::Log;
use super::entry::EntryKind;
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
    max_put_key_len: u64,
    max_value_len: u64,
    max_entries_per_block: u32,
}

/// Adds everything wrong with the log. A broken entry hides what follows it: nothing says where the next one starts.
pub(crate) fn verify<B: AsRef<[u8]>>(log: &Log<B>, report: &mut Report) {
    match tally(log) {
        Ok(tally) => compare(log, &tally, report),
        Err(error) => report.add(error),
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
                tally.max_put_key_len = tally.max_put_key_len.max(entry.key.len() as u64);
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
    let header = log.header();
    let packed = header.compression != Compression::None;
    let most = u64::from(header.max_entries_per_block);
    for (offset, name, said, is, sound) in [
        (16, "num_puts", header.num_puts, tally.num_puts, header.num_puts == tally.num_puts),
        (24, "num_deletes", header.num_deletes, tally.num_deletes, header.num_deletes == tally.num_deletes),
        // Writers differ in whether the keys of deletes count, so it may be larger.
        (40, "max_key_len", header.max_key_len, tally.max_put_key_len, header.max_key_len >= tally.max_put_key_len),
        (48, "max_value_len", header.max_value_len, tally.max_value_len, header.max_value_len == tally.max_value_len),
        (56, "delete_size", header.delete_size, tally.delete_size, header.delete_size == tally.delete_size),
        (72, "put_size", header.put_size, tally.put_size, header.put_size == tally.put_size),
        (
            80,
            "max_entries_per_block",
            most,
            tally.max_entries_per_block.into(),
            !packed || most >= tally.max_entries_per_block.into(),
        ),
    ] {
        if !sound {
            let finding = format!("the header's {name} is {said}, but the entries make it {is}");
            report.add(super::named(fault::log(offset, finding), log.file()));
        }
    }
}
