//! Compressed versions, read with a cache of decoded blocks and without.

use hammerspace_space::{Compression, Space, Value};

use crate::support::{quick, scratch};

const KEYS: usize = 2000;

/// In every version the blocks start at the same offsets, so what an older version left behind would be seen.
fn value(version: usize, key: usize) -> Vec<u8> {
    format!("{version} {key:04} ").repeat(10).into_bytes()
}

fn publish(space: &Space, version: usize) {
    let mut writer = space.replace().unwrap();
    for key in 0..KEYS {
        writer.put(key.to_string(), value(version, key)).unwrap();
    }
    writer.publish().unwrap();
    assert!(space.refresh().unwrap());
}

fn check(space: &Space, version: usize) {
    let snapshot = space.snapshot();
    for key in 0..KEYS {
        let (name, expected) = (key.to_string(), value(version, key));
        assert_eq!(space.get(&name).unwrap().unwrap(), expected);
        assert_eq!(space.get_with(&name, <[u8]>::to_vec).unwrap().unwrap(), expected);
        assert_eq!(snapshot.get(&name).unwrap().unwrap(), expected);
        assert_eq!(snapshot.get_with(&name, <[u8]>::to_vec).unwrap().unwrap(), expected);
        assert!(snapshot.contains(&name).unwrap());
        assert!(!space.contains(format!("no {name}")).unwrap());
    }
    assert_eq!(space.get_with("absent", <[u8]>::len).unwrap(), None);
}

#[test]
fn every_version_is_read_right_whatever_the_cache_holds() {
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd] {
        for cache_bytes in [0, 1, 50_000, 1 << 20] {
            let scratch = scratch();
            let options = quick().compression(compression).cache_bytes(cache_bytes);
            let space = options.create(scratch.path()).unwrap();
            assert_eq!(space.get_with("empty", <[u8]>::len).unwrap(), None);
            let mut held: Vec<Value> = Vec::new();
            for version in 0..3 {
                publish(&space, version);
                check(&space, version);
                held.push(space.get("1234").unwrap().unwrap());
            }
            drop(space);
            for (version, held) in held.iter().enumerate() {
                assert_eq!(*held, value(version, 1234), "a value outlives its version, its block and its cache");
            }
        }
    }
}

#[test]
fn threads_share_a_cache() {
    let scratch = scratch();
    let space = quick().compression(Compression::Snappy).cache_bytes(60_000).create(scratch.path()).unwrap();
    publish(&space, 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| check(&space, 0));
        }
    });
}
