//! Many runs at once.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use hammerspace_split::{Committed, Kind, OnExisting, Options};

use crate::support::{expected, options, records, run, visible};

const RUNS: u64 = 6;

/// Runs at once; `write` is how each of them writes.
fn all_at_once(dir: &Path, write: impl Fn(u64) + Sync) -> Result<(), String> {
    let barrier = Barrier::new(RUNS as usize);
    std::thread::scope(|scope| {
        for id in 0..RUNS {
            let (barrier, write) = (&barrier, &write);
            scope.spawn(move || {
                barrier.wait();
                write(id);
            });
        }
    });
    let all: Vec<_> = (0..RUNS).flat_map(|id| records(id, 400)).collect();
    if visible(dir)? == expected(&all) { Ok(()) } else { Err("records are missing, or there are others".into()) }
}

#[test]
fn runs_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    all_at_once(dir.path(), |id| drop(run(dir.path(), &records(id, 400), options(None)).unwrap())).unwrap();
    let left: Vec<_> =
        fs::read_dir(dir.path().join(".hammerspace")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the lock and the list of runs: {left:?}");
}

/// Reducers of old opened the file of a day once for every reducer that the day appeared in. The last one won.
#[test]
fn canary_files_that_are_opened_twice_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let clobber = |id| {
        for (name, lines) in expected(&records(id, 400)) {
            fs::write(dir.path().join(name), lines.join("\n") + "\n").unwrap();
        }
    };
    assert!(all_at_once(dir.path(), clobber).is_err());
}

#[test]
fn a_run_of_one_name_is_taken_once() {
    let dir = tempfile::tempdir().unwrap();
    let records = records(7, 100);
    assert!(matches!(run(dir.path(), &records, options(Some(7))).unwrap(), Committed::Done(_)));
    assert_eq!(run(dir.path(), &records, options(Some(7))).unwrap(), Committed::Before);
    assert_eq!(visible(dir.path()).unwrap(), expected(&records));
    let bad = Options { id: Some("../x".into()), ..options(None) };
    assert_eq!(run(dir.path(), &records, bad).unwrap_err().kind(), Kind::Invalid);
}

#[test]
fn what_is_there_stays_goes_or_is_put_in_front() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (records(1, 50), records(2, 50));
    let how = |on_existing| Options { on_existing, ..options(None) };
    run(dir.path(), &old, how(OnExisting::Error)).unwrap();
    let refused = run(dir.path(), &new, how(OnExisting::Error)).unwrap_err();
    assert!(refused.to_string().contains("--on-existing merge"), "{refused}");
    assert_eq!(visible(dir.path()).unwrap(), expected(&old), "nothing has changed");
    run(dir.path(), &new, how(OnExisting::Merge)).unwrap();
    assert_eq!(visible(dir.path()).unwrap(), expected(old.iter().chain(&new)));
    run(dir.path(), &new, how(OnExisting::Replace)).unwrap();
    assert_eq!(visible(dir.path()).unwrap(), expected(&new));
}

#[test]
fn a_file_without_a_last_newline_is_merged_with_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("2011-06-01.csv"), "2011-06-01,by hand,record 0").unwrap();
    run(dir.path(), &records(1, 50), options(None)).unwrap();
    assert!(visible(dir.path()).unwrap()["2011-06-01.csv"].contains(&"2011-06-01,by hand,record 0".to_owned()));
}
