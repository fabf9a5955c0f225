//! Random histories on tiny regions, beside a map that says what must be there.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use hammerspace_error::Kind;
use hammerspace_memory::{Change, Cursor, Geometry, Item, Key, Old, Options, OwnedKey, TableId};

use crate::sound::Memory;

/// Segments of 8 KiB, pages of 4 buckets: everything happens often.
pub(crate) fn tiny(segments: u64) -> Options {
    let geometry = Geometry { segment_size: 8 << 10, segments_max: 4096, buckets: 4 };
    Options {
        geometry: Some(geometry),
        cleaners: 0,
        writers: 1,
        seed: Some(1),
        // Some records are shorter, some are not.
        least_hole: 64,
        ..Options::with_limit(segments * (8 << 10))
    }
}

pub(crate) const PLAIN: TableId = TableId { number: 1, is_versioned: false };
pub(crate) const VERSIONED: TableId = TableId { number: 2, is_versioned: true };

fn key_of(number: u64) -> OwnedKey {
    match number % 3 {
        0 => OwnedKey::Integer(number),
        1 => OwnedKey::Bytes(format!("key {number}").into_bytes()),
        _ => OwnedKey::Bytes(number.to_le_bytes().to_vec()),
    }
}

fn value_of(rng: &mut Rng, len_max: usize) -> Vec<u8> {
    let len = if rng.u8(..8) == 0 { rng.usize(..=len_max) } else { rng.usize(..64) };
    let seed = rng.u8(..);
    (0..len).map(|at| seed.wrapping_add(at as u8)).collect()
}

type Twin = HashMap<(u16, OwnedKey), (u8, Vec<u8>)>;

/// One change on both sides. `Full` must leave the store as it was.
fn change(memory: &Memory, twin: &mut Twin, rng: &mut Rng, keys: u64) {
    let table = if rng.bool() { PLAIN } else { VERSIONED };
    let key = key_of(rng.u64(..keys));
    let entry = (table.number, key.clone());
    let before = twin.get(&entry).cloned();
    let refused = match rng.u8(..10) {
        0..4 => {
            let (kind, value) = (rng.u8(..64), value_of(rng, 300));
            let put = |_: Option<&Old<'_>>| Change::Put { kind, value: value.as_slice().into(), expiry: None };
            let outcome = memory.update(table, key.as_key(), put);
            twin.insert(entry.clone(), (kind, value));
            outcome
        }
        4..7 => {
            let bytes = value_of(rng, 40);
            let outcome = memory.append(table, key.as_key(), 1, &bytes);
            twin.entry(entry.clone()).or_insert_with(|| (1, Vec::new())).1.extend_from_slice(&bytes);
            outcome
        }
        7 => {
            let word = rng.u64(..);
            let outcome = memory.update(table, key.as_key(), |_| Change::Word { kind: 2, word });
            twin.insert(entry.clone(), (2, word.to_le_bytes().to_vec()));
            outcome
        }
        _ => {
            let outcome = memory.update(table, key.as_key(), |_| Change::Delete);
            twin.remove(&entry);
            assert_eq!(outcome.as_ref().unwrap().before().is_some(), before.is_some());
            outcome
        }
    };
    if let Err(error) = refused {
        assert_eq!(error.kind(), Kind::Full, "{error}");
        match before {
            Some(before) => twin.insert(entry, before),
            None => twin.remove(&entry),
        };
    }
}

/// What an operation of a batch does.
#[derive(Clone, Debug)]
enum Step {
    Put(u8, Vec<u8>),
    Append(Vec<u8>),
    Delete,
    Lookup,
}

