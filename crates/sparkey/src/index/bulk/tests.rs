//! The oracle is the builder that fills the table entry by entry.

use super::*;
use crate::index::builder::build_in_sequence;
use crate::index::header::HashSize;
use crate::{Compression, LogOptions, LogWriter};
use fastrand::Rng;
use hammerspace_bytes::murmur3;
use hammerspace_error::Kind;
use std::num::NonZero;
use std::time::{Duration, Instant};

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
        (Compression::None, 40_000, 1 << 31),
        (Compression::None, 30_000, 10_000),
        (Compression::Snappy, 15_000, 1 << 13),
        (Compression::Zstd, 20_000, 1 << 31),
    ] {
        let log = history(compression, len, keys, u64::from(keys));
        for hash_size in [HashSize::Four, HashSize::Eight] {
            let options = IndexOptions { hash_size: Some(hash_size), seed: Some(7) };
            let expected = in_sequence(&log, &options);
            let mut spilled = [0; 3];
            for ((memory, threads), spilled) in
                [(60 << 10, 1), (200 << 10, 2), (u64::MAX, 3)].into_iter().zip(&mut spilled)
            {
                let (index, to_scratch) = written(&log, &options, &effort(memory, threads));
                assert!(index == expected, "{compression:?}, {len} of {keys}, {memory} bytes, {threads} threads");
                *spilled = to_scratch;
            }
            assert!(spilled[0] > spilled[1] && spilled[1] > 0 && spilled[2] == 0, "{spilled:?}");
        }
    }
}

/// Every budget with every number of threads, on logs of all kinds: none, one, and many entries, keys that are overwritten and
/// deleted, and keys of one hash. What does not fit a budget is spilled, and the smallest ones fit nothing.
const BUDGETS: [u64; 4] = [0, 60 << 10, 200 << 10, u64::MAX];

fn logs(rng: &mut Rng) -> Vec<(&'static str, Log<Vec<u8>>)> {
    let compression = rng.choice([Compression::None, Compression::Snappy, Compression::Zstd]).unwrap();
    let (len, seed) = (rng.usize(3000..5000), rng.u64(..));
    let number = |rng: &mut Rng| rng.u32(..40);
    let mut collide = Rng::with_seed(seed);
    let colliding_keys = log_of(compression, |writer| {
        for _ in 0..len / 8 {
            let key = colliding(number(&mut collide));
            if collide.u8(..) < 60 { writer.delete(&key) } else { writer.put(&key, &key) }.unwrap();
        }
    });
    vec![
        ("no entry", history(compression, 0, 1, seed)),
        ("few entries", history(compression, rng.usize(1..40), 10, seed)),
        ("keys that come once", history(compression, len, 1 << 31, seed)),
        ("keys that come often", history(Compression::None, len, 300, seed)),
        // To compare two of them is to decode two blocks.
        ("packed keys that come often", history(compression, 300, 60, seed)),
        ("keys of one hash", colliding_keys),
        (
            "deletes alone",
            log_of(compression, |writer| (0..len as u32).for_each(|n| writer.delete(&n.to_le_bytes()).unwrap())),
        ),
    ]
}

/// Which index differs from the oracle's, if one does. `alter` gets each before it is compared.
fn differing(seed: u64, mut alter: impl FnMut(&mut Vec<u8>)) -> Option<String> {
    for (what, log) in logs(&mut Rng::with_seed(seed)) {
        for hash_size in [HashSize::Four, HashSize::Eight] {
            let options = IndexOptions { hash_size: Some(hash_size), seed: Some(7) };
            let expected = in_sequence(&log, &options);
            for (memory, threads) in BUDGETS.into_iter().flat_map(|memory| [1, 2, 4].map(|threads| (memory, threads))) {
                let (mut index, _) = written(&log, &options, &effort(memory, threads));
                alter(&mut index);
                if index != expected {
                    return Some(format!("seed {seed}: {what}, {hash_size:?}, {memory} bytes, {threads} threads"));
                }
            }
        }
    }
    None
}

#[test]
fn every_budget_with_every_number_of_threads_gives_the_same_bytes() {
    for seed in 0..2 {
        assert_eq!(differing(seed, |_| ()), None);
    }
}

/// The comparison sees one bit of one of the indexes.
#[test]
fn canary_one_bit_of_one_index_is_noticed() {
    let mut left = 60;
    let alter = |index: &mut Vec<u8>| {
        left -= 1;
        if left == 0 {
            let at = index.len() - 1;
            index[at] ^= 1;
        }
    };
    let differing = differing(1, alter).unwrap();
    assert!(differing.contains("keys that come once") && left == 0, "{differing}");
}

