//! Indexes by the rules of the C library, beside those that it made.

use crate::golden::{bytes, pairs};
use hammerspace_sparkey::{Index, IndexHeader, IndexOptions, Log, Table, build_index_as_c};

/// As when there is no index yet.
const NONE: Option<&Index<Vec<u8>>> = None;

#[test]
fn fresh_indexes_are_those_of_c_byte_by_byte() {
    let mut made = 0;
    for pair in pairs().iter().filter(|pair| pair.table_rule.as_deref() == Some("c")) {
        let log = Log::open(bytes(&pair.spl)).unwrap();
        let theirs = bytes(&pair.spi);
        let header = IndexHeader::parse(&theirs).unwrap();
        let options = IndexOptions { hash_size: Some(header.hash_size), seed: Some(header.hash_seed) };
        let ours = build_index_as_c(&log, NONE, &options).unwrap().unwrap();
        // Over a log by Java C's addresses have a bit that newer Java stumbles over.
        if pair.name != "x01_c_index_on_java_log" {
            assert!(ours == theirs, "{}", pair.name);
            made += 1;
        }
    }
    assert_eq!(made, 24);
}

/// An index of the first part of a log, gone on with; what C makes of it is compared in `bindings/sparkey-abi`.
#[test]
fn updated_indexes_are_sound_and_those_up_to_date_are_left_alone() {
    for name in ["c19_stale_index_none", "c20_stale_index_snappy", "x01_c_index_on_java_log", "c29_hashsize_change"] {
        let (log, old) = (bytes(&format!("{name}.spl")), bytes(&format!("{name}.spi")));
        let (log, old) = (Log::open(log).unwrap(), Index::open(old).unwrap());
        let updated = build_index_as_c(&log, Some(&old), &IndexOptions::default()).unwrap();
        let Some(updated) = updated else {
            assert_eq!(old.header().data_end, log.header().data_end, "{name}");
            continue;
        };
        let (seed, table) = (old.header().hash_seed, Table::join(log, Index::open(updated).unwrap()).unwrap());
        assert_eq!(table.index().header().hash_seed, seed, "{name}");
        assert!(table.verify().is_clean(), "{name}: {:?}", table.verify().findings);
        assert_eq!(
            build_index_as_c(table.log(), Some(table.index()), &IndexOptions::default()).unwrap(),
            None,
            "{name}"
        );
    }
}

#[test]
fn another_hash_size_means_a_fresh_index_with_the_old_seed() {
    let log = Log::open(bytes("c06_none_h32.spl")).unwrap();
    let (four, eight) = (bytes("c06_none_h32.spi"), bytes("c07_none_h64.spi"));
    let (four, eight) = (Index::open(four).unwrap(), IndexHeader::parse(&eight).unwrap());
    let options = IndexOptions { hash_size: Some(eight.hash_size), seed: None };
    let ours = build_index_as_c(&log, Some(&four), &options).unwrap().unwrap();
    let fresh = IndexOptions { seed: Some(four.header().hash_seed), ..options };
    assert!(ours == build_index_as_c(&log, NONE, &fresh).unwrap().unwrap());
}

/// Neither garbage in the slots nor a table that takes for ever to re-insert gets in the way.
#[test]
fn a_damaged_index_counts_for_nothing() {
    let (log, sound) = (bytes("c19_stale_index_none.spl"), bytes("c19_stale_index_none.spi"));
    let log = Log::open(log).unwrap();
    let seed = IndexHeader::parse(&sound).unwrap().hash_seed;
    let fresh = build_index_as_c(&log, NONE, &IndexOptions { seed: Some(seed), ..IndexOptions::default() }).unwrap();
    for at in (IndexHeader::SIZE..sound.len()).step_by(7) {
        let mut damaged = sound.clone();
        damaged[at..].fill(0xff);
        let old = Index::open(damaged).unwrap();
        let ours = build_index_as_c(&log, Some(&old), &IndexOptions::default()).unwrap();
        assert!(ours == fresh, "from {at} on");
    }
}