/// A batch on both sides, each of whose operations must find what those before it left. `Full` must leave the
/// store as it was.
fn batch(memory: &Memory, twin: &mut Twin, rng: &mut Rng, keys: u64) {
    let steps: Vec<_> = (0..rng.usize(1..40))
        .map(|_| {
            let table = if rng.bool() { PLAIN } else { VERSIONED };
            let step = match rng.u8(..8) {
                0..3 => Step::Put(rng.u8(..64), value_of(rng, 300)),
                3..5 => Step::Append(value_of(rng, 40)),
                5..7 => Step::Delete,
                _ => Step::Lookup,
            };
            // Some keys come twice.
            let most = rng.u64(1..2000).min(keys);
            (table, key_of(rng.u64(..most)), step)
        })
        .collect();
    let (mut after, mut found) = (twin.clone(), Vec::new());
    for (table, key, step) in &steps {
        let entry = (table.number, key.clone());
        found.push(after.get(&entry).cloned());
        match step {
            Step::Put(kind, value) => drop(after.insert(entry, (*kind, value.clone()))),
            Step::Append(bytes) => after.entry(entry).or_insert_with(|| (1, Vec::new())).1.extend_from_slice(bytes),
            Step::Delete => drop(after.remove(&entry)),
            Step::Lookup => {}
        }
    }
    let operations: Vec<_> = steps.iter().map(|(table, key, _)| (*table, key.as_key())).collect();
    let made = memory.batch(&operations, |at, there| {
        let mut value = Vec::new();
        let there = there.map(|there| (there.kind(), there.read(&mut value)));
        assert_eq!(there.map(|(kind, _)| (kind, value)), found[at], "operation {at} of {steps:?}");
        Some(match &steps[at].2 {
            Step::Put(kind, value) => Change::Put { kind: *kind, value: value.as_slice().into(), expiry: None },
            Step::Append(bytes) => Change::Append { kind: 1, bytes },
            Step::Delete => Change::Delete,
            Step::Lookup => Change::Keep,
        })
    });
    match made {
        Ok(versions) => {
            assert!(versions.is_some());
            *twin = after;
        }
        Err(error) => assert_eq!(error.kind(), Kind::Full, "{error}"),
    }
}

pub(crate) fn everything(memory: &Memory, table: TableId) -> Vec<Item> {
    let (mut items, mut cursor) = (Vec::new(), Some(Cursor::START));
    while let Some(at) = cursor {
        cursor = memory.view().scan(table.number, Cursor::from_word(at.to_word()), 10, &mut items).unwrap();
    }
    items
}

fn compare(memory: &Memory, twin: &Twin) {
    for ((table, key), (kind, value)) in twin {
        let mut found = Vec::new();
        let meta = memory.view().get(*table, key.as_key(), &mut found).unwrap();
        assert_eq!((meta.map(|meta| meta.kind), &found), (Some(*kind), value), "{key:?} of table {table}");
    }
    for table in [PLAIN, VERSIONED] {
        let mut listed: Vec<_> = everything(memory, table).into_iter().map(|item| (item.key, item.value)).collect();
        let mut wanted: Vec<_> = twin
            .iter()
            .filter(|((of, _), _)| *of == table.number)
            .map(|((_, key), (_, value))| (key.clone(), value.clone()))
            .collect();
        listed.sort();
        wanted.sort();
        assert_eq!(listed, wanted);
    }
    let report = memory.verify();
    assert_eq!((report.faults, &report.findings[..]), (0, &[][..]));
    assert_eq!(report.records as usize, twin.len());
    assert_eq!(report.miscounted, 0);
}

fn history(seed: u64, segments: u64, keys: u64, changes: usize) -> Memory {
    println!("seed {seed}");
    let memory = Memory::anonymous(&tiny(segments)).unwrap();
    let (mut rng, mut twin) = (Rng::with_seed(seed), Twin::new());
    for number in 0..changes {
        change(&memory, &mut twin, &mut rng, keys);
        if number % 50 == 0 {
            batch(&memory, &mut twin, &mut rng, keys);
        }
        if number % 2000 == 0 {
            compare(&memory, &twin);
        }
    }
    compare(&memory, &twin);
    memory
}

#[test]
fn a_roomy_store_is_still_a_map() {
    for seed in 0..4 {
        let memory = history(seed, 400, 3000, 20_000);
        assert!(memory.verify().pages > 50, "the index grew");
    }
}

