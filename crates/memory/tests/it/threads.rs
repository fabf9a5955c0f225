//! Many threads at once: values that say what they must be, so that a torn or a stale one is recognised.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hammerspace_memory::{Change, Key, Old, Options};

use crate::model::{PLAIN, everything, tiny};
use crate::sound::Memory;

/// What the value of a key says at a round: key, round, and bytes that follow from both.
fn value_of(key: u64, round: u64) -> Vec<u8> {
    let len = 16 + (key * 7 + round * 13) % 200;
    let mut value = [key.to_le_bytes(), round.to_le_bytes()].concat();
    value.extend((16..len).map(|at| (key ^ round ^ at) as u8));
    value
}

/// The round that a value of this key is of, if it is whole.
fn round_of(key: u64, value: &[u8]) -> Option<u64> {
    let round = u64::from_le_bytes(value.get(8..16)?.try_into().ok()?);
    (value == value_of(key, round)).then_some(round)
}

/// Writers raise the rounds of their own keys; readers must never see a torn value, another key's, or a round
/// going back.
fn race(options: &Options, keys_each: u64, rounds: u64) -> Memory {
    let memory = Memory::anonymous(options).unwrap();
    let written: Vec<AtomicU64> = (0..2 * keys_each).map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    for key in 0..2 * keys_each {
        memory.put(PLAIN, Key::Integer(key), &value_of(key, 0)).unwrap();
    }
    let write = |first: u64| {
        let mut rng = Rng::with_seed(first);
        for _ in 0..rounds * keys_each {
            let key = first * keys_each + rng.u64(..keys_each);
            let round = written[key as usize].load(Ordering::Relaxed) + 1;
            memory.put(PLAIN, Key::Integer(key), &value_of(key, round)).unwrap();
            written[key as usize].store(round, Ordering::Release);
        }
    };
    let read = |seed: u64| {
        let mut rng = Rng::with_seed(seed);
        let mut value = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let key = rng.u64(..2 * keys_each);
            let before = written[key as usize].load(Ordering::Acquire);
            value.clear();
            let found = memory.view().get(PLAIN.number, Key::Integer(key), &mut value).unwrap();
            assert!(found.is_some(), "seed {seed}: key {key} was always there");
            let round = round_of(key, &value).unwrap_or_else(|| panic!("seed {seed}: key {key} is torn: {value:?}"));
            assert!(round >= before, "seed {seed}: key {key} was at {before} before, and is read at {round}");
        }
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(|| read(77)), scope.spawn(|| read(78))];
        let writers = [scope.spawn(|| write(0)), scope.spawn(|| write(1))];
        let failed = writers.into_iter().any(|writer| writer.join().is_err());
        is_over.store(true, Ordering::Relaxed);
        assert!(!failed && readers.into_iter().all(|reader| reader.join().is_ok()));
    });
    for item in everything(&memory, PLAIN) {
        let hammerspace_memory::OwnedKey::Integer(key) = item.key else { panic!("{item:?}") };
        assert_eq!(round_of(key, &item.value), Some(written[key as usize].load(Ordering::Relaxed)));
    }
    assert_eq!(everything(&memory, PLAIN).len() as u64, 2 * keys_each);
    memory
}

#[test]
fn readers_see_whole_values_while_writers_and_a_cleaner_move_them() {
    let memory = race(&Options { cleaners: 1, writers: 2, ..tiny(64) }, 500, 60);
    assert!(memory.cleaned().segments > 100, "{:?}", memory.cleaned());
}

#[test]
fn counters_lose_nothing() {
    let memory = Memory::anonymous(&Options { writers: 2, cleaners: 1, ..tiny(64) }).unwrap();
    let add = |seed| {
        let mut rng = Rng::with_seed(seed);
        for _ in 0..30_000 {
            let key = Key::Integer(rng.u64(..100));
            let add = |old: u64| Change::Word { kind: 1, word: old + 1 };
            memory.update(PLAIN, key, |old| add(old.and_then(Old::word).unwrap_or(0))).unwrap();
        }
    };
    thread::scope(|scope| {
        for seed in 0..3 {
            let add = &add;
            scope.spawn(move || add(seed));
        }
    });
    let count = |value: &[u8]| u64::from_le_bytes(value.try_into().unwrap());
    assert_eq!(everything(&memory, PLAIN).iter().map(|item| count(&item.value)).sum::<u64>(), 90_000);
}

