//! Logs: entries, hash tables made of them, and logs written from them.

use crate::reference::{self, Entries};
use crate::{accepted, index};
use hammerspace_error::Result;
use hammerspace_sparkey::{Entry, HashSize, IndexOptions, Log, LogOptions, LogWriter, build_index};
use std::io::Cursor;

/// Checks the reader on `data`, and writer and index builder on what it gives.
pub fn check(data: &[u8]) {
    let Some(log) = accepted(Log::open(data)) else { return };
    let Some(expected) = reference::entries(data, log.header().data_end) else { return };
    let complete = check_entries(&log, &expected);
    log.verify();
    if complete {
        check_table(&log, &expected);
        check_rewritten(&log, &expected);
    }
}

/// Holds what the log gives against what it should; says whether it gave all.
pub(crate) fn check_entries(log: &Log<&[u8]>, expected: &Entries) -> bool {
    let (entries, complete) = collected(log.entries());
    let found: Vec<_> = entries.iter().map(plain).collect();
    assert!(expected.entries.starts_with(&found), "an entry that is not there");
    // In blocks there is more to break than the reference knows of.
    let may_stop_early = log.header().compression.code() != 0;
    assert!(if complete {
        expected.complete && found == expected.entries
    } else {
        may_stop_early || !expected.complete
    });

    let (lent, lent_all) = lent(log);
    assert_eq!((&lent, lent_all), (&entries, complete), "lent entries");
    for at in [0, entries.len() / 2, entries.len().saturating_sub(1)] {
        let Some(entry) = entries.get(at) else { break };
        let (tail, _) = collected(log.entries_from(entry.address).expect("the address of an entry"));
        assert_eq!(tail, entries[at..], "entries from {:?}", entry.address);
    }
    complete
}

/// Entries up to the end or to an error, and whether it was the end.
pub(crate) fn collected<'a>(entries: impl Iterator<Item = Result<Entry<'a>>>) -> (Vec<Entry<'a>>, bool) {
    let mut all = Vec::new();
    for entry in entries {
        match accepted(entry) {
            Some(entry) => all.push(entry),
            None => return (all, false),
        }
    }
    (all, true)
}

fn lent(log: &Log<&[u8]>) -> (Vec<Entry<'static>>, bool) {
    let (mut all, mut entries) = (Vec::new(), log.entries());
    loop {
        match accepted(entries.lend()) {
            Some(Some(entry)) => all.push(entry.into_owned()),
            end => return (all, end.is_some()),
        }
    }
}

pub(crate) fn plain(entry: &Entry) -> reference::Entry {
    reference::Entry { is_put: entry.is_put(), key: entry.key.to_vec(), value: entry.value.to_vec() }
}

/// An index made of the log finds what a map finds. The log's identifier, any number, decides how it is made.
fn check_table(log: &Log<&[u8]>, expected: &Entries) {
    let identifier = log.header().file_identifier;
    let hash_size = [HashSize::Four, HashSize::Eight][identifier as usize % 2];
    let options = IndexOptions { hash_size: Some(hash_size), seed: Some(identifier) };
    // A header that lies, about entries per block say, may leave no way to make one.
    let Some(built) = accepted(build_index(log, &options)) else { return };
    let table = index::opened(log.bytes(), &built).expect("an index of this log");
    index::check_sound(&table, expected);
}

/// The same entries, written afresh, are the same entries; and our own files have no fault.
fn check_rewritten(log: &Log<&[u8]>, expected: &Entries) {
    let block_size = log.header().block_size.clamp(10, 1 << 20);
    let options = LogOptions { compression: log.header().compression, block_size };
    let mut writer = LogWriter::create_with_identifier(Cursor::new(Vec::new()), &options, 1).expect("a log");
    for entry in &expected.entries {
        let reference::Entry { is_put, key, value } = entry;
        if *is_put { writer.put(key, value) } else { writer.delete(key) }.expect("an entry written");
    }
    let bytes = writer.finish().expect("the end of a log").0.into_inner();
    let written = Log::open(&bytes[..]).expect("a log that we wrote");
    assert!(check_entries(&written, expected));
    let index = build_index(&written, &IndexOptions { seed: Some(0), ..IndexOptions::default() }).expect("its index");
    let table = index::opened(&bytes, &index).expect("its table");
    index::check_sound(&table, expected);
    let report = table.verify();
    assert!(report.is_clean(), "{:?}", report.findings);
}
