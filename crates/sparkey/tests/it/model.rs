//! Random histories against a twin.

use hammerspace_sparkey::{
    Compression, HashSize, Index, IndexOptions, Log, LogOptions, LogWriter, Table, build_index, update_index,
};
use std::collections::BTreeMap;
use std::io::Cursor;

#[test]
fn random_histories_read_like_their_twin() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let compression = [Compression::None, Compression::Snappy, Compression::Zstd][rng.usize(..3)];
        let block_size = [10, 11, 30, 100, 1000, 4096][rng.usize(..6)];
        let hash_size = [HashSize::Four, HashSize::Eight][rng.usize(..2)];
        let mut twin = BTreeMap::new();
        let mut sink = Cursor::new(Vec::new());
        let mut index: Option<Vec<u8>> = None;
        for round in 0..rng.usize(1..6) {
            let mut writer = if round == 0 {
                LogWriter::create(sink, &LogOptions { compression, block_size }).unwrap()
            } else {
                LogWriter::append(sink).unwrap()
            };
            for _ in 0..rng.usize(..200) {
                let key = format!("{}", rng.u32(..100)).repeat(rng.usize(..4)).into_bytes();
                if rng.u32(..4) == 0 {
                    writer.delete(&key).unwrap();
                    twin.remove(&key);
                } else {
                    let value = vec![rng.u8(..); rng.usize(..300)];
                    writer.put(&key, &value).unwrap();
                    twin.insert(key, value);
                }
            }
            sink = writer.finish().unwrap().0;
            let log = Log::open(&sink.get_ref()[..]).unwrap();
            let options = IndexOptions { hash_size: Some(hash_size), seed: None };
            let built = match index {
                None => build_index(&log, &options).unwrap(),
                Some(old) => update_index(&log, &Index::open(old).unwrap(), &options).unwrap(),
            };
            let table = Table::open(&sink.get_ref()[..], &built).unwrap();
            let read: BTreeMap<Vec<u8>, Vec<u8>> = table
                .iter()
                .map(|entry| entry.unwrap())
                .map(|entry| (entry.key.into_owned(), entry.value.into_owned()))
                .collect();
            assert!(read == twin, "seed {seed}, round {round}");
            for (key, value) in &twin {
                assert_eq!(table.get(key).unwrap().as_deref(), Some(&value[..]), "seed {seed}, round {round}");
            }
            index = Some(built);
        }
    }
}
