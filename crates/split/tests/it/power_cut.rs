//! The power fails at every change of several runs: what is found is that all of a run is there or nothing of it.

use fastrand::Rng;
use hammerspace_split::Split;
use hammerspace_testkit::disk::Tape;

use crate::support::{Found, options, records, run, visible};

/// What was taped, and what was visible when each run had returned.
struct Story {
    tape: Tape,
    moments: Vec<(usize, Found)>,
}

fn tell() -> Story {
    let dir = tempfile::tempdir().unwrap();
    let (tape, moments) = Tape::record(dir.path(), |counter| {
        let mut moments = vec![(0, Found::new())];
        for id in 0..2 {
            run(dir.path(), &records(id, 12), options(Some(id))).unwrap();
            moments.push((counter.now(), visible(dir.path()).unwrap()));
        }
        moments
    });
    Story { tape, moments }
}

fn cut(story: &Story, at: usize, seed: u64) -> Result<(), String> {
    let disk = tempfile::tempdir().unwrap();
    story.tape.cut(at, &mut Rng::with_seed(seed)).write_to(disk.path()).unwrap();
    let context = |what: String| format!("cut at {at} of {}, seed {seed}: {what}", story.tape.len());
    visible(disk.path()).map_err(context)?;
    // The next run finishes what was begun.
    drop(Split::begin(disk.path(), options(None)).map_err(|error| context(error.to_string()))?);
    let found = visible(disk.path()).map_err(context)?;
    let done = story.moments.iter().rposition(|(end, _)| *end <= at).expect("an empty directory at the start");
    let next = story.moments.get(done + 1);
    if found != story.moments[done].1 && next.is_none_or(|(_, next)| found != *next) {
        return Err(context("what is there is neither what was nor what was to be".into()));
    }
    Ok(())
}

fn survives(story: &Story) -> Result<(), String> {
    (0..=story.tape.len()).try_for_each(|at| (0..2).try_for_each(|seed| cut(story, at, seed)))
}

#[test]
fn all_of_a_run_or_nothing() {
    survives(&tell()).unwrap();
}

/// A harness that cannot see these losses cannot see any.
#[test]
fn canary_a_forgotten_sync_is_noticed() {
    let story = tell();
    for name in [".csv", ".merged", "commit.new"] {
        let (at, path) = story.tape.syncs().into_iter().find(|(_, path)| path.ends_with(name)).expect("it is synced");
        let forgetful = Story { tape: story.tape.forgetting(at), moments: story.moments.clone() };
        assert!(survives(&forgetful).is_err(), "{path}");
    }
}