/// All keys want the last slots of the table, and overflow into several partitions at its beginning.
#[test]
fn what_goes_around_the_end_may_go_far() {
    let (seed, puts) = (7, 2000);
    let capacity = capacity_for(puts, FRESH);
    let wants_the_end = |key: &[u8; 4]| u64::from(murmur3::x86_32(key, seed)) % capacity >= capacity - 20;
    let keys = (0_u32..).map(u32::to_le_bytes).filter(wants_the_end).take(puts as usize);
    let log = log_of(Compression::None, |writer| keys.for_each(|key| writer.put(&key, b"").unwrap()));
    let options = IndexOptions { hash_size: Some(HashSize::Four), seed: Some(seed) };
    let (index, _) = written(&log, &options, &effort(0, 2));
    assert!(index == in_sequence(&log, &options));
}

#[test]
fn a_key_that_is_put_again_and_again_is_replayed_in_batches() {
    for compression in [Compression::None, Compression::Snappy] {
        let log = log_of(compression, |writer| {
            for number in 0..30_000_u32 {
                let key = if number % 3 == 0 { number.to_le_bytes() } else { *b"same" };
                if number % 1000 == 1 { writer.delete(&key) } else { writer.put(&key, b"v") }.unwrap();
            }
        });
        let options = IndexOptions { hash_size: None, seed: Some(7) };
        let (index, spilled) = written(&log, &options, &effort(64 << 10, 2));
        assert!(spilled > 0 && index == in_sequence(&log, &options), "{compression:?}");
    }
}

/// A key of 8 bytes, the first 4 of which are free: the others take back what they did to the hash with seed 7.
fn colliding(number: u32) -> [u8; 8] {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    // Newton's method doubles the bits that are right.
    let inverse =
        |odd: u32| (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse))));
    let scrambled = number.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let state = (7 ^ scrambled).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    let second = state.wrapping_mul(inverse(C2)).rotate_right(15).wrapping_mul(inverse(C1));
    (u64::from(number) | u64::from(second) << 32).to_le_bytes()
}

#[test]
fn colliding_keys_take_linear_time() {
    let keys = || (0..20_000).map(colliding);
    assert!(keys().all(|key| murmur3::x86_32(&key, 7) == murmur3::x86_32(&colliding(0), 7)));
    let log = log_of(Compression::None, |writer| keys().for_each(|key| writer.put(&key, b"").unwrap()));
    let options = IndexOptions { hash_size: Some(HashSize::Four), seed: Some(7) };
    let started = Instant::now();
    let index = build_index(&log, &options).unwrap();
    // Each compared with each, this would be 200 million comparisons.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(IndexHeader::parse(&index).unwrap().num_entries, 20_000);
}

#[test]
fn a_scratch_that_fails_ends_the_work_and_says_so() {
    let log = history(Compression::None, 50_000, 1 << 31, 1);
    for threads in 1..=3 {
        for (full_at, kind) in [(10_000, Kind::Full), (u64::MAX, Kind::Io)] {
            let spilled = AtomicU64::new(0);
            let scratch = || Ok(Broken { scratch: Scratch { bytes: Cursor::default(), written: &spilled }, full_at });
            let (options, effort) = (IndexOptions::default(), effort(200 << 10, threads));
            let error = write_index(&log, &options, &effort, Cursor::new(Vec::new()), scratch).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
    }
}

/// Runs full, or gives back nothing.
struct Broken<'a> {
    scratch: Scratch<'a>,
    full_at: u64,
}

impl Write for Broken<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.scratch.written.load(Ordering::Relaxed) > self.full_at {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.scratch.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Read for Broken<'_> {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Ok(0)
    }
}

impl Seek for Broken<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.scratch.seek(to)
    }
}

/// Whatever came of it, nobody waits for a thread that is gone.
#[test]
fn canary_a_panic_in_one_thread_reaches_all() {
    let turnstile = Turnstile::new(());
    let tickets = AtomicUsize::new(0);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        turnstile.crew(3, || {
            let ticket = tickets.fetch_add(1, Ordering::Relaxed);
            assert_ne!(ticket, 0, "as planned");
            turnstile.pass(ticket, |()| Ok(())).map(|passed| assert!(passed.is_none()))
        })
    }));
    assert!(panicked.is_err());
}
