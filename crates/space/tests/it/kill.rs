//! `kill -9` at any moment: readers see whole versions only, and nothing is left after the next publication.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use hammerspace_os::process::fork::fork;
use hammerspace_space::Space;

use crate::support::{names, quick};

const ROUNDS: usize = 200;
const KEYS: u32 = 40;

/// Writes version after version, each with one number in all its values, until it is killed.
fn write_for_ever(path: &Path, mut number: u64) -> i32 {
    let space = quick().open(path).unwrap();
    loop {
        let mut writer = if number.is_multiple_of(2) { space.writer() } else { space.replace() }.unwrap();
        for key in 0..KEYS {
            writer.put(key.to_le_bytes(), number.to_le_bytes().repeat(8)).unwrap();
        }
        writer.publish().unwrap();
        number += 1;
    }
}

/// The one number in all values, `None` for an empty space. Says what is wrong with anything else.
fn whole(space: &Space) -> Result<Option<Vec<u8>>, String> {
    space.refresh().map_err(|error| error.to_string())?;
    let snapshot = space.snapshot();
    let values: Vec<Vec<u8>> = snapshot
        .iter()
        .map(|pair| pair.map(|(_, value)| value.to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())?;
    match values.first() {
        None => Ok(None),
        Some(first) if values.len() == KEYS as usize && values.iter().all(|value| value == first) => {
            Ok(Some(first.clone()))
        }
        Some(_) => Err(format!("a mix: {} values", values.len())),
    }
}

#[test]
fn readers_see_whole_versions_while_writers_are_killed() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path();
    let seed = Rng::new().u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let space = quick().create(path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (reader, mut versions, mut last) = (quick().open(path).unwrap(), 0, None);
            while !done.load(Ordering::Relaxed) {
                let now = whole(&reader).unwrap();
                assert!(last.is_none() || now.is_some(), "once there was a version, the space is never empty");
                versions += usize::from(now != last);
                last = now;
            }
            versions
        });
        let mut left = Vec::new();
        for round in 0..ROUNDS {
            let writers: Vec<_> = (0..2).map(|n| fork(|| write_for_ever(path, rng.u64(..1 << 40) + n))).collect();
            std::thread::sleep(Duration::from_micros(rng.u64(500..6000)));
            writers.into_iter().for_each(hammerspace_os::process::fork::Child::kill);
            if round % 10 == 9 {
                space.writer().unwrap().publish().unwrap();
                left.push((round, names(path)));
            }
        }
        done.store(true, Ordering::Relaxed);
        for (round, names) in left {
            assert_eq!(names.len(), 3, "round {round}: current, lock, one version, and not {names:?}");
        }
        let versions = watcher.join().unwrap();
        assert!(versions > ROUNDS / 10, "the writers got something done: {versions} versions");
    });
}

#[test]
fn canary_a_mix_of_two_versions_is_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    for key in 0..KEYS {
        let number = if key == 17 { 8_u64 } else { 7 };
        writer.put(key.to_le_bytes(), number.to_le_bytes().repeat(8)).unwrap();
    }
    writer.publish().unwrap();
    assert!(whole(&space).is_err());
}
