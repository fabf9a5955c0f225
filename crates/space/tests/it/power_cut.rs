//! The power fails at every point of every publication: the old version or the new one, never a mix, never neither.

use std::ops::RangeInclusive;
use std::path::Path;

use fastrand::Rng;
use hammerspace_space::{Options, Result, Space};
use hammerspace_testkit::disk::Tape;

use crate::support::{Twin, contents, publish, quick, scratch};

/// A space at some moment: its version's number, and what is in it.
type Moment = (Option<u64>, Twin);

/// What was taped, and for each publication when it returned and what it left.
struct Story {
    tape: Tape,
    moments: Vec<(usize, Moment)>,
}

fn moment(space: &Space) -> Moment {
    space.refresh().unwrap();
    (space.snapshot().number(), contents(&space.snapshot()).unwrap())
}

/// Replaces, updates, goes back and clears, as users do.
fn tell(seed: u64) -> Story {
    let scratch = scratch();
    let mut rng = Rng::with_seed(seed);
    let (tape, moments) = Tape::record(scratch.path(), |counter| {
        let space = Options::new().keep(2).create(scratch.path()).unwrap();
        let mut moments = vec![(0, moment(&space))];
        for step in 0..8 {
            act(&space, step, &mut rng).unwrap();
            moments.push((counter.now(), moment(&space)));
        }
        moments
    });
    Story { tape, moments }
}

fn act(space: &Space, step: u8, rng: &mut Rng) -> Result<()> {
    let mut writer = match step {
        4 => return space.rollback(None).map(drop),
        6 => return space.clear(),
        0 | 2 => space.replace()?,
        _ => space.writer()?,
    };
    for key in 0..rng.u8(1..20) {
        writer.put([key], vec![rng.u8(..); rng.usize(..2000)])?;
    }
    writer.delete([rng.u8(..20)])?;
    writer.publish().map(drop)
}

/// Cuts in front of change `at`, and checks what is found: the last version whose publication returned, or the next one,
/// which may lack its number.
fn cut(story: &Story, at: usize, seed: u64) -> Result<(), String> {
    let disk = scratch();
    story.tape.cut(at, &mut Rng::with_seed(seed)).write_to(disk.path()).unwrap();
    let context = |what: String| format!("cut at {at} of {}, seed {seed}: {what}", story.tape.len());
    let found = find(disk.path()).map_err(context)?;
    let done = story.moments.iter().rposition(|(end, _)| *end <= at).expect("the empty space at the start");
    let old = &story.moments[done].1;
    let is_new = |(_, new): &(usize, Moment)| found.1 == new.1 && (found.0 == new.0 || found.0.is_none());
    if found != *old && !story.moments.get(done + 1).is_some_and(is_new) {
        return Err(context(format!("version {:?} with {} keys is neither", found.0, found.1.len())));
    }
    goes_on(disk.path()).map_err(context)
}

fn find(path: &Path) -> Result<Moment, String> {
    let space = Space::open(path).map_err(|error| error.to_string())?;
    let snapshot = space.snapshot();
    let report = snapshot.verify().map_err(|error| error.to_string())?.unwrap_or_default();
    if let Some(finding) = report.findings.into_iter().next() {
        return Err(finding.to_string());
    }
    Ok((snapshot.number(), contents(&snapshot).map_err(|error| error.to_string())?))
}

/// Life goes on after the cut.
fn goes_on(path: &Path) -> Result<(), String> {
    let write = || -> Result<bool> {
        let space = quick().open(path)?;
        let mut writer = space.writer()?;
        writer.put("after", "the cut")?;
        writer.publish()?;
        space.refresh()?;
        Ok(space.get("after")?.is_some())
    };
    match write() {
        Ok(true) => Ok(()),
        Ok(false) => Err("what was published after the cut is not there".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn survives(story: &Story, cuts: RangeInclusive<usize>, seeds: u64) -> Result<(), String> {
    cuts.into_iter().try_for_each(|at| (0..seeds).try_for_each(|seed| cut(story, at, seed)))
}

#[test]
fn the_old_version_or_the_new_one() {
    for seed in 0..2 {
        let story = tell(seed);
        survives(&story, 0..=story.tape.len(), 8).unwrap();
    }
}

/// So many keys that threads write the index, and in several pieces.
const MANY: u32 = 300_000;

/// One small version, and then a large one.
fn tell_of_many() -> Story {
    let scratch = scratch();
    let (tape, moments) = Tape::record(scratch.path(), |counter| {
        let space = Options::new().create(scratch.path()).unwrap();
        publish(&space, &[("key", "1")]);
        let before = (counter.now(), moment(&space));
        let mut writer = space.replace().unwrap();
        for key in 0..MANY {
            writer.put(key.to_le_bytes(), "").unwrap();
        }
        writer.publish().unwrap();
        vec![(0, (None, Twin::new())), before, (counter.now(), moment(&space))]
    });
    Story { tape, moments }
}

#[test]
fn an_index_that_threads_write_is_there_or_not() {
    let story = tell_of_many();
    let end = story.tape.len();
    survives(&story, story.moments[1].0..=end - 1, 1).unwrap();

    // Each of the writes to the index is on the tape, and needed once the version is there.
    let writes = story.tape.writes("hammerspace.spi");
    let writes = &writes[writes.partition_point(|at| *at < story.moments[1].0)..];
    assert!(writes.len() >= 3, "{writes:?}");
    for at in [writes[0], writes[1], writes[writes.len() - 1]] {
        let forgetful = Story { tape: story.tape.forgetting(at), moments: story.moments.clone() };
        assert!(survives(&forgetful, end..=end, 1).is_err(), "nobody notices that change {at} did not happen");
    }
    survives(&story, end..=end, 1).unwrap();
}

/// A harness that cannot see a missing sync cannot see anything: each one that publishing makes is needed.
#[test]
fn canary_each_forgotten_sync_is_noticed() {
    let story = tell(0);
    let (publication, next) = (story.moments[1].0..story.moments[2].0, story.moments[3].0);
    let syncs: Vec<_> = story.tape.syncs().into_iter().filter(|(at, _)| publication.contains(at)).collect();
    assert_eq!(syncs.len(), 6, "log, index, version, space, stamp, space: {syncs:?}");
    for (at, what) in syncs {
        let moments = story.moments.clone();
        let forgetful = Story { tape: story.tape.forgetting(at), moments };
        assert!(
            survives(&forgetful, at..=next, 20).is_err(),
            "nobody notices that {what} was not synced (change {at})"
        );
    }
}
