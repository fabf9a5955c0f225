//! Several writers on each of a few keys, with a cleaner at work on a store that is nearly full, readers
//! beside them, and one in another process: one order of all calls must explain what they saw, as the
//! machine's clock times them.
//!
//! `HAMMERSPACE_CHANGES` says how many changes each writer makes, `HAMMERSPACE_SEED` which they are.

use std::fs::File;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};

use hammerspace_memory::{Change, Geometry, Key, Options, Reader, TableId};
use hammerspace_os::clock;
use hammerspace_os::process::fork::fork;
use hammerspace_testkit::setting::{seed, setting};

use crate::caller::{Caller, Keys, judge};
use crate::model::{PLAIN, tiny};
use crate::sound::Memory;

/// What fills the store, and stays.
const BALLAST: TableId = TableId { number: 9, is_versioned: false };
const WRITERS: u64 = 3;

fn now() -> u64 {
    clock::precise().as_nanos() as u64
}

/// Fills a store until it takes no more, then makes some room.
fn fill(memory: &Memory, len: usize) {
    let put = |key: u64| memory.put(BALLAST, Key::Integer(key), &vec![0; len]);
    let full = (0..1 << 20).find(|key| put(*key).is_err()).expect("it is full some time");
    for key in 0..full / 10 {
        memory.update(BALLAST, Key::Integer(key), |_| Change::Delete).unwrap();
    }
}

/// A process that looks on until a file of this name is there, and then leaves its notes in another.
fn look_on(path: &Path, mut caller: Caller, stop: &Path, notes: &Path) -> i32 {
    let reader = Reader::attach(path).unwrap();
    while !stop.exists() {
        (0..16).for_each(|_| caller.look(reader.view()));
    }
    std::fs::write(notes, serde_json::to_vec(&caller.calls).unwrap()).unwrap();
    0
}

fn explain(options: &Options, keys: Keys, ballast: usize, changes: u64) {
    let (seed, changes) = (seed(), setting("HAMMERSPACE_CHANGES", || changes));
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let [path, stop, notes] = ["store", "stop", "notes"].map(|name| scratch.path().join(name));
    let options = Options { region: Some(scratch.path().to_path_buf()), cleaners: 1, writers: 2, ..options.clone() };
    let memory = Memory::create(&path, &options).unwrap();
    fill(&memory, ballast);
    let before = memory.cleaned().segments;
    let caller = |number: u64| Caller::new(keys, seed, number, now);
    let foreign = fork(|| look_on(&path, caller(WRITERS), &stop, &notes));
    let write = |number: u64| {
        let mut caller = caller(number);
        for change in 0..changes {
            caller.change(&memory);
            if number == 0 && change % 256 == 255 {
                caller.drop_table(&memory);
            }
        }
        caller
    };
    let look = || {
        let mut caller = caller(WRITERS + 1);
        while !stop.exists() {
            (0..16).for_each(|_| caller.look(memory.view()));
        }
        caller
    };
    let mut callers: Vec<Caller> = thread::scope(|scope| {
        let reader = scope.spawn(look);
        let writers: Vec<_> = (0..WRITERS).map(|number| scope.spawn(move || write(number))).collect();
        let done: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
        File::create(&stop).unwrap();
        done.into_iter().chain([reader.join()]).map(|caller| caller.expect("no caller panics")).collect()
    });
    assert_eq!(foreign.wait(), Some(0), "the other process");
    let mut other = caller(WRITERS);
    other.calls = serde_json::from_slice(&std::fs::read(&notes).unwrap()).unwrap();
    let mut last = caller(WRITERS + 2);
    last.look_at_all(memory.view());
    callers.extend([other, last]);
    let counts: Vec<usize> = callers.iter().map(|caller| caller.calls.len()).collect();
    assert!(counts.iter().all(|count| *count > 0) && counts[0] as u64 > changes / 2, "{counts:?} calls");
    judge(callers).unwrap_or_else(|complaint| panic!("{complaint}"));
    assert_eq!(memory.verify().findings, Vec::<String>::new());
    keys.delete_all(&memory);
    assert_eq!(memory.verify().findings, Vec::<String>::new());
    let cleaned = memory.cleaned().segments - before;
    assert!(cleaned > changes / 200, "the cleaner was busy: {cleaned}");
}

#[test]
fn one_order_explains_what_threads_and_processes_saw() {
    explain(&tiny(64), Keys { count: 2, len_max: 200 }, 100, 100_000);
}

#[test]
fn one_order_explains_values_in_parts() {
    let geometry = Geometry { segment_size: 256 << 10, segments_max: 64, buckets: 4 };
    let options = Options { geometry: Some(geometry), ..Options::with_limit(40 * geometry.segment_size) };
    explain(&options, Keys { count: 1, len_max: 200_000 }, 60_000, 1000);
}

/// A harness that cannot see this cannot see anything.
#[test]
fn canary_a_change_that_nobody_noted_is_noticed() {
    let history = |tamper: fn(&Memory)| {
        let memory = Memory::anonymous(&tiny(64)).unwrap();
        let mut caller = Caller::new(Keys { count: 1, len_max: 100 }, 1, 0, now);
        (0..100).for_each(|_| caller.change(&memory));
        tamper(&memory);
        caller.look_at_all(memory.view());
        judge([caller])
    };
    history(|_| {}).unwrap();
    let complaint = history(|memory| {
        memory.put(PLAIN, Key::Integer(0), b"nobody's").unwrap();
    });
    assert!(complaint.unwrap_err().contains("key 0 of table 1"));
}
