//! Cursors, beside the iterators that borrow their log.

use crate::golden::{bytes, pairs};
use crate::reference::Flat;
use hammerspace_error::Result;
use hammerspace_sparkey::{Cursor, CursorState, Log, Table};

/// What a cursor reads up to the end or an error, in pieces of up to `len_max` bytes; and whether it came to the end.
pub(crate) fn read_all<B: AsRef<[u8]>>(log: &Log<B>, len_max: u64) -> (Vec<Flat>, bool) {
    read(log, len_max, |cursor| cursor.advance(log))
}

/// The same of live entries.
pub(crate) fn read_live<L: AsRef<[u8]>, I: AsRef<[u8]>>(table: &Table<L, I>, len_max: u64) -> (Vec<Flat>, bool) {
    read(table.log(), len_max, |cursor| cursor.advance_live(table))
}

fn read<B: AsRef<[u8]>>(
    log: &Log<B>,
    len_max: u64,
    mut advance: impl FnMut(&mut Cursor) -> Result<()>,
) -> (Vec<Flat>, bool) {
    let (mut cursor, mut entries) = (Cursor::new(log), Vec::new());
    loop {
        match advance(&mut cursor).and_then(|()| entry(&mut cursor, log, len_max)) {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => return (entries, true),
            Err(error) => {
                assert!(error.offset().is_some() && error.advice().is_some(), "{error}");
                assert_eq!(cursor.state(), CursorState::Invalid, "{error}");
                return (entries, false);
            }
        }
    }
}

fn entry<B: AsRef<[u8]>>(cursor: &mut Cursor, log: &Log<B>, len_max: u64) -> Result<Option<Flat>> {
    if cursor.state() == CursorState::Closed {
        return Ok(None);
    }
    let mut key = Vec::new();
    while (key.len() as u64) < cursor.key_len() {
        key.extend_from_slice(cursor.key_chunk(log, len_max)?);
    }
    Ok(Some((cursor.kind(), key, value(cursor, log, len_max)?)))
}

pub(crate) fn value<B: AsRef<[u8]>>(cursor: &mut Cursor, log: &Log<B>, len_max: u64) -> Result<Vec<u8>> {
    let mut value = Vec::new();
    while (value.len() as u64) < cursor.value_len() {
        value.extend_from_slice(cursor.value_chunk(log, len_max)?);
    }
    Ok(value)
}

fn flat<'a>(entries: impl Iterator<Item = Result<hammerspace_sparkey::Entry<'a>>>) -> Vec<Flat> {
    entries.map(|entry| entry.unwrap()).map(|e| (e.kind, e.key.into_owned(), e.value.into_owned())).collect()
}

#[test]
fn cursors_read_what_iterators_read_however_small_the_pieces() {
    for pair in pairs() {
        let table = Table::open(bytes(&pair.spl), bytes(&pair.spi)).unwrap();
        for len_max in [1, 7, u64::MAX] {
            assert!(read_all(table.log(), len_max) == (flat(table.log().entries()), true), "{}", pair.name);
            assert!(read_live(&table, len_max) == (flat(table.iter()), true), "{}", pair.name);
        }
    }
}

#[test]
fn a_lookup_leads_to_the_value_and_on_to_the_entries_behind_it() {
    for pair in pairs() {
        let table = Table::open(bytes(&pair.spl), bytes(&pair.spi)).unwrap();
        let (live, mut cursor) = (flat(table.iter()), Cursor::new(table.log()));
        for (at, (_, key, expected)) in live.iter().enumerate().take(40) {
            assert!(cursor.get(&table, key).unwrap(), "{}", pair.name);
            assert!(cursor.key_chunk(table.log(), u64::MAX).unwrap().is_empty(), "the key has been read");
            assert!(value(&mut cursor, table.log(), 3).unwrap() == *expected, "{}", pair.name);
            cursor.advance_live(&table).unwrap();
            let next = entry(&mut cursor, table.log(), u64::MAX).unwrap();
            assert!(next.as_ref() == live.get(at + 1), "{}", pair.name);
        }
    }
}

