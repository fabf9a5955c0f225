//! Files by day, written by processes at once that are killed and tried again, while somebody reads them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hammerspace_stripe::Reader;

use crate::ran::Place;

const SCHEMA: &str = "message event { required binary ts (STRING); required int64 id; }";
const DAYS: usize = 5;
const PER_RUN: usize = 3000;

/// The records of a run, out of order.
fn events(run: usize) -> String {
    let event = |at| {
        let id = run * PER_RUN + at;
        format!("{{\"ts\":\"2011-06-0{}T12:00:00Z\",\"id\":{id}}}\n", 1 + id * 7 % DAYS)
    };
    (0..PER_RUN).map(event).collect()
}

/// The ids of each visible file, in order; a file that cannot be read is an error.
fn visible(dir: &Path) -> Result<BTreeMap<String, Vec<usize>>, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with('.') {
            continue;
        }
        let read = || -> hammerspace_error::Result<String> {
            let (reader, mut lines) = (Reader::open(&path)?, Vec::new());
            reader.unstripe(&[1], 1, |some| {
                lines.extend_from_slice(some);
                Ok(())
            })?;
            Ok(String::from_utf8(lines).expect("JSON"))
        };
        let lines = read().map_err(|error| error.to_string())?;
        let id = |line: &str| line.strip_prefix("{\"id\":")?.strip_suffix('}')?.parse().ok();
        let mut ids: Vec<usize> = lines.lines().map(|line| id(line).unwrap()).collect();
        ids.sort_unstable();
        found.insert(name, ids);
    }
    Ok(found)
}

fn expected(runs: usize) -> BTreeMap<String, Vec<usize>> {
    let day = |day| {
        let ids = (0..runs * PER_RUN).filter(|id| id * 7 % DAYS == day).collect();
        (format!("2011-06-0{}.parquet", day + 1), ids)
    };
    (0..DAYS).map(day).collect()
}

fn start(place: &Place, run: usize) -> Child {
    let id = format!("task_{run}");
    let input = format!("events{run}");
    let words = [
        "stripe",
        "--schema",
        "schema",
        "--by",
        "day(ts)",
        "--on-existing",
        "merge",
        "-o",
        "days",
        "--run",
        &id,
        &input,
    ];
    let mut command = Command::new(&place.hammerspace);
    command.args(words).current_dir(place.path()).stdout(Stdio::null()).spawn().unwrap()
}

/// Runs so many tasks, two processes at a time, and kills each a few times at some instant before it is let through.
/// Meanwhile a reader opens whatever is visible.
fn tried_and_killed(place: &Place, tasks: usize) -> Result<(), String> {
    place.write("schema", SCHEMA);
    (0..tasks).for_each(|run| place.write(&format!("events{run}"), events(run)));
    let (is_over, days) = (AtomicBool::new(false), place.path().join("days"));
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                visible(&days)?;
            }
            Ok::<_, String>(())
        });
        let works: Vec<_> = (0..2)
            .map(|half| {
                scope.spawn(move || {
                    let mut rng = fastrand::Rng::with_seed(half as u64);
                    for run in (half..tasks).step_by(2) {
                        for _ in 0..4 {
                            let mut child = start(place, run);
                            thread::sleep(Duration::from_micros(rng.u64(..60_000)));
                            child.kill().unwrap();
                            child.wait().unwrap();
                        }
                        assert!(start(place, run).wait().unwrap().success());
                    }
                })
            })
            .collect();
        for work in works {
            work.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    })?;
    if visible(&days)? == expected(tasks) { Ok(()) } else { Err("records are missing, or there twice".into()) }
}

#[test]
fn processes_that_are_killed_and_tried_again_lose_nothing_and_show_nothing_half() {
    tried_and_killed(&Place::new(), 6).unwrap();
}

/// What the check must see: a day's file that each writer opens for itself, as reducers did.
#[test]
fn canary_files_that_are_opened_twice_are_noticed() {
    let place = Place::new();
    place.write("schema", SCHEMA);
    for run in 0..2 {
        place.write("events", events(run));
        place.run(&format!("stripe --schema schema --by day(ts) --on-existing replace -o days{run} events")).ends(0);
    }
    fs::create_dir(place.path().join("days")).unwrap();
    for run in 0..2 {
        for (name, _) in expected(1) {
            fs::copy(place.path().join(format!("days{run}/{name}")), place.path().join("days").join(&name)).unwrap();
        }
    }
    assert_ne!(visible(&place.path().join("days")).unwrap(), expected(2));
    fs::write(place.path().join("days/half.parquet"), "PAR1").unwrap();
    assert!(visible(&place.path().join("days")).is_err(), "what cannot be read");
}
