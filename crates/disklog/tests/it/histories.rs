//! Histories on a disk that loses power: what was acknowledged is replayed, and of each batch all or nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use fastrand::Rng;
use hammerspace_disklog::{Change, Durability, Key, Log, Record, Recovered, Recovery};
use hammerspace_error::{Kind, Result};
use hammerspace_os::Dir;
use hammerspace_testkit::disk::Tape;

type State = BTreeMap<u64, Vec<u8>>;

fn record(sequence: u64, key: u64, change: Change<'_>) -> Record<'_> {
    Record { sequence, kept: Some(sequence), table: 1, key: Key::Integer(key), change, is_of_batch: false }
}

fn written(value: &[u8]) -> Change<'_> {
    Change::Written { kind: 0, value, is_large: false, expiry: None }
}

fn create(path: &Path) -> Log {
    let log = Log::create(Dir::open(path).unwrap(), Durability::Commit, 1 << 20, 0o600, 1, Box::new(|_| {})).unwrap();
    log.keep().unwrap();
    log
}

fn apply(state: &mut State, record: &Record<'_>) {
    let Key::Integer(key) = record.key else { panic!("no such key was put") };
    match record.change {
        Change::Removed => drop(state.remove(&key)),
        Change::Written { value, .. } => drop(state.insert(key, value.to_vec())),
        Change::Grown(from, bytes) => {
            // Where the log was written anew, the key follows as a whole.
            if let Some(value) = state.get_mut(&key).filter(|value| value.len() as u64 == from) {
                value.extend_from_slice(bytes);
            }
        }
        Change::Number(word) => drop(state.insert(key, word.to_le_bytes().to_vec())),
    }
}

fn replay(path: &Path) -> Result<(State, Recovered)> {
    let state = Mutex::new(State::new());
    let Some(recovery) = Recovery::of(&Dir::open(path)?)? else { return Ok((State::new(), Recovered::default())) };
    let apply = |record: &Record<'_>| {
        apply(&mut state.lock().unwrap(), record);
        Ok(())
    };
    let recovered = recovery.replay(3, &apply, &|_, _| {})?;
    Ok((state.into_inner().unwrap(), recovered))
}

/// A random change of a key that is in this state.
fn change<'v>(rng: &mut Rng, state: &State, key: u64, value: &'v [u8]) -> Change<'v> {
    match (rng.u32(..4), state.get(&key)) {
        (0, Some(_)) => Change::Removed,
        (1, Some(old)) => Change::Grown(old.len() as u64, value),
        (2, Some(_)) => Change::Number(rng.u64(..)),
        _ => written(value),
    }
}

/// Makes changes and batches, some of them waited for, and writes the log anew now and then. Gives the state
/// after each number, and up to which number changes were acknowledged at each place of the tape.
fn history(path: &Path, seed: u64) -> (Tape, Vec<State>, Vec<(usize, u64)>) {
    let (tape, (states, acknowledged)) = Tape::record(path, |counter| {
        let mut rng = Rng::with_seed(seed);
        let log = create(path);
        let mut states = vec![State::new()];
        let mut acknowledged = vec![(counter.now(), 0)];
        for _ in 0..40 {
            let (first, mut state) = (states.len() as u64, states[states.len() - 1].clone());
            let values: Vec<_> = (0..rng.usize(1..4)).map(|_| vec![rng.u8(..); rng.usize(..400)]).collect();
            let mut batch = Vec::new();
            for (at, value) in values.iter().enumerate() {
                let key = rng.u64(..3) * 3 + at as u64;
                let mut made = record(first + at as u64, key, change(&mut rng, &state, key, value));
                made.is_of_batch = values.len() > 1;
                apply(&mut state, &made);
                batch.push(made);
            }
            log.append(&batch);
            // A batch has several numbers and one state: before the last of them, nothing of it may show.
            let before = states[states.len() - 1].clone();
            states.extend(std::iter::repeat_n(before, batch.len() - 1));
            states.push(state);
            let last = states.len() as u64 - 1;
            if rng.u32(..3) == 0 {
                log.wait(last).unwrap();
                acknowledged.push((counter.now(), last));
            }
            if rng.u32(..12) == 0 {
                let number = log.roll().unwrap();
                for (key, value) in &states[states.len() - 1] {
                    log.append_again(&record(last, *key, written(value)));
                }
                log.keep_from(number).unwrap();
                acknowledged.push((counter.now(), last));
            }
        }
        log.close().unwrap();
        acknowledged.push((counter.now(), states.len() as u64 - 1));
        (states, acknowledged)
    });
    (tape, states, acknowledged)
}

