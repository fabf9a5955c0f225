//! The demo, as a newcomer starts it: it shows what it promises, and leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::ran::Place;

fn names(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn number(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("{name} is no number in {object}"))
}

#[test]
fn one_object_says_that_it_holds() {
    let ran = Place::new().run("demo --json --seconds 6 --workers 4").ends(0);
    let [report] = &ran.objects()[..] else { panic!("not one object: {}", ran.text()) };

    assert_eq!(names(report), ["workers", "keys", "hash_map", "space", "swap"]);
    assert_eq!(report["workers"], 4);
    assert!(number(report, "keys") >= 20_000.0, "{report}");
    for half in [&report["hash_map"], &report["space"]] {
        assert_eq!(names(half), ["pss_bytes", "ready_ms", "open_us", "get_p50_ns", "get_p99_ns"]);
        assert!(number(half, "ready_ms") > 0.0 && number(half, "open_us") > 0.0, "{half}");
        let (p50, p99) = (number(half, "get_p50_ns"), number(half, "get_p99_ns"));
        assert!(0.0 < p50 && p50 <= p99, "{half}");
    }
    if cfg!(target_os = "linux") {
        // Each map takes 12 MB. The ratio also counts the program's own pages, which are many in a debug build.
        let pss = |half: &str| number(&report[half], "pss_bytes");
        assert!(pss("hash_map") - pss("space") >= 4.0 * 10e6, "{report}");
    }

    let swap = &report["swap"];
    assert_eq!(names(swap), ["max_ms", "mixed", "missed"]);
    assert_eq!((&swap["mixed"], &swap["missed"]), (&Value::from(0), &Value::from(0)), "{swap}");
    // What a busy machine may take; a reader that does not look at the generation takes forever.
    assert!(number(swap, "max_ms") < 1000.0, "{swap}");
    assert!(ran.stderr.contains("1  4 workers"), "the steps go to standard error: {}", ran.stderr);
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let place = Place::new();
    let scratch = place.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut demo = Command::new(&place.hammerspace)
        .args(["demo", "--seconds", "60", "--workers", "2"])
        .env("TMPDIR", &scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut steps = BufReader::new(demo.stderr.take().unwrap());
    let mut step = String::new();
    while !step.starts_with("1  2 workers") {
        step.clear();
        assert!(steps.read_line(&mut step).unwrap() > 0, "it ended before it began");
    }
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);

    assert!(Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap().success());
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    // The workers have this pipe too: it ends when the last of them has.
    steps.read_to_string(&mut step).unwrap();
}