/// What is half done is no fault: a record that is written and not named yet, or parts of a value.
#[test]
fn to_verify_beside_writers_finds_nothing_wrong() {
    let memory = Memory::anonymous(&Options { cleaners: 1, writers: 4, ..Options::with_limit(256 << 20) }).unwrap();
    let is_over = AtomicBool::new(false);
    let (long, short) = (vec![1; 1 << 20], vec![2; 100]);
    let write = |seed| {
        let mut rng = Rng::with_seed(seed);
        while !is_over.load(Ordering::Relaxed) {
            let key = Key::Integer(rng.u64(..50));
            match rng.u8(..20) {
                0 => memory.put(PLAIN, key, &long).map(drop).unwrap(),
                1 => memory.update(PLAIN, key, |_| Change::Delete).map(drop).unwrap(),
                2..5 => memory.append(PLAIN, key, 0, &long[..200_000]).map(drop).unwrap(),
                _ => memory.put(PLAIN, key, &short).map(drop).unwrap(),
            }
        }
    };
    thread::scope(|scope| {
        let writers = [0, 1, 2].map(|seed| scope.spawn(move || write(seed)));
        let end = Instant::now() + Duration::from_millis(500);
        let mut reports = Vec::new();
        while reports.len() < 20 || Instant::now() < end {
            thread::sleep(Duration::from_millis(3));
            reports.push(memory.verify());
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(writers.into_iter().all(|writer| writer.join().is_ok()));
        for report in reports {
            assert_eq!((report.faults, report.findings), (0, Vec::new()));
        }
    });
}

/// Whoever is there throughout is listed once, while others come and go and the index grows.
#[test]
fn a_scan_gives_what_stays_exactly_once() {
    let memory = Memory::anonymous(&Options { cleaners: 1, writers: 1, ..tiny(2000) }).unwrap();
    let staying = 0..1000_u64;
    for key in staying.clone() {
        memory.put(PLAIN, Key::Integer(key), &value_of(key, 0)).unwrap();
    }
    thread::scope(|scope| {
        let churn = scope.spawn(|| {
            for key in 1000..12_000 {
                memory.put(PLAIN, Key::Integer(key), &value_of(key, 0)).unwrap();
                if key % 3 == 0 {
                    memory
                        .update(PLAIN, Key::Integer(key - 900), |old| {
                            if old.is_some() && key - 900 >= 1000 { Change::Delete } else { Change::Keep }
                        })
                        .unwrap();
                }
            }
        });
        while !churn.is_finished() {
            let mut seen = vec![0; 1000];
            for item in everything(&memory, PLAIN) {
                let hammerspace_memory::OwnedKey::Integer(key) = item.key else { panic!("{item:?}") };
                assert_eq!(round_of(key, &item.value), Some(0));
                if let Some(count) = seen.get_mut(key as usize) {
                    *count += 1;
                }
            }
            assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
        }
    });
}

/// A harness that takes another key's bytes for whole would see nothing.
#[test]
fn canary_a_torn_value_is_recognised() {
    let (mut torn, other) = (value_of(3, 5), value_of(3, 6));
    let len = torn.len().min(other.len());
    torn[20..len].copy_from_slice(&other[20..len]);
    assert_eq!((round_of(3, &torn), round_of(4, &other), round_of(3, &other)), (None, None, Some(6)));
}

/// Zeroing takes longer than any change should, so it is done before a writer has to: by who makes a store,
/// and then by its threads.
#[test]
fn segments_get_their_memory_before_they_are_needed() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = |cleaners| Options { region: Some(scratch.path().to_path_buf()), cleaners, ..tiny(64) };
    let ready = |memory: &hammerspace_memory::Memory| memory.view().usage().free;
    let [without, with] = [0, 1].map(|cleaners| {
        let mut at_first = 0;
        let path = scratch.path().join(cleaners.to_string());
        let look = |memory: &hammerspace_memory::Memory| {
            at_first = ready(memory);
            Ok(())
        };
        drop(hammerspace_memory::Memory::create_with(path, &options(cleaners), look).unwrap());
        at_first
    });
    assert!(without + 16 * (8 << 10) <= with, "{without} {with}");
    let memory = Memory::open(scratch.path().join("0"), &options(1)).unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while ready(&memory) < with {
        assert!(Instant::now() < until, "{:?}", memory.view().usage());
        thread::yield_now();
    }
}

/// Each writer replaces its own keys in a store that is full and fills no holes, so that all room comes from
/// cleaning: whatever cleaners take from each other, nobody finds no room.
#[test]
fn several_cleaners_keep_a_full_store_going() {
    for cleaners in [2, 4, 6] {
        let memory = Memory::anonymous(&Options { cleaners, writers: 4, least_hole: u64::MAX, ..tiny(800) }).unwrap();
        let put = |key: u64, round: u64| memory.put(PLAIN, Key::Integer(key), &[round as u8; 60]);
        let keys = (0..1_000_000).find(|key| put(*key, 0).is_err()).unwrap() / 4 * 4;
        thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    let mut rng = Rng::with_seed(writer);
                    for round in 0..20_000 {
                        put(rng.u64(..keys / 4) * 4 + writer, round).unwrap();
                    }
                });
            }
        });
        let (report, usage) = (memory.verify(), memory.view().usage());
        assert_eq!((report.findings, report.records / 4 * 4), (Vec::new(), keys), "{cleaners} cleaners");
        assert!(memory.cleaned().segments > 100 && usage.utilisation() > 0.8, "{:?}, {usage:?}", memory.cleaned());
    }
}