/// Cuts the power everywhere. What is found is a state that was, and none before the last one acknowledged.
fn survives(tape: &Tape, states: &[State], acknowledged: &[(usize, u64)], seed: u64) -> Result<(), String> {
    let mut rng = Rng::with_seed(seed);
    for at in 0..=tape.len() {
        let scratch = tempfile::tempdir().unwrap();
        tape.cut(at, &mut rng).write_to(scratch.path()).unwrap();
        let least = acknowledged.iter().rev().find(|(place, _)| *place <= at).map_or(0, |(_, number)| *number);
        let (found, _) = replay(scratch.path()).map_err(|error| format!("cut at {at}: {error}"))?;
        if !states[least as usize..].contains(&found) {
            return Err(format!("cut at {at}: the state is none of those from number {least} on"));
        }
    }
    Ok(())
}

#[test]
fn after_a_power_cut_at_any_point_what_was_acknowledged_is_there() {
    for seed in 0..6 {
        let scratch = tempfile::tempdir().unwrap();
        let (tape, states, acknowledged) = history(scratch.path(), seed);
        survives(&tape, &states, &acknowledged, seed).unwrap_or_else(|complaint| panic!("seed {seed}: {complaint}"));
        assert_eq!(&replay(scratch.path()).unwrap().0, states.last().unwrap());
    }
}

/// Of each file that is synced, there is a history in which that sync is needed.
#[test]
fn canary_a_forgotten_sync_is_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let (tape, states, acknowledged) = history(scratch.path(), 2);
    let mut noticed = BTreeMap::<String, bool>::new();
    for (at, what) in tape.syncs() {
        let what = what.replace(&scratch.path().display().to_string(), "store");
        let what = if what.contains("/log/") { "segment".into() } else { what };
        let is_noticed = noticed.entry(what).or_default();
        for seed in 0..6 {
            let found = survives(&tape.forgetting(at), &states, &acknowledged, seed);
            *is_noticed |= found.is_err();
        }
    }
    assert!(noticed.values().all(|noticed| *noticed), "{noticed:?}");
    assert_eq!(noticed.len(), 4, "{noticed:?}");
}

fn example(path: &Path) {
    let log = create(path);
    for number in 1..=9 {
        log.append(&[record(number, number, written(&[number as u8; 40]))]);
        log.wait(number).unwrap();
    }
    log.close().unwrap();
}

#[test]
fn every_flipped_bit_of_a_closed_log_is_found_and_the_rest_is_salvaged() {
    let scratch = tempfile::tempdir().unwrap();
    example(scratch.path());
    let whole = replay(scratch.path()).unwrap().0;
    for name in ["manifest", "log/00000001"] {
        let path = scratch.path().join(name);
        let bytes = std::fs::read(&path).unwrap();
        // The seal at the end may be lost: that is what it is for.
        let end = bytes.len() - if name == "manifest" { 0 } else { 32 };
        for at in 0..end {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            let error = replay(scratch.path()).unwrap_err();
            assert_eq!((error.kind(), error.path()), (Kind::Corrupt, Some(path.as_path())), "{name}, byte {at}");
            let saved = Mutex::new(State::new());
            let salvage = Recovery::salvage(&Dir::open(scratch.path()).unwrap(), &|record| {
                apply(&mut saved.lock().unwrap(), record);
                Ok(())
            });
            let (salvage, saved) = (salvage.unwrap(), saved.into_inner().unwrap());
            assert!(saved.len() >= 8 && saved.iter().all(|(key, value)| whole.get(key) == Some(value)), "byte {at}");
            assert!(!salvage.lost.is_empty() || saved == whole, "{name}, byte {at}");
        }
        std::fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn a_torn_tail_is_cut_and_the_log_goes_on_behind_it() {
    let scratch = tempfile::tempdir().unwrap();
    example(scratch.path());
    let path = scratch.path().join("log/00000001");
    let bytes = std::fs::read(&path).unwrap();
    for len in (64..bytes.len()).step_by(7) {
        std::fs::write(&path, &bytes[..len]).unwrap();
        let (state, recovered) = replay(scratch.path()).unwrap();
        let manifest = Recovery::of(&Dir::open(scratch.path()).unwrap()).unwrap().unwrap().manifest();
        let (dir, next) = (Dir::open(scratch.path()).unwrap(), recovered.last + 1);
        let log = Log::open(dir, manifest, false, next, Box::new(|_| {})).unwrap();
        log.append(&[record(next, 100, written(b"more"))]);
        log.close().unwrap();
        let (after, now) = replay(scratch.path()).unwrap();
        assert_eq!((after.len(), now.torn), (state.len() + 1, 0), "cut to {len} bytes");
    }
}