/// As C has it where C has it defined; from the middle of an entry C would go on with what is not one.
#[test]
fn a_miss_stands_on_nothing_and_takes_nothing_away() {
    for name in ["c06_none_h32", "c12_snappy10_h32", "c25_collision_h32", "c26_collision_h32_snappy"] {
        let table = Table::open(bytes(&format!("{name}.spl")), bytes(&format!("{name}.spi"))).unwrap();
        let (all, mut cursor) = (flat(table.log().entries()), Cursor::new(table.log()));
        for expected in &all {
            cursor.advance(table.log()).unwrap();
            cursor.key_chunk(table.log(), 2).unwrap();
            assert_eq!((cursor.kind(), cursor.key_len()), (expected.0, expected.1.len() as u64), "{name}");
            for absent in 0..3_u32 {
                assert!(!cursor.get(&table, &absent.to_le_bytes()).unwrap());
                assert_eq!(cursor.state(), CursorState::Invalid);
                assert!(cursor.value_chunk(table.log(), 1).is_err());
            }
        }
        cursor.advance(table.log()).unwrap();
        assert_eq!(cursor.state(), CursorState::Closed, "{name}");
    }
}

#[test]
fn a_rewound_cursor_reads_the_entry_again_across_blocks_too() {
    for name in ["c13_varint_edges_none", "c14_varint_edges_snappy1000", "c15_varint_edges_zstd1000"] {
        let log = Log::open(bytes(&format!("{name}.spl"))).unwrap();
        let mut cursor = Cursor::new(&log);
        cursor.rewind();
        assert_eq!(cursor.state(), CursorState::New);
        for expected in flat(log.entries()) {
            cursor.advance(&log).unwrap();
            for len_max in [100, 3333] {
                assert!(entry(&mut cursor, &log, len_max).unwrap() == Some(expected.clone()), "{name}");
                cursor.rewind();
            }
        }
    }
}

#[test]
fn seeking_leads_to_blocks_to_the_end_and_nowhere_else() {
    for name in ["c06_none_h32", "c08_snappy64_h32"] {
        let log = Log::open(bytes(&format!("{name}.spl"))).unwrap();
        let (mut cursor, end) = (Cursor::new(&log), log.header().data_end);
        for expected in log.entries().map(|entry| entry.unwrap()).filter(|entry| entry.address.index == 0) {
            cursor.seek(&log, expected.address.offset).unwrap();
            assert_eq!(cursor.state(), CursorState::New);
            cursor.advance(&log).unwrap();
            assert!(cursor.key_chunk(&log, u64::MAX).unwrap().first() == expected.key.first(), "{name}");
        }
        for nowhere in [0, 83, end + 1, u64::MAX] {
            assert!(cursor.seek(&log, nowhere).is_err(), "{nowhere}");
            assert_eq!(cursor.state(), CursorState::Invalid);
        }
        cursor.seek(&log, end).unwrap();
        cursor.advance(&log).unwrap();
        assert_eq!(cursor.state(), CursorState::Closed);
    }
}

/// Whatever another log with the same identifier says, be it shorter or packed otherwise.
#[test]
fn a_cursor_of_another_log_reads_that_log_or_nothing() {
    let names = ["c06_none_h32", "c08_snappy64_h32", "c11_zstd4096_h32", "c01_empty_none", "c05_three_entries_full"];
    let logs = names.map(|name| {
        let mut bytes = bytes(&format!("{name}.spl"));
        bytes[12..16].fill(7);
        Log::open(bytes).unwrap()
    });
    for (from, to) in logs.iter().flat_map(|from| logs.iter().map(move |to| (from, to))) {
        for steps in [0, 1, 2, 50] {
            let mut cursor = Cursor::new(from);
            (0..steps).for_each(|_| cursor.advance(from).unwrap());
            assert!(cursor.belongs_to(to));
            drop(cursor.key_chunk(to, u64::MAX).map(<[u8]>::to_vec));
            cursor.rewind();
            while cursor.state() != CursorState::Closed && cursor.advance(to).is_ok() {
                drop(cursor.value_chunk(to, u64::MAX).map(<[u8]>::to_vec));
            }
        }
    }
}

#[test]
fn canary_a_cursor_that_loses_an_entry_is_noticed() {
    let table = Table::open(bytes("c06_none_h32.spl"), bytes("c06_none_h32.spi")).unwrap();
    let (mut read, whole) = read_all(table.log(), u64::MAX);
    read.pop();
    assert!((read, whole) != (flat(table.log().entries()), true));
}
