//! Readers in other processes, and owners that are killed: at any instant, without a trace, and without
//! losing what was written.

use std::io::{Read, Write, pipe};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hammerspace_error::Kind;
use hammerspace_memory::{Change, Geometry, Key, Options, Reader, TableId};
use hammerspace_os::process::fork::{Child, fork};
use tempfile::TempDir;

use crate::board::{Board, Keys, State, table_of};
use crate::model::{PLAIN, VERSIONED, tiny};
use crate::sound::Memory;

/// Small values, which move all the time, in an index that grows.
const SMALL: Keys = Keys { staying: 300, all: 3000, len_min: 16, len_max: 200 };
/// Values on both sides of what a record holds.
const LONG: Keys = Keys { staying: 4, all: 10, len_min: 60_000, len_max: 300_000 };

/// Values of one length, which lie in holes, and more of them than caches hold.
const MANY: Keys = Keys { staying: 3500, all: 3600, len_min: 20_000, len_max: 20_001 };

fn in_memory(options: &Options) -> (TempDir, Options) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options { region: Some(scratch.path().to_path_buf()), ..options.clone() };
    (scratch, options)
}

fn small() -> (TempDir, Options) {
    in_memory(&Options { cleaners: 1, writers: 2, ..tiny(240) })
}

fn long() -> (TempDir, Options) {
    let geometry = Geometry { segment_size: 256 << 10, segments_max: 64, buckets: 4 };
    let limit = 48 * geometry.segment_size;
    in_memory(&Options { geometry: Some(geometry), cleaners: 1, writers: 2, ..Options::with_limit(limit) })
}

fn seed() -> u64 {
    let seed = Rng::new().u64(..);
    println!("seed {seed}");
    seed
}

/// A process that reads until the board says that it is over; 1 if it saw something wrong.
fn reader(board: &Board, path: &Path, number: usize, seed: u64) -> Child {
    fork(|| {
        let reader = Reader::attach(path).unwrap();
        match board.keep_reading(reader.view(), number, seed) {
            Ok(()) => 0,
            Err(finding) => {
                eprintln!("reader {number}, seed {seed}: {finding}");
                // Or else everybody would wait for its reads.
                board.stop();
                1
            }
        }
    })
}

/// Waits for something that must come.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(2), "{what} did not come");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn other_processes_read_whole_and_current_values() {
    let seed = seed();
    let (scratch, options) = small();
    let path = scratch.path().join("store");
    let board = Board::new(SMALL);
    let memory = Memory::create(&path, &options).unwrap();
    board.begin(&memory);
    let readers: Vec<Child> = (0..2).map(|number| reader(&board, &path, number, seed + number as u64)).collect();
    let pages = memory.verify().pages;
    thread::scope(|scope| {
        for writer in 0..2 {
            let (board, memory) = (&board, &memory);
            scope.spawn(move || board.keep_writing(memory, writer, 2, seed ^ writer, || !board.is_stopped()));
        }
        let is_busy = || memory.cleaned().segments > 100;
        let is_read = || (0..2).all(|number| board.reads(number) > 500);
        wait_until("reads and passes", || board.is_stopped() || is_busy() && is_read());
        board.stop();
    });
    assert!(readers.into_iter().all(|reader| reader.wait() == Some(0)), "seed {seed}");
    board.settle(&memory).unwrap();
    assert!(memory.cleaned().segments > 100 && memory.verify().pages > 4 * pages, "{:?}", memory.cleaned());
}

#[test]
fn other_processes_read_values_in_parts() {
    read_while_it_is_written(&Board::new(LONG), long(), |_| true);
}

#[test]
fn other_processes_read_values_that_went_past_the_caches() {
    let large = in_memory(&Options { cleaners: 1, writers: 2, ..Options::with_limit(128 << 20) });
    // Each has had another value, or gone, on average.
    read_while_it_is_written(&Board::new(MANY), large, |changes| changes > MANY.all);
}

/// Until a reader has read for a while, and so many changes are enough.
fn read_while_it_is_written(board: &Board, (scratch, options): (TempDir, Options), is_enough: impl Fn(u64) -> bool) {
    let seed = seed();
    let path = scratch.path().join("store");
    let memory = Memory::create(&path, &options).unwrap();
    board.begin(&memory);
    let child = reader(board, &path, 0, seed);
    let before = board.changes();
    thread::scope(|scope| {
        for writer in 0..2 {
            let memory = &memory;
            scope.spawn(move || board.keep_writing(memory, writer, 2, seed ^ writer, || !board.is_stopped()));
        }
        let is_over = || board.reads(0) > 20 && is_enough((board.changes() - before) >> 32);
        wait_until("changes and reads", || board.is_stopped() || is_over());
        board.stop();
    });
    assert_eq!(child.wait(), Some(0), "seed {seed}");
    board.settle(&memory).unwrap();
}

