//! Shards against a twin, for both hashes; misplaced keys; the format page's examples.

use hammerspace_error::Kind;
use hammerspace_sparkey::{
    Compression, IndexOptions, Log, LogOptions, LogWriter, ShardKeys, Shards, Table, build_index,
};
use hammerspace_testkit::page;
use std::collections::BTreeMap;
use std::io::Cursor;

const PAGE: &str = include_str!("../../../../docs/format/sparkey-shards.md");

type Pairs = BTreeMap<Vec<u8>, Vec<u8>>;
type Owned = Table<Vec<u8>, Vec<u8>>;

fn table<'a>(pairs: impl IntoIterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>, compression: Compression) -> Owned {
    let options = LogOptions { compression, block_size: 64 };
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &options).unwrap();
    for (key, value) in pairs {
        writer.put(key, value).unwrap();
    }
    let log = Log::open(writer.finish().unwrap().0.into_inner()).unwrap();
    let index = build_index(&log, &IndexOptions::default()).unwrap();
    Table::open(log.into_inner(), index).unwrap()
}

/// The tables that a writer of `count` shards makes.
fn divided(pairs: &Pairs, keys: ShardKeys, count: usize, compression: Compression) -> Vec<Owned> {
    let lies_in = |key: &[u8], shard| keys.shard_of(key, count) == Some(shard);
    (0..count).map(|shard| table(pairs.iter().filter(|(key, _)| lies_in(key, shard)), compression)).collect()
}

/// Keys of all lengths and planes of Unicode.
fn random_pairs(seed: u64) -> Pairs {
    let mut rng = fastrand::Rng::with_seed(seed);
    let letters = ['a', 'ß', '日', '🦀', '\0', '\u{10ffff}'];
    let mut text = |len: usize| (0..len).map(|_| letters[rng.usize(..letters.len())]).collect::<String>().into_bytes();
    (0..200).map(|at| (text(at % 12), text(at % 5))).collect()
}

#[test]
fn shards_read_like_one_table() {
    for seed in 0..40_u64 {
        let pairs = random_pairs(seed);
        let keys = ShardKeys::ALL[seed as usize % 2];
        let count = [2, 3, 8, 100][seed as usize / 2 % 4];
        let compression = [Compression::None, Compression::Zstd][seed as usize / 8 % 2];
        let shards = Shards::join(divided(&pairs, keys, count, compression)).unwrap();

        assert_eq!(shards.keys(), keys, "seed {seed}");
        assert_eq!(shards.len(), pairs.len() as u64, "seed {seed}");
        assert!(shards.verify().is_clean(), "seed {seed}");
        let seen: Pairs = shards.iter().map(|entry| entry.unwrap()).map(|e| (e.key.into(), e.value.into())).collect();
        assert_eq!(seen, pairs, "seed {seed}");
        // The last one is no string, so that no shard of strings can have it.
        let mut asked: Vec<&[u8]> = pairs.keys().map(Vec::as_slice).collect();
        asked.extend([&b"absent"[..], b"\xff"]);
        let expected: Vec<Option<&[u8]>> = asked.iter().map(|key| pairs.get(*key).map(Vec::as_slice)).collect();
        let found = shards.get_many(&asked).unwrap();
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "seed {seed}");
        for (key, expected) in asked.iter().zip(expected) {
            assert_eq!(shards.get(key).unwrap().as_deref(), expected, "seed {seed}, key {key:?}");
            assert_eq!(shards.contains(key).unwrap(), expected.is_some(), "seed {seed}, key {key:?}");
        }
    }
}

#[test]
fn without_keys_to_tell_either_hash_is_right() {
    let pairs = Pairs::from([(b"a".to_vec(), b"1".to_vec())]);
    for (pairs, count) in [(&Pairs::new(), 5), (&pairs, 8), (&random_pairs(1), 1)] {
        let shards = Shards::join(divided(pairs, ShardKeys::Strings, count, Compression::None)).unwrap();
        assert_eq!((shards.keys(), shards.len()), (ShardKeys::Bytes, pairs.len() as u64));
        assert!(pairs.iter().all(|(key, value)| shards.get(key).unwrap().as_deref() == Some(value)));
        assert!(shards.verify().is_clean());
    }
}

#[test]
fn canary_shards_in_another_order_are_noticed() {
    let pairs = random_pairs(2);
    for keys in ShardKeys::ALL {
        let mut tables = divided(&pairs, keys, 8, Compression::None);
        tables.swap(0, 7);
        assert_eq!(Shards::join(tables).unwrap_err().kind(), Kind::Corrupt);
        // Behind the keys that tell the hash, only `verify` comes upon it.
        let mut tables = divided(&pairs, keys, 8, Compression::None);
        tables.swap(6, 7);
        let report = Shards::join(tables).unwrap().verify();
        assert!(report.count > 10 && report.findings[0].finding().contains("lies in shard 6 of 8"), "{report:?}");
    }
}

#[test]
fn there_are_between_one_shard_and_what_scio_can_count() {
    assert_eq!(Shards::join(Vec::<Owned>::new()).unwrap_err().kind(), Kind::Invalid);
    assert!(PAGE.contains(&format!("from 1 to {}", ShardKeys::COUNT_MAX)));
}

#[test]
fn the_examples_on_the_page_are_what_the_code_makes_of_them() {
    let rows = page::rows(PAGE, "Worked example");
    assert!(rows.len() > 9, "the page has {} examples", rows.len());
    for row in rows {
        let key = row[0].trim_matches('`').as_bytes();
        for (keys, hash, shard) in [(ShardKeys::Bytes, row[1], row[2]), (ShardKeys::Strings, row[3], row[4])] {
            assert_eq!(format!("`{:#010x}`", keys.hash(key).unwrap()), hash, "{row:?}");
            assert_eq!(keys.shard_of(key, 8).unwrap().to_string(), shard, "{row:?}");
        }
    }
    for keys in ShardKeys::ALL {
        assert!(PAGE.contains(&format!("| {} |", keys.name())), "{}", keys.name());
    }
    assert!(PAGE.contains(&format!("the seed {}", ShardKeys::SEED)));
}
