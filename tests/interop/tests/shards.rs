//! Shards mean the same to Scala and Java as to us: which shard a key lies in, and what is read from shards of the other.

use std::path::Path;

use fastrand::Rng;
use hammerspace_interop::{Change, Format, Java, Pair, Peer};
use hammerspace_sparkey::{Compression, HashSize, LogOptions, ShardKeys};
use hammerspace_tables::{LogFile, Pair as Files, Sharding, open_shards, write_shards};

const SEED: u64 = 2026;
const COUNT: usize = 7;

fn java() -> Java {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../interop-java");
    Java::start(&built).unwrap_or_else(|why| panic!("{why}"))
}

/// Strings of all lengths: ASCII, letters of two and three bytes, and such as are surrogate pairs in UTF-16.
fn strings() -> Vec<Vec<u8>> {
    let letters = ['a', '\0', '~', 'ß', '\u{7ff}', '語', '\u{ffff}', '\u{10000}', '🦀', '\u{10ffff}'];
    let mut rng = Rng::with_seed(SEED);
    let mut string = |len: usize| (0..len).map(|_| letters[rng.usize(..letters.len())]).collect::<String>();
    let mut strings: Vec<Vec<u8>> = (0..400).map(|at| string(at % 20).into_bytes()).collect();
    strings.sort();
    strings.dedup();
    strings
}

/// Bytes of all lengths, most of them no text.
fn bytes() -> Vec<Vec<u8>> {
    let mut rng = Rng::with_seed(SEED);
    (0..400).map(|at| (0..at % 37).map(|_| rng.u8(..)).collect()).collect()
}

#[test]
fn scala_puts_keys_in_the_same_shards() {
    let mut java = java();
    for (keys, asked) in [(ShardKeys::Bytes, bytes()), (ShardKeys::Bytes, strings()), (ShardKeys::Strings, strings())] {
        for count in [1, 2, 7, 64, ShardKeys::COUNT_MAX] {
            for key in &asked {
                let theirs = java.shard(keys, key, count).unwrap();
                assert_eq!(keys.shard_of(key, count), Some(theirs), "{} {key:?} of {count}", keys.name());
            }
        }
    }
}

/// Were the hash another one, so would the shards be.
#[test]
fn canary_the_wrong_hash_is_noticed() {
    let mut java = java();
    let differs = |key: &&Vec<u8>| java.shard(ShardKeys::Bytes, key, 64).ok() != ShardKeys::Strings.shard_of(key, 64);
    assert!(strings().iter().filter(differs).count() > 300);
}

#[test]
fn each_reads_the_shards_of_the_other() {
    let (mut java, keys_of) = (java(), |keys| if keys == ShardKeys::Bytes { bytes() } else { strings() });
    for (keys, compression) in [(ShardKeys::Bytes, Compression::None), (ShardKeys::Strings, Compression::Zstd)] {
        let scratch = tempfile::tempdir().unwrap();
        let mut present = keys_of(keys);
        present.sort();
        present.dedup();
        let part = |dir: &str, shard| Pair::new(&scratch.path().join(dir), &format!("part-{shard:05}-of-{COUNT:05}"));

        // Theirs, as Scio's writer goes about it.
        std::fs::create_dir(scratch.path().join("theirs")).unwrap();
        let mut changes = vec![Vec::new(); COUNT];
        for key in &present {
            changes[java.shard(keys, key, COUNT).unwrap()].push(Change::Put(key.clone(), key.repeat(2)));
        }
        for (shard, changes) in changes.iter().enumerate() {
            let format = Format { compression, block_size: 1000, hash_size: HashSize::Four };
            java.create(&part("theirs", shard), format, changes).unwrap();
            java.index(&part("theirs", shard), HashSize::Four).unwrap();
        }
        let shards = open_shards(&scratch.path().join("theirs")).unwrap();
        assert_eq!((shards.keys(), shards.len()), (keys, present.len() as u64));
        assert!(shards.verify().is_clean());
        for (key, value) in present.iter().zip(shards.get_many(&present).unwrap()) {
            assert_eq!(value.as_deref(), Some(&key.repeat(2)[..]), "{key:?}");
        }

        // Ours, as Scio's reader goes about it.
        let source = Files::of_log(&scratch.path().join("source.spl")).unwrap();
        let mut log = LogFile::create(&source.log, &LogOptions::default()).unwrap();
        present.iter().try_for_each(|key| log.put(key, &key.repeat(2))).unwrap();
        log.finish().unwrap();
        let sharding = Sharding { count: COUNT, keys, log: LogOptions { compression, block_size: 1000 } };
        write_shards(&source.open_or_index().unwrap(), &scratch.path().join("ours"), &sharding).unwrap();
        for shard in 0..COUNT {
            let mine: Vec<Vec<u8>> =
                present.iter().filter(|key| java.shard(keys, key, COUNT) == Ok(shard)).cloned().collect();
            let seen = java.read(&part("ours", shard), &mine).unwrap();
            let expected: Vec<_> = mine.iter().map(|key| Some(key.repeat(2))).collect();
            assert_eq!((seen.found, seen.live.len()), (expected, mine.len()), "shard {shard}");
        }
    }
}