#[test]
fn killed_readers_leave_no_trace() {
    let seed = seed();
    let mut rng = Rng::with_seed(seed);
    let (scratch, options) = small();
    let path = scratch.path().join("store");
    let board = Board::new(SMALL);
    let memory = Memory::create(&path, &options).unwrap();
    board.begin(&memory);
    thread::scope(|scope| {
        let writer = scope.spawn(|| board.keep_writing(&memory, 0, 1, seed, || !board.is_stopped()));
        for number in 0..30 {
            let child = reader(&board, &path, 0, seed + number);
            thread::sleep(Duration::from_micros(rng.u64(..5000)));
            child.kill();
        }
        board.stop();
        writer.join().unwrap();
    });
    board.settle(&memory).unwrap();
}

/// Owners write until they are killed, over and over; after each, everything that was written is there, and
/// nothing else.
fn kill_owners(board: &Board, scratch: &TempDir, options: &Options, rounds: u64, seed: u64) {
    let path = scratch.path().join("store");
    let mut rng = Rng::with_seed(seed);
    board.begin(&Memory::create(&path, options).unwrap());
    let child = reader(board, &path, 0, seed);
    let watcher = Reader::attach(&path).unwrap();
    for round in 0..rounds {
        let before: u64 = board.changes();
        let owner = fork(|| {
            let memory = Memory::open(&path, options).unwrap();
            thread::scope(|scope| {
                for writer in 0..2 {
                    let (board, memory) = (board, &memory);
                    scope.spawn(move || board.keep_writing(memory, writer, 2, seed + 2 * round + writer, || true));
                }
            });
            1
        });
        wait_until("the owner", || board.changes() != before);
        assert!(watcher.has_owner().unwrap());
        assert_eq!(Memory::open(&path, options).unwrap_err().kind(), Kind::Busy);
        thread::sleep(Duration::from_micros(rng.u64(..8000)));
        owner.kill();
        assert!(!watcher.has_owner().unwrap());
        let reads = board.reads(0);
        wait_until("a read of what the dead left", || board.is_stopped() || board.reads(0) > reads + 1);
        let memory = Memory::open(&path, &Options { cleaners: 0, ..options.clone() }).unwrap();
        board.settle(&memory).unwrap_or_else(|finding| panic!("seed {seed}, round {round}: {finding}"));
    }
    board.stop();
    assert_eq!(child.wait(), Some(0), "seed {seed}");
}

#[test]
fn what_was_written_survives_the_owner() {
    let (scratch, options) = small();
    kill_owners(&Board::new(SMALL), &scratch, &options, 20, seed());
}

#[test]
fn values_in_parts_survive_whole_and_leave_no_parts_behind() {
    let (scratch, options) = long();
    kill_owners(&Board::new(LONG), &scratch, &options, 12, seed());
}

/// Keys that batches change together.
const TOGETHER: u64 = 40;

/// The value that a key of a batch has: on both sides of what a record holds, and every fifth key comes and
/// goes.
fn value_together(key: u64, epoch: u64) -> Option<Vec<u8>> {
    let len = if key % 8 == 3 { 70_000 } else { 16 + key as usize };
    (!key.is_multiple_of(5) || epoch.is_multiple_of(2)).then(|| State::new(epoch, len as u64).value(key))
}

/// Gives all keys the values of one epoch, in a batch or one by one.
fn write_together(memory: &Memory, epoch: u64, is_batch: bool) {
    let change = |key: u64| match value_together(key, epoch) {
        Some(value) => Change::Put { kind: 0, value: value.into(), expiry: None },
        None => Change::Delete,
    };
    let operations: Vec<_> = (0..TOGETHER).map(|key| (table_of(key), Key::Integer(key))).collect();
    if is_batch {
        memory.batch(&operations, |at, _| Some(change(at as u64))).unwrap().unwrap();
    } else {
        for (table, key) in operations {
            let Key::Integer(number) = key else { unreachable!() };
            memory.update(table, key, |_| change(number)).unwrap();
        }
    }
}

/// The epoch that all keys are of; `None` if they are of several.
fn epoch_together(memory: &Memory) -> Option<u64> {
    let values: Vec<_> = (0..TOGETHER)
        .map(|key| {
            let mut value = Vec::new();
            memory.view().get(table_of(key).number, Key::Integer(key), &mut value).unwrap().map(|_| value)
        })
        .collect();
    let epoch = u64::from_le_bytes(values[1].as_ref()?[8..16].try_into().unwrap());
    (0..).zip(&values).all(|(key, value)| *value == value_together(key, epoch)).then_some(epoch)
}