#[test]
fn a_tight_store_is_still_a_map() {
    for seed in 10..20 {
        let memory = history(seed, 64, 900, 20_000);
        let cleaned = memory.cleaned();
        assert!(cleaned.segments > 20 && cleaned.moved > 0, "the cleaner was busy: {cleaned:?}");
    }
}

/// A batch that is applied by halves: nobody makes its second half.
#[test]
#[should_panic(expected = "of table 1")]
fn canary_a_batch_by_halves_is_noticed() {
    let memory = Memory::anonymous(&tiny(100)).unwrap();
    let keys = [1, 4].map(key_of);
    let operations = [&keys[0], &keys[1]].map(|key| (PLAIN, key.as_key()));
    let put = Change::Put { kind: 0, value: vec![1].into(), expiry: None };
    let half = memory.batch(&operations, |at, _| Some(if at == 0 { put.clone() } else { Change::Keep }));
    assert!(half.unwrap().is_some());
    compare(&memory, &keys.map(|key| ((1, key), (0, vec![1]))).into());
}

/// A harness that cannot see this cannot see anything.
#[test]
#[should_panic(expected = "of table 1")]
fn canary_a_record_that_differs_is_noticed() {
    let memory = Memory::anonymous(&tiny(100)).unwrap();
    memory.put(PLAIN, Key::Bytes(b"key 1"), b"value").unwrap();
    compare(&memory, &Twin::from([((1, key_of(1)), (0, b"other".to_vec()))]));
}

#[test]
fn long_values_come_back_and_go_without_trace() {
    let memory = Memory::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
    let key = Key::Bytes(b"long");
    let value: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 7) as u8).collect();
    let get = || {
        let mut found = Vec::new();
        memory.view().get(1, key, &mut found).unwrap().map(|_| found)
    };
    memory.put(PLAIN, key, &value).unwrap();
    assert!(get().as_ref() == Some(&value));
    memory.append(PLAIN, key, 0, &value[..100_000]).unwrap();
    assert!(get() == Some([&value[..], &value[..100_000]].concat()));
    memory.put(PLAIN, key, b"short").unwrap();
    assert_eq!((get().as_deref(), memory.verify().records), (Some(&b"short"[..]), 1));
    let mut all = b"short".to_vec();
    for part in value.chunks(9_999).take(40) {
        memory.append(PLAIN, key, 0, part).unwrap();
        all.extend_from_slice(part);
        assert!(get().as_ref() == Some(&all));
    }
    memory.update(PLAIN, key, |_| Change::Delete).unwrap();
    assert_eq!((get(), memory.verify().records, memory.verify().faults), (None, 0, 0));
}

/// What nobody deletes by hand leaves nothing behind either: what has expired, and what was in a table that
/// was dropped.
#[test]
fn parts_go_with_the_record_that_names_them() {
    let memory = Memory::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
    let value = vec![7; 300_000];
    memory.put(PLAIN, Key::Integer(1), &value).unwrap();
    memory.put(VERSIONED, Key::Integer(1), &value).unwrap();
    memory.drop_table(PLAIN.number).unwrap();
    while memory.is_dropping(PLAIN.number) {
        memory.clean().unwrap();
    }
    assert_eq!(memory.verify().records, 1 + 5, "those of the other table");
    memory.put_until(VERSIONED, Key::Integer(1), &value, Some(1)).unwrap();
    // The cleaner comes by when most of the segments are dead.
    for round in 0..400 {
        memory.put(VERSIONED, Key::Integer(2), &vec![round as u8; 60_000]).unwrap();
        memory.put_until(VERSIONED, Key::Integer(round), b"", Some(1)).unwrap();
    }
    while memory.clean().unwrap() {}
    let report = memory.verify();
    assert!(report.bytes < value.len() as u64 && report.faults == 0, "{report:?}");
    let mut is_there = Vec::new();
    assert_eq!(memory.view().get(VERSIONED.number, Key::Integer(1), &mut is_there).unwrap(), None);
}

