//! Files that Spotify's C and Java writers made, and what their manifest says of them.

use hammerspace_sparkey::{Entry, EntryKind, Index, IndexOptions, Log, LogHeader, Table, build_index};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// An entry as the manifest writes it: kind, key and value in hex, and how often it is repeated.
#[derive(Deserialize)]
#[serde(untagged)]
enum Op {
    Once(String, String, String),
    Repeated(String, String, String, usize),
}

#[derive(Deserialize)]
struct Manifest {
    contents: HashMap<String, Vec<Op>>,
    pairs: Vec<Pair>,
    reject: Vec<Reject>,
}

#[derive(Deserialize)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) spi: String,
    pub(crate) spl: String,
    content: String,
    indexed_entries: usize,
    log_entries: usize,
    live_entries: u64,
    absent: Vec<String>,
    #[serde(default)]
    absent_colliding: Vec<String>,
    log_header: HashMap<String, u64>,
    index_header: HashMap<String, u64>,
    table_rule: Option<String>,
}

#[derive(Deserialize)]
struct Reject {
    name: String,
    spi: String,
    spl: String,
    #[serde(rename = "must_reject")]
    must_be_refused: bool,
}

fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/sparkey")
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(dir().join(name)).unwrap()
}

fn manifest() -> Manifest {
    serde_json::from_slice(&bytes("manifest.json")).unwrap()
}

pub(crate) fn pairs() -> Vec<Pair> {
    manifest().pairs
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

type Flat = (EntryKind, Vec<u8>, Vec<u8>);

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

/// Live entries in log order, by the plainest means: the last entry of a key decides.
fn live(entries: &[Flat]) -> Vec<Flat> {
    let last: BTreeMap<&[u8], usize> = entries.iter().enumerate().map(|(at, (_, key, _))| (&key[..], at)).collect();
    let is_live = |at: usize| entries[at].0 == EntryKind::Put && last[&entries[at].1[..]] == at;
    (0..entries.len()).filter(|at| is_live(*at)).map(|at| entries[at].clone()).collect()
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
        assert_eq!((live.len() as u64, table.len()), (pair.live_entries, pair.live_entries), "{name}");
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
            (&hammerspace_sparkey::IndexHeader::FIELDS, &index.header().encode(), &pair.index_header),
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
fn damaged_pairs_are_refused_by_open_access_or_verify() {
    let rejects = manifest().reject;
    assert_eq!(rejects.len(), 35);
    for reject in rejects {
        let found = read_all(&bytes(&reject.spl), &bytes(&reject.spi));
        assert!(found.is_err() || !reject.must_be_refused, "{}: {found:?}", reject.name);
        if !reject.must_be_refused && !reject.name.contains("corrupt") {
            found.unwrap_or_else(|error| panic!("{}: {error}", reject.name));
        }
    }
}

/// Opens, iterates and looks up everything; gives the number of live entries.
fn read_all(spl: &[u8], spi: &[u8]) -> hammerspace_error::Result<usize> {
    let table = Table::open(spl, spi)?;
    for entry in table.log().entries() {
        table.get(&entry?.key)?;
    }
    table.iter().try_fold(0, |count, entry| entry.map(|_| count + 1))
}

#[test]
fn our_builder_makes_the_tables_of_java_byte_for_byte() {
    let (mut java, mut c) = (0, 0);
    for pair in pairs() {
        let log = Log::open(bytes(&pair.spl)).unwrap();
        let theirs = Index::open(bytes(&pair.spi)).unwrap();
        let options =
            IndexOptions { hash_size: Some(theirs.header().hash_size), seed: Some(theirs.header().hash_seed) };
        let ours = Index::open(build_index(&log, &options).unwrap()).unwrap();
        let same_table = ours.bytes()[112..] == theirs.bytes()[112..];
        match pair.table_rule.as_deref() {
            // Sparsity is Java's option alone: its table is larger than ours.
            Some("java") if pair.name != "j13_sparsity3" => {
                let garbage_size = theirs.header().garbage_size;
                let ours = hammerspace_sparkey::IndexHeader { garbage_size, ..ours.header().clone() };
                assert_eq!(ours, *theirs.header(), "{}", pair.name);
                assert!(same_table, "{}", pair.name);
                java += 1;
            }
            Some("c") if same_table => {
                assert_eq!(ours.header(), theirs.header(), "{}", pair.name);
                c += 1;
            }
            _ => {}
        }
    }
    assert_eq!((java, c), (18, 15));
}
