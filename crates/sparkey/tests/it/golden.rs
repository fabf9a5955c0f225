//! Files that Spotify's C and Java writers made, and what their manifest says of them.

use crate::model::live;
use crate::reference::{self, Flat};
use hammerspace_sparkey::{
    Compression, Entry, EntryKind, Index, IndexHeader, IndexOptions, Log, LogHeader, LogOptions, LogWriter, Table,
    build_index, update_index,
};
pub(crate) use hammerspace_testkit::golden::bytes;
use hammerspace_testkit::golden::{Op, Pair, Reject, manifest};
use std::io::Cursor;

pub(crate) fn pairs() -> Vec<Pair> {
    manifest().pairs
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn flat(ops: &[Op]) -> Vec<Flat> {
    let expand = |op: &Op| {
        let (kind, key, value, times) = match op {
            Op::Once(kind, key, value) => (kind, key, value, 1),
            Op::Repeated(kind, key, value, times) => (kind, key, value, *times),
        };
        let kind = if kind == "put" { EntryKind::Put } else { EntryKind::Delete };
        std::iter::repeat_n((kind, hex(key), hex(value)), times)
    };
    ops.iter().flat_map(expand).collect()
}

fn flatten(entry: Entry<'_>) -> Flat {
    (entry.kind, entry.key.into_owned(), entry.value.into_owned())
}

#[test]
fn every_pair_reads_as_its_manifest_says() {
    let manifest = manifest();
    assert_eq!(manifest.pairs.len(), 53);
    for pair in &manifest.pairs {
        let name = &pair.name;
        let table = Table::open(bytes(&pair.spl), bytes(&pair.spi)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = flat(&manifest.contents[&pair.content]);
        assert_eq!(expected.len(), pair.log_entries, "{name}");

        let raw: Vec<Flat> = table.log().entries().map(|entry| flatten(entry.unwrap())).collect();
        assert!(raw == expected, "{name}: raw iteration");
        let mut entries = table.log().entries();
        for expected in &expected {
            assert!(flatten(entries.lend().unwrap().unwrap()) == *expected, "{name}: lent");
        }
        assert!(entries.lend().unwrap().is_none() && entries.next().is_none());

        let live = live(&expected[..pair.indexed_entries]);
        assert_eq!((live.len(), table.len() as usize), (pair.live_entries, pair.live_entries), "{name}");
        let iterated: Vec<Flat> = table.iter().map(|entry| flatten(entry.unwrap())).collect();
        assert!(iterated == live, "{name}: live iteration");
        for (_, key, value) in &live {
            assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]), "{name}: {key:02x?}");
        }
        for key in pair.absent.iter().chain(&pair.absent_colliding) {
            assert_eq!(table.get(&hex(key)).unwrap(), None, "{name}: {key}");
            assert!(!table.contains(&hex(key)).unwrap(), "{name}: {key}");
        }
    }
}

#[test]
fn every_header_says_what_its_manifest_says() {
    for pair in pairs() {
        let (log, index) = (bytes(&pair.spl), bytes(&pair.spi));
        let (log, index) = (Log::open(log).unwrap(), Index::open(index).unwrap());
        for (fields, encoded, said) in [
            (&LogHeader::FIELDS[..], &log.header().encode()[..], &pair.log_header),
            (&IndexHeader::FIELDS, &index.header().encode(), &pair.index_header),
        ] {
            assert_eq!(fields.len(), said.len());
            for field in fields {
                assert_eq!(field.get(encoded), said[field.name], "{}: {}", pair.name, field.name);
            }
        }
        assert_eq!(log.header().encode(), log.bytes()[..LogHeader::SIZE]);
    }
}

#[test]
fn every_pair_is_sound() {
    for pair in pairs() {
        let report = Table::open(bytes(&pair.spl), bytes(&pair.spi)).unwrap().verify();
        assert!(report.is_clean(), "{}: {:?}", pair.name, report.findings);
    }
}

#[test]
fn damaged_pairs_are_refused_at_open_or_by_verify() {
    let rejects = manifest().reject;
    assert_eq!(rejects.len(), 35);
    for Reject { name, spl, spi, must_be_refused, .. } in rejects {
        let findings = match Table::open(bytes(&spl), bytes(&spi)) {
            Ok(table) => table.verify().findings,
            Err(error) => vec![error],
        };
        // The one pair that need not be refused, but is broken all the same.
        let broken = must_be_refused || name == "r_snappy_corrupt_block";
        assert_eq!(!findings.is_empty(), broken, "{name}: {findings:?}");
        for finding in findings {
            assert!(finding.offset().is_some() && finding.advice().is_some(), "{name}: {finding}");
        }
    }
}

#[test]
fn damage_within_a_log_is_refused_by_the_access_that_meets_it() {
    for name in ["r_snappy_data_end_mid_block", "r_snappy_blocksize_small", "r_none_data_end_mid_entry"] {
        let log = Log::open(bytes(&format!("reject/{name}.spl"))).unwrap();
        assert!(log.entries().any(|entry| entry.is_err()), "{name}");
        assert!(build_index(&log, &IndexOptions::default()).is_err(), "{name}");
    }
}

