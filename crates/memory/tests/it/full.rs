//! What a full store still takes: a value in place of one as long, whatever the lengths, the threads, and the
//! limit before.

use fastrand::Rng;
use hammerspace_memory::{Change, Geometry, Key, Options};

use crate::model::{PLAIN, tiny};
use crate::sound::Memory;

const SEGMENT: u64 = 256 << 10;

fn options(segments: u64) -> Options {
    let geometry = Geometry { segment_size: SEGMENT, segments_max: segments, buckets: 64 };
    // Without holes: cleaners have to give back all that is overwritten.
    Options { geometry: Some(geometry), limit: segments * SEGMENT, least_hole: u64::MAX, ..tiny(0) }
}

fn put(memory: &Memory, key: u64, len: usize) -> hammerspace_error::Result<()> {
    memory.put(PLAIN, Key::Integer(key), &vec![1; len]).map(drop)
}

/// Puts values of these lengths until there is no room for one; gives how many there are.
fn fill(memory: &Memory, len: impl Fn(u64) -> usize) -> u64 {
    (0..1 << 20).find(|key| put(memory, *key, len(*key)).is_err()).unwrap()
}

fn overwrite(memory: &Memory, keys: u64, seed: u64, times: u64, len: impl Fn(u64) -> usize) {
    let mut rng = Rng::with_seed(seed);
    for time in 0..times {
        let key = rng.u64(..keys);
        put(memory, key, len(key)).unwrap_or_else(|error| panic!("overwrite {time} of key {key}: {error}"));
    }
}

/// Of records this long a segment holds three to six, and no more fits into what is left: that is no room.
#[test]
fn records_that_leave_much_of_a_segment_are_overwritten() {
    for (shortest, longest) in [(1_000, 1 << 16), (40_000, 1 << 16), (1 << 16, 1 << 16)] {
        let memory = Memory::anonymous(&options(96)).unwrap();
        let len = |key: u64| (shortest + key.wrapping_mul(0x9e37_79b9) % (longest - shortest + 1)) as usize;
        let keys = fill(&memory, len);
        overwrite(&memory, keys, 7, 12 * keys, len);
    }
}

/// As in a cache that goes on when it is told `Full`: what is new or longer must not ride on the segments
/// that overwrites are given.
#[test]
fn what_is_refused_does_not_fill_the_store_further() {
    for least_hole in [u64::MAX, 0] {
        for (shortest, longest) in [(100, 100), (20, 1_000)] {
            let memory = Memory::anonymous(&Options { least_hole, ..options(96) }).unwrap();
            let mut rng = Rng::with_seed(7);
            let mut lens = vec![];
            let add = |memory: &Memory, rng: &mut Rng, lens: &mut Vec<usize>| {
                let len = rng.usize(shortest..=longest);
                put(memory, lens.len() as u64, len).map(|()| lens.push(len)).is_ok()
            };
            while add(&memory, &mut rng, &mut lens) {}
            for time in 0..4 * lens.len() {
                let key = rng.usize(..lens.len());
                put(&memory, key as u64, lens[key])
                    .unwrap_or_else(|error| panic!("overwrite {time} of {key}, {} bytes: {error}", lens[key]));
                add(&memory, &mut rng, &mut lens);
                if longest > shortest && put(&memory, key as u64, lens[key] + 50).is_ok() {
                    lens[key] += 50;
                }
            }
            for (key, len) in lens.iter().enumerate() {
                put(&memory, key as u64, len / 2).unwrap();
            }
        }
    }
}

/// Sizes of the rounds before: what they leave in segments must not be in the way of long values.
const SIZES: [(usize, usize); 6] =
    [(10, 200), (1_000, 1_100), (5_000, 15_000), (30_000, 32_000), (1, 60_000), (20_000, 1 << 16)];

/// Fills a store with values of such lengths, several times over, and deletes all of them or most, then all.
fn round(memory: &Memory, rng: &mut Rng, first: u64) {
    let (shortest, longest) = SIZES[rng.usize(..SIZES.len())];
    let is_full = |key: &u64| put(memory, *key, rng.usize(shortest..longest)).is_err();
    let last = (first..first + (1 << 20)).find(is_full).unwrap();
    for key in first..last {
        memory.update(PLAIN, Key::Integer(key), |_| Change::Delete).unwrap();
    }
}

/// In stores as they are made by default, whatever was in them before.
#[test]
fn values_of_58_to_64_kib_are_overwritten_after_rounds_of_other_sizes() {
    let (shortest, longest) = (58 << 10, 64 << 10);
    for seed in 0..8 {
        let mut rng = Rng::with_seed(seed);
        let (cleaners, writers) = (rng.usize(..3), 1 << rng.usize(..3));
        let limit = [16 << 20, 24 << 20][rng.usize(..2)];
        let memory = Memory::anonymous(&Options { cleaners, writers, ..Options::with_limit(limit) }).unwrap();
        (0..rng.u64(1..4)).for_each(|number| round(&memory, &mut rng, number << 32));
        let first = 1 << 40;
        let mut lens = Vec::new();
        loop {
            let len = rng.usize(shortest..=longest);
            if put(&memory, first + lens.len() as u64, len).is_err() {
                break;
            }
            lens.push(len);
        }
        assert!(lens.iter().sum::<usize>() as u64 > limit / 3, "{} of {limit} with seed {seed}", lens.len());
        for time in 0..10 * lens.len() {
            let at = rng.usize(..lens.len());
            lens[at] = rng.usize(shortest..=lens[at]);
            put(&memory, first + at as u64, lens[at])
                .unwrap_or_else(|error| panic!("overwrite {time} with seed {seed}: {error}"));
        }
    }
}

/// More writers have more heads, and cleaners keep more segments for themselves.
#[test]
fn a_store_that_few_writers_filled_is_opened_for_as_many_as_leave_it_room() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = scratch.path().join("store");
    let options = Options { region: Some(scratch.path().into()), ..options(128) };
    let keys = fill(&Memory::create(&path, &options).unwrap(), |_| 100);
    let memory = Memory::open(&path, &Options { writers: 16, cleaners: 4, ..options }).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let memory = &memory;
            scope.spawn(move || overwrite(memory, keys, writer, keys / 8, |_| 100));
        }
    });
}

/// Or else there would be next to nothing dead in any segment, and none worth a pass.
#[test]
fn a_limit_is_lowered_to_what_is_live_and_some_room() {
    const SEGMENT: u64 = 16 << 10;
    let geometry = Geometry { segment_size: SEGMENT, segments_max: 4096, buckets: 64 };
    let memory = Memory::anonymous(&Options { geometry: Some(geometry), limit: 4096 * SEGMENT, ..options(0) }).unwrap();
    let keys = 300_000;
    (0..keys).for_each(|key| put(&memory, key, 100).unwrap());
    memory.set_limit(32 * SEGMENT).unwrap();
    let usage = memory.view().usage();
    assert!(usage.live < (usage.limit - usage.index) / 100 * 95 && usage.limit < 3500 * SEGMENT, "{usage:?}");
    overwrite(&memory, keys, 7, keys, |_| 100);
}