/// What an append adds and cannot finish does not stay.
#[test]
fn an_append_that_finds_no_room_leaves_nothing_behind() {
    let geometry = Geometry { segment_size: 256 << 10, segments_max: 64, buckets: 4 };
    let limit = 24 * (256 << 10);
    let memory =
        Memory::anonymous(&Options { geometry: Some(geometry), cleaners: 0, writers: 1, ..Options::with_limit(limit) })
            .unwrap();
    let (key, before) = (Key::Integer(1), vec![1; 130_000]);
    memory.put(PLAIN, key, &before).unwrap();
    let refused = memory.append(PLAIN, key, 0, &vec![2; 8 << 20]).unwrap_err();
    assert_eq!((refused.kind(), memory.verify().records), (Kind::Full, 1 + 2), "{refused}");
    let mut value = Vec::new();
    memory.view().get(PLAIN.number, key, &mut value).unwrap();
    assert!(value == before);
}

/// At the cap a segment more takes some twenty passes; whoever asks for no more room than there was must get
/// it all the same.
#[test]
fn a_full_store_takes_overwrites_and_deletes() {
    let memory = Memory::anonymous(&tiny(400)).unwrap();
    let put = |key: u64| memory.put(PLAIN, Key::Integer(key), &[key as u8; 40]);
    let keys = (0..1_000_000).find(|key| put(*key).is_err()).unwrap();
    assert_eq!(put(keys).unwrap_err().kind(), Kind::Full);
    let mut rng = Rng::with_seed(5);
    for _ in 0..100_000 {
        put(rng.u64(..keys)).unwrap();
    }
    for key in 0..keys / 10 {
        assert!(memory.update(PLAIN, Key::Integer(key), |_| Change::Delete).unwrap().before().is_some());
    }
    put(keys).unwrap();
    assert_eq!((memory.verify().faults, memory.verify().records), (0, keys - keys / 10 + 1));
}

/// Values of 2500 lengths have 40 sizes, so that each finds room where another was: little is moved to make
/// some, and were they cleaned for, 1.3 bytes for each.
#[test]
fn long_values_of_all_lengths_take_each_others_place() {
    let geometry = Geometry { segment_size: 128 << 10, segments_max: 256, buckets: 64 };
    let options = Options { geometry: Some(geometry), least_hole: 512, ..tiny(0) };
    let limit = 256 * geometry.segment_size;
    let memory = Memory::anonymous(&Options { limit, ..options }).unwrap();
    let (mut rng, value) = (Rng::with_seed(7), vec![7; 7_500]);
    let mut put = |key: u64| {
        memory.put(PLAIN, Key::Integer(key), &value[rng.usize(0..2_500)..]).unwrap();
    };
    let keys = limit * 85 / 100 / 6_250;
    (0..keys).for_each(&mut put);
    let mut order = Rng::with_seed(8);
    (0..3 * keys).for_each(|_| put(order.u64(..keys)));
    let before = memory.view().usage();
    (0..3 * keys).for_each(|_| put(order.u64(..keys)));
    let after = memory.view().usage();
    let [moved, written] = [after.moved - before.moved, after.written - before.written];
    assert!(moved < written / 2, "{moved} bytes moved for {written}");
}

/// It could be refused else where memory is full. This one has grown by its last word, without slack, past a
/// length that has some.
#[test]
fn a_value_as_long_as_before_takes_no_more() {
    let memory = Memory::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
    let key = Key::Bytes(&[1; 7]);
    memory.put(PLAIN, key, &[1; 1020]).unwrap();
    memory.append(PLAIN, key, 0, &[2; 5]).unwrap();
    let before = memory.view().usage().live;
    memory.put(PLAIN, key, &[3; 1025]).unwrap();
    assert_eq!(memory.view().usage().live, before);
}

