//! The oracle is the builder that fills the table entry by entry.

use super::*;
use crate::index::builder::build_in_sequence;
use crate::index::header::HashSize;
use crate::{Compression, LogOptions, LogWriter};
use fastrand::Rng;
use std::num::NonZero;

fn log_of(compression: Compression, entries: impl FnOnce(&mut LogWriter<Cursor<Vec<u8>>>)) -> Log<Vec<u8>> {
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &LogOptions { compression, block_size: 4096 }).unwrap();
    entries(&mut writer);
    Log::open(writer.finish().unwrap().0.into_inner()).unwrap()
}

/// A log of puts and deletes of keys that come again and again.
fn history(compression: Compression, len: usize, keys: u32, seed: u64) -> Log<Vec<u8>> {
    let mut rng = Rng::with_seed(seed);
    log_of(compression, |writer| {
        for _ in 0..len {
            let key = rng.u32(..keys).to_le_bytes();
            if rng.u8(..) < 40 { writer.delete(&key) } else { writer.put(&key, &key[..rng.usize(..4)]) }.unwrap();
        }
    })
}

fn effort(memory: u64, threads: usize) -> Effort {
    Effort { memory, threads: NonZero::new(threads) }
}

fn in_sequence(log: &Log<Vec<u8>>, options: &IndexOptions) -> Vec<u8> {
    let puts = trusted_puts(log).unwrap();
    build_in_sequence(log, log.header().data_end, puts, capacity_for(puts, FRESH), options).unwrap()
}

fn written(log: &Log<Vec<u8>>, options: &IndexOptions, effort: &Effort) -> (Vec<u8>, u64) {
    let spilled = AtomicU64::new(0);
    let scratch = Scratch { bytes: Cursor::new(Vec::new()), written: &spilled };
    let mut sink = Cursor::new(Vec::new());
    let header = write_index(log, options, effort, &mut sink, || Ok(scratch)).unwrap();
    assert_eq!(header.encode(), sink.get_ref()[..IndexHeader::SIZE]);
    (sink.into_inner(), spilled.into_inner())
}

/// Memory that tells how much was written to it.
struct Scratch<'a> {
    bytes: Cursor<Vec<u8>>,
    written: &'a AtomicU64,
}

impl Write for Scratch<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.bytes.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Read for Scratch<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.bytes.read(bytes)
    }
}

impl Seek for Scratch<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[test]
fn small_tables_are_those_of_the_oracle() {
    for seed in 0..3000 {
        let mut rng = Rng::with_seed(seed);
        let len = rng.usize(..40);
        let log = history(Compression::None, len, rng.u32(1..30), seed);
        let options = IndexOptions { hash_size: Some(HashSize::Four), seed: Some(rng.u32(..)) };
        assert!(build_index(&log, &options).unwrap() == in_sequence(&log, &options), "seed {seed}");
    }
}

#[test]
fn neither_budget_nor_threads_change_a_byte() {
    for (compression, len, keys) in [
        (Compression::None, 90_000, 1 << 31),
        (Compression::None, 70_000, 20_000),
        (Compression::Snappy, 70_000, 1 << 16),
        (Compression::Zstd, 70_000, 1 << 31),
    ] {
        let log = history(compression, len, keys, u64::from(keys));
        for hash_size in [HashSize::Four, HashSize::Eight] {
            let options = IndexOptions { hash_size: Some(hash_size), seed: Some(7) };
            let expected = in_sequence(&log, &options);
            let mut spilled = [0; 3];
            for ((memory, threads), spilled) in
                [(200 << 10, 1), (600 << 10, 2), (u64::MAX, 3)].into_iter().zip(&mut spilled)
            {
                let (index, to_scratch) = written(&log, &options, &effort(memory, threads));
                assert!(index == expected, "{compression:?}, {len} of {keys}, {memory} bytes, {threads} threads");
                *spilled = to_scratch;
            }
            assert!(spilled[0] > spilled[1] && spilled[1] > 0 && spilled[2] == 0, "{spilled:?}");
        }
    }
}