/// Owners write epoch after epoch until they are killed. Says after how many of them the keys were of
/// several.
fn kill_over_batches(rounds: u64, is_batch: bool) -> u64 {
    let mut rng = Rng::with_seed(seed());
    let (scratch, options) = long();
    let path = &scratch.path().join("store");
    write_together(&Memory::create(path, &options).unwrap(), 0, true);
    let (mut halves, mut last) = (0, 0);
    for _ in 0..rounds {
        let (mut told, mut tell) = pipe().unwrap();
        let options = &options;
        let owner = fork(move || {
            let memory = Memory::open(path, options).unwrap();
            for epoch in last + 1.. {
                write_together(&memory, epoch, is_batch);
                tell.write_all(&epoch.to_le_bytes()).unwrap();
            }
            1
        });
        let mut epoch = [0; 8];
        told.read_exact(&mut epoch).unwrap();
        thread::sleep(Duration::from_micros(rng.u64(..20_000)));
        owner.kill();
        while told.read_exact(&mut epoch).is_ok() {}
        let told = u64::from_le_bytes(epoch);
        let memory = Memory::open(path, options).unwrap();
        assert_eq!(memory.verify().findings, Vec::<String>::new());
        match epoch_together(&memory) {
            Some(epoch) => assert!(epoch == told || epoch == told + 1, "{epoch} after {told}"),
            None => halves += 1,
        }
        last = told + 1;
        write_together(&memory, last, true);
    }
    halves
}

#[test]
fn a_batch_survives_its_owner_as_a_whole_or_not_at_all() {
    assert_eq!(kill_over_batches(16, true), 0);
}

/// Changes one by one are a batch that is applied by halves.
#[test]
fn canary_changes_that_are_no_batch_are_noticed() {
    assert!(kill_over_batches(8, false) > 0);
}

/// A version stands for one change of one key: who has seen it must not take another for it, whoever made
/// that.
#[test]
fn versions_never_repeat_whoever_the_owner_is() {
    const KEY: Key<'_> = Key::Integer(1);
    let (scratch, options) = small();
    let path = &scratch.path().join("store");
    let make_anew = |memory: &Memory, tell: &mut dyn FnMut(u64)| {
        memory.update(VERSIONED, KEY, |_| Change::Delete).unwrap();
        tell(memory.put(VERSIONED, KEY, b"anew").unwrap().version.unwrap());
        // It grows where it lies, and then elsewhere.
        for bytes in [&[1; 4], &[2; 60]] as [&[u8]; 2] {
            tell(memory.append(VERSIONED, KEY, 0, bytes).unwrap().version.unwrap());
        }
    };
    let mut versions = Vec::new();
    make_anew(&Memory::create(path, &options).unwrap(), &mut |version| versions.push(version));
    for _ in 0..5 {
        let (mut told, mut tell) = pipe().unwrap();
        let options = &options;
        let owner = fork(move || {
            let memory = Memory::open(path, options).unwrap();
            loop {
                make_anew(&memory, &mut |version| tell.write_all(&version.to_le_bytes()).unwrap());
            }
        });
        for _ in 0..100 {
            let mut version = [0; 8];
            told.read_exact(&mut version).unwrap();
            versions.push(u64::from_le_bytes(version));
        }
        owner.kill();
        let memory = Memory::open(path, options).unwrap();
        let left = memory.view().get(VERSIONED.number, KEY, &mut Vec::new()).unwrap().and_then(|left| left.version);
        // The last one that was told, or one that was not told any more.
        versions.extend(left.filter(|left| Some(left) != versions.last()));
        make_anew(&memory, &mut |version| versions.push(version));
        drop(memory);
        make_anew(&Memory::open(path, options).unwrap(), &mut |version| versions.push(version));
    }
    assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
}

/// Each owner goes on where the last one stopped: otherwise a program that writes one value and ends would
/// use up a segment.
#[test]
fn a_store_that_is_opened_for_every_change_does_not_fill_up() {
    let (scratch, options) = small();
    let path = scratch.path().join("store");
    drop(Memory::create(&path, &options).unwrap());
    for round in 0..1000 {
        let memory = Memory::open(&path, &options).unwrap();
        memory.put(PLAIN, Key::Integer(round % 100), &State::new(round, 30).value(round)).unwrap();
    }
    let memory = Memory::open(&path, &options).unwrap();
    assert_eq!((memory.verify().faults, memory.verify().records), (0, 100));
    assert!(memory.view().usage().in_use() < 20 * memory.view().usage().segment_size, "{memory:?}");
}