/// A store at its cap, of values in parts and short ones, none of whose records is dead. Gives how many there
/// are of each.
fn full_of_long_values(segments: u64, len: usize) -> (Memory, u64, u64) {
    let geometry = Geometry { segment_size: 256 << 10, segments_max: segments, buckets: 64 };
    let options = Options { geometry: Some(geometry), writers: 2, ..tiny(0) };
    let limit = segments * geometry.segment_size;
    let memory = Memory::anonymous(&Options { limit, ..options }).unwrap();
    let fill = |keys: std::ops::Range<u64>, value: &[u8]| {
        let first = keys.start;
        let put = |key: &u64| memory.put(PLAIN, Key::Integer(*key), value).is_err();
        let end = keys.end;
        keys.into_iter().find(put).unwrap_or(end) - first
    };
    let longs = fill(0..limit / 3 / len as u64, &vec![1; len]);
    let shorts = fill(SHORT_FROM..u64::MAX, &[1; 1000]);
    (memory, longs, shorts)
}

/// The first key of a short value.
const SHORT_FROM: u64 = 1 << 32;

/// Two segments, or a fiftieth of all, are there for the new parts while the old ones exist.
#[test]
fn a_full_store_takes_long_values_in_place_of_others() {
    for (segments, len) in [(64, 380_000), (400, 380_000)] {
        let (memory, longs, shorts) = full_of_long_values(segments, len);
        let put = |key: u64, value: &[u8]| memory.put(PLAIN, Key::Integer(key), value);
        let mut rng = Rng::with_seed(6);
        let mut value = vec![2; len];
        for round in 0..100 {
            put(rng.u64(..longs), &value).unwrap_or_else(|error| panic!("{segments} segments, round {round}: {error}"));
            // What is short may need the cleaner's room at the same time.
            for _ in 0..200 {
                put(SHORT_FROM + rng.u64(..shorts), &[3; 1000]).unwrap();
            }
        }
        value.push(2);
        assert_eq!(put(0, &value).unwrap_err().kind(), Kind::Full, "a byte more");
        assert_eq!(put(longs, &value[..len]).unwrap_err().kind(), Kind::Full, "another value");
        assert_eq!((memory.verify().faults, memory.verify().miscounted), (0, 0));
    }
}

/// Each shorter value is one that some code might take for longer than what is there.
#[test]
fn a_full_store_takes_shorter_values_in_place_of_long_ones() {
    for len in [0, 60_000, 70_000, 150_000] {
        let (memory, longs, _) = full_of_long_values(64, 250_000);
        for key in 0..longs {
            memory.put(PLAIN, Key::Integer(key), &vec![2; len]).unwrap();
        }
        assert_eq!((memory.verify().faults, memory.verify().miscounted), (0, 0));
    }
}

/// What is too long to be there twice says so, and can be deleted.
#[test]
fn a_full_store_says_that_a_value_cannot_be_there_twice() {
    let (memory, longs, _) = full_of_long_values(64, 2 << 20);
    let records = memory.verify().records;
    let value = vec![2; 2 << 20];
    let put = |key: u64| memory.put(PLAIN, Key::Integer(key), &value);
    assert_eq!((put(0).unwrap_err().kind(), memory.verify().records), (Kind::Full, records));
    for key in 0..longs {
        memory.update(PLAIN, Key::Integer(key), |_| Change::Delete).unwrap();
    }
    put(0).unwrap();
    assert_eq!((memory.verify().faults, memory.verify().miscounted), (0, 0));
}

/// As a cache fills up: what has expired makes room, though nobody has asked for it since.
#[test]
fn a_store_full_of_what_has_expired_is_not_full() {
    for cleaners in [0, 1] {
        let memory = Memory::anonymous(&Options { cleaners, writers: 1, ..tiny(100) }).unwrap();
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let put = |key: u64, until| memory.put_until(PLAIN, Key::Integer(key), &[1; 100], Some(until));
        let until = now() + 2000;
        let count = (0..100_000).find(|key| put(*key, until).is_err()).unwrap();
        assert!(count > 1000, "{count} keys");
        thread::sleep(Duration::from_millis((until + 10).saturating_sub(now())));
        for key in count..count + count * 9 / 10 {
            put(key, u64::MAX >> 16).unwrap_or_else(|error| panic!("{key} with {cleaners} cleaners: {error}"));
        }
    }
}