/// The blocks are cut as C cuts them; without compression that makes the files equal.
#[test]
fn our_writer_makes_the_logs_of_c() {
    let manifest = manifest();
    let mut made = 0;
    for pair in manifest.pairs.iter().filter(|pair| pair.name.starts_with('c')) {
        // Made in several goes, or with bytes behind the end.
        if ["append", "stale", "garbage"].iter().any(|word| pair.name.contains(word)) {
            continue;
        }
        let theirs = bytes(&pair.spl);
        let ours = written(&flat(&manifest.contents[&pair.content]), &theirs);
        assert!(reference::blocks(&ours).unwrap() == reference::blocks(&theirs).unwrap(), "{}", pair.name);
        let (ours, theirs) = (LogHeader::parse(&ours).unwrap(), LogHeader::parse(&theirs).unwrap());
        // Ours also counts the keys of deletes. And compressors may improve.
        let (max_key_len, data_end) = (ours.max_key_len, ours.data_end);
        assert!(max_key_len >= theirs.max_key_len);
        assert!(data_end == theirs.data_end || theirs.compression != Compression::None);
        assert_eq!(ours, LogHeader { max_key_len, data_end, ..theirs }, "{}", pair.name);
        made += 1;
    }
    assert_eq!(made, 24);
}

/// A log of these entries, made in one go with the options and the identifier of another.
fn written(entries: &[Flat], like: &[u8]) -> Vec<u8> {
    let header = LogHeader::parse(like).unwrap();
    let options = LogOptions { compression: header.compression, block_size: header.block_size };
    let sink = Cursor::new(Vec::new());
    let mut writer = LogWriter::create_with_identifier(sink, &options, header.file_identifier).unwrap();
    for (kind, key, value) in entries {
        match kind {
            EntryKind::Put => writer.put(key, value).unwrap(),
            EntryKind::Delete => writer.delete(key).unwrap(),
        }
    }
    writer.finish().unwrap().0.into_inner()
}

/// Whoever wrote a log and its index: we append, bring the index up to date, and everything is there.
#[test]
fn every_pair_can_be_appended_to() {
    let manifest = manifest();
    for pair in &manifest.pairs {
        let mut entries = flat(&manifest.contents[&pair.content]);
        let mut writer = LogWriter::append(Cursor::new(bytes(&pair.spl))).unwrap();
        let old_end = writer.header().data_end;
        let first = entries.first().map_or(b"none".to_vec(), |(_, key, _)| key.clone());
        for (kind, key) in [(EntryKind::Put, b"a new key".to_vec()), (EntryKind::Delete, first)] {
            match kind {
                EntryKind::Put => writer.put(&key, b"new").unwrap(),
                EntryKind::Delete => writer.delete(&key).unwrap(),
            }
            let value = if kind == EntryKind::Put { b"new".to_vec() } else { Vec::new() };
            entries.push((kind, key, value));
        }
        let (sink, header) = writer.finish().unwrap();
        assert!(header.data_end > old_end);
        let of_blocks = (header.max_entries_per_block, header.block_size);
        assert!(header.compression != Compression::None || of_blocks == (0, 0), "{}: {of_blocks:?}", pair.name);

        let old = Index::open(bytes(&pair.spi)).unwrap();
        let log = Log::open(sink.into_inner()).unwrap();
        let index = update_index(&log, &old, &IndexOptions::default()).unwrap();
        let table = Table::join(log, Index::open(index).unwrap()).unwrap();
        let iterated: Vec<Flat> = table.iter().map(|entry| flatten(entry.unwrap())).collect();
        assert!(iterated == live(&entries), "{}", pair.name);
        let (bits, report) = (table.index().header().entry_block_bits, table.verify());
        assert!(bits == 0 || header.compression != Compression::None, "{}", pair.name);
        assert!(report.is_clean(), "{}: {:?}", pair.name, report.findings);
    }
}

#[test]
fn our_builder_makes_the_tables_of_java() {
    let (mut java, mut c) = (0, 0);
    for pair in pairs() {
        let log = Log::open(bytes(&pair.spl)).unwrap();
        let theirs = Index::open(bytes(&pair.spi)).unwrap();
        let options =
            IndexOptions { hash_size: Some(theirs.header().hash_size), seed: Some(theirs.header().hash_seed) };
        let ours = Index::open(build_index(&log, &options).unwrap()).unwrap();
        let same_table = slots(&ours) == slots(&theirs);
        match pair.table_rule.as_deref() {
            // Sparsity is Java's option alone: its table is larger than ours.
            Some("java") if pair.name != "j13_sparsity3" => {
                let IndexHeader { garbage_size, entry_block_bits, .. } = *theirs.header();
                let ours = IndexHeader { garbage_size, entry_block_bits, ..ours.header().clone() };
                assert_eq!(ours, *theirs.header(), "{}", pair.name);
                // Java moves a key that was put again, when a later one comes between: the table tells of its history.
                assert!(same_table || pair.name == "j14_none_blocksize_kept", "{}", pair.name);
                java += usize::from(same_table);
            }
            Some("c") if same_table => {
                assert_eq!(ours.bytes(), theirs.bytes(), "{}", pair.name);
                c += 1;
            }
            _ => {}
        }
    }
    assert_eq!((java, c), (17, 11));
}

/// Hash, offset and number in the block, slot by slot: whatever bits the number takes.
fn slots(index: &Index<Vec<u8>>) -> Vec<(u64, u64, u64)> {
    let IndexHeader { hash_size, entry_block_bits, .. } = *index.header();
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let slots = index.bytes()[IndexHeader::SIZE..].chunks_exact(index.header().slot_size());
    let parts =
        slots.map(|slot| slot.split_at(hash_size.bytes())).map(|(hash, address)| (number(hash), number(address)));
    parts.map(|(hash, at)| (hash, at >> entry_block_bits, at & ((1 << entry_block_bits) - 1))).collect()
}