/// Writers that find the store full go on as soon as it may take more, and who was reading before finds what
/// they write.
#[test]
fn a_limit_can_be_raised_while_everybody_is_at_work() {
    const KEYS: u64 = 6000;
    let (scratch, options) = small();
    let path = scratch.path().join("store");
    let memory = Memory::create(&path, &Options { limit: 64 * (8 << 10), ..options }).unwrap();
    let value = |key: u64| State::new(1, 200).value(key);
    let (mut ours, mut theirs) = pipe().unwrap();
    let child = fork(move || {
        let reader = Reader::attach(&path).unwrap();
        theirs.write_all(b"attached").unwrap();
        let mut found = Vec::new();
        for key in 0..KEYS {
            wait_until("a key", || {
                found.clear();
                reader.view().get(PLAIN.number, Key::Integer(key), &mut found).unwrap().is_some()
            });
            assert_eq!(found, value(key));
        }
        i32::from(reader.view().usage().limit != 1000 * (8 << 10))
    });
    ours.read_exact(&mut [0; 8]).unwrap();
    let refused = [const { AtomicU64::new(0) }; 2];
    thread::scope(|scope| {
        for (writer, refused) in (0..).zip(&refused) {
            let memory = &memory;
            scope.spawn(move || {
                for key in (writer..KEYS).step_by(2) {
                    while let Err(error) = memory.put(PLAIN, Key::Integer(key), &value(key)) {
                        assert_eq!(error.kind(), Kind::Full, "{error}");
                        refused.fetch_add(1, Relaxed);
                    }
                }
            });
        }
        wait_until("a full store", || refused.iter().all(|refused| refused.load(Relaxed) > 0));
        memory.set_limit(1000 * (8 << 10)).unwrap();
    });
    assert_eq!(child.wait(), Some(0));
    assert_eq!((memory.verify().faults, memory.verify().records), (0, KEYS));
    // What is in use stays in use.
    let used = memory.view().usage();
    memory.set_limit(64 * (8 << 10)).unwrap();
    let lowered = memory.view().usage().limit;
    assert!(lowered >= used.in_use() && lowered < used.limit, "{lowered} after {used:?}");
    assert_eq!(memory.verify().records, KEYS);
}

#[test]
fn a_forked_child_reads_what_its_parent_writes_afterwards() {
    let memory = Memory::anonymous(&tiny(64)).unwrap();
    let read = || {
        let mut value = Vec::new();
        memory.view().get(PLAIN.number, Key::Integer(1), &mut value).unwrap().map(|_| value)
    };
    let child = fork(|| {
        wait_until("the value", || read().is_some());
        i32::from(read().as_deref() != Some(b"from the parent"))
    });
    memory.put(PLAIN, Key::Integer(1), b"from the parent").unwrap();
    assert_eq!(child.wait(), Some(0));
}

/// A store of some values, as a board has it.
fn written() -> (TempDir, Board, Memory) {
    let (scratch, options) = small();
    let board = Board::new(Keys { staying: 100, all: 100, ..SMALL });
    let memory = Memory::create(scratch.path().join("store"), &options).unwrap();
    board.begin(&memory);
    board.settle(&memory).unwrap();
    (scratch, board, memory)
}

/// What `settle` and `keep_reading` say of a store that somebody tampered with.
fn findings(tamper: impl FnOnce(&Memory)) -> [String; 2] {
    let (_scratch, board, memory) = written();
    tamper(&memory);
    [board.settle(&memory), board.keep_reading(memory.view(), 0, 1)].map(|found| found.expect_err("something is wrong"))
}

/// A harness that cannot see these cannot see any.
#[test]
fn canary_a_lost_a_stale_and_a_torn_value_are_noticed() {
    let put = |value: Vec<u8>| move |memory: &Memory| drop(memory.put(table_of(7), Key::Integer(7), &value));
    let [settled, read] = findings(|memory| {
        memory.update(table_of(7), Key::Integer(7), |_| Change::Delete).unwrap();
    });
    assert!(settled.contains("key 7 is") && read.contains("key 7"), "{settled}, {read}");
    let [settled, read] = findings(put(State::new(0, 16).value(7)));
    assert!(settled.contains("key 7 is State") && read.contains("key 7 is State"), "{settled}, {read}");
    let mut torn = State::new(1, 100).value(7);
    torn[50] ^= 1;
    let [settled, read] = findings(put(torn));
    assert!(settled.contains("key 7 is torn") && read.contains("key 7 is torn"), "{settled}, {read}");
    let [settled, read] = findings(put(State::new(1, 16).value(8)));
    assert!(settled.contains("key 7 is torn") && read.contains("key 7 is torn"), "another key's: {settled}, {read}");
}

#[test]
fn canary_a_part_left_behind_is_noticed() {
    let (_scratch, board, memory) = written();
    let memory = memory.broken();
    let parts = TableId { number: u16::MAX, is_versioned: false };
    memory.put(parts, Key::Bytes(b"a part nobody"), b"names").unwrap();
    let finding = board.settle(&memory).unwrap_err();
    assert!(finding.contains("has no key of theirs"), "{finding}");
}
