//! The whole engine under a scheduler: thousands of schedules of writers, readers and a cleaner on a store of some kilobytes, each
//! of which ends with its invariants looked at and its history explained. With a step left out of a protocol, some schedule must not.
//!
//! A schedule follows from its seed, which is printed where it fails. `HAMMERSPACE_SCHEDULES` asks for more of them than the suite has.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use shuttle::thread;

use crate::caller::{Caller, Keys, judge};
use crate::flaw::Flaw;
use crate::geometry::Geometry;
use crate::memory::Memory;
use crate::options::Options;
use crate::sync::scheduled::{run, take_turns};

/// A store, and what is done with it.
#[derive(Clone, Copy)]
struct Scene {
    geometry: Geometry,
    limit: u64,
    keys: Keys,
    /// Changes of each writer.
    changes: u32,
}

/// Every few records fill a segment, which is soon used again; every few keys split a piece.
const SHORT: Scene = Scene {
    geometry: Geometry { segment_size: 256, segments_max: 64, buckets: 1 },
    limit: 26 * 256,
    keys: Keys { count: 6, len_max: 40 },
    changes: 60,
};
/// Values in up to four parts.
const LONG: Scene = Scene {
    geometry: Geometry { segment_size: 4096, segments_max: 64, buckets: 2 },
    limit: 26 * 4096,
    keys: Keys { count: 2, len_max: 3000 },
    changes: 30,
};

/// The time of a schedule: how often somebody has looked at the clock.
fn clock() -> u64 {
    static TIME: AtomicU64 = AtomicU64::new(0);
    TIME.fetch_add(1, Relaxed)
}

/// Two writers, two readers and a cleaner, until the writers are done.
fn play(scene: Scene, seed: u64) {
    let Scene { geometry, limit, keys, changes } = scene;
    let options =
        Options { geometry: Some(geometry), cleaners: 0, writers: 2, seed: Some(seed), ..Options::with_limit(limit) };
    let memory = Memory::anonymous(&options).unwrap();
    let caller = |number: u64| Caller::new(keys, seed, number, clock);
    let working = AtomicU64::new(2);
    let write = |number: u64| {
        let mut caller = caller(number);
        for change in 0..changes {
            caller.change(&memory);
            if number == 0 && change % 16 == 15 {
                caller.drop_table(&memory);
            }
        }
        working.fetch_sub(1, Relaxed);
        caller
    };
    let is_over = || working.load(Relaxed) == 0;
    let read = |number: u64| {
        let mut caller = caller(number);
        while !is_over() {
            caller.look(memory.view());
        }
        caller
    };
    let clean = || {
        while !is_over() {
            if !memory.clean().unwrap() {
                thread::yield_now();
            }
        }
    };
    let mut callers = take_turns(|| {
        thread::scope(|scope| {
            let writers = [0, 1].map(|number| scope.spawn(move || write(number)));
            let readers = [2, 3].map(|number| scope.spawn(move || read(number)));
            scope.spawn(clean);
            writers.into_iter().chain(readers).map(|caller| caller.join().unwrap()).collect::<Vec<_>>()
        })
    });
    let mut last = caller(4);
    last.look_at_all(memory.view());
    callers.push(last);
    judge(callers).unwrap_or_else(|complaint| panic!("{complaint}"));
    let report = memory.verify();
    assert_eq!((report.faults, report.findings), (0, Vec::new()));
}

#[test]
fn trial() {
    let scene = if std::env::var("LONG").is_ok() { LONG } else { SHORT };
    let count: u64 = std::env::var("N").map_or(100, |n| n.parse().unwrap());
    for flaw in [
        None,
        Some(Flaw::SlotOnce),
        Some(Flaw::GenerationOnce),
        Some(Flaw::DirectoryOnce),
        Some(Flaw::NotEmptied),
        Some(Flaw::NotLocked),
        Some(Flaw::FreeBeforeSwing),
        Some(Flaw::NotAwaited),
    ] {
        let mut found = 0;
        let mut first = None;
        let start = std::time::Instant::now();
        for seed in std::env::var("SEED").map_or(0, |n| n.parse().unwrap())..count {
            Flaw::plant(flaw);
            let seen = catch_unwind(AssertUnwindSafe(|| run(seed, move || play(scene, seed)))).is_err();
            if seen {
                found += 1;
                first = first.or(Some(seed));
                if flaw.is_none() {
                    break;
                }
            }
        }
        println!("RESULT {flaw:?}: {found}, first {first:?}, {:?}", start.elapsed());
    }
}
