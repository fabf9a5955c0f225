//! Verbs that change what is there queue, and none loses what another wrote.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::ran::Place;

/// Starts `hammerspace` with the words of each line, all at once, and waits until all have ended well.
fn run_at_once(place: &Place, lines: impl Iterator<Item = String>) {
    let run = |line: String| {
        let mut run = Command::new(&place.hammerspace);
        run.args(line.split_whitespace()).current_dir(place.path()).stdout(Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = lines.map(run).collect();
    assert!(running.into_iter().all(|mut run| run.wait().unwrap().success()));
}

#[test]
fn every_one_of_twenty_sets_at_once_is_kept_and_every_delete() {
    let place = Place::new();
    run_at_once(&place, (0..20).map(|n| format!("set s k{n} {n} --no-sync")));
    assert_eq!(place.run("info s --json").object()["entries"], 20);
    run_at_once(&place, (0..19).map(|n| format!("delete s k{n} --no-sync")));
    assert_eq!(place.run("scan s").text(), "k19\t19\n");
}

#[test]
fn every_one_of_ten_merging_loads_at_once_is_kept() {
    let place = Place::new();
    for file in 0..10 {
        let rows: Vec<_> = (0..50).map(|row| format!("{file}.{row}\tx\n")).collect();
        place.write(&format!("{file}.tsv"), rows.concat());
    }
    run_at_once(&place, (0..10).map(|file| format!("load s {file}.tsv --no-sync")));
    assert_eq!(place.run("info s --json").object()["entries"], 500);
}

#[test]
fn a_turn_that_does_not_come_is_told() {
    let place = Place::new();
    place.run("set s a 1").ends(0);
    let _writer = hammerspace::Space::open(place.path().join("s")).unwrap().updater().unwrap();
    let error = place.run("set s a 2 --timeout 0 --json").ends(4).object()["error"].clone();
    assert_eq!(error["kind"], "Busy");
    assert!(error["message"].as_str().unwrap().contains(&format!("process {}", std::process::id())), "{error}");
    place.write("a.tsv", "a\t3\n");
    place.run("load s a.tsv --timeout 0").ends(4);
    place.run("delete s a --timeout 0").ends(4);
    // What is not there needs no turn, nor does what takes the place of everything.
    place.run("delete s b --timeout 0").ends(1);
    place.run("load s a.tsv --timeout 0 --replace").ends(0);
    assert_eq!(place.run("get s a").text(), "3");
}

#[test]
fn a_load_that_waits_for_its_input_keeps_nobody_waiting() {
    let place = Place::new();
    let mut load = Command::new(&place.hammerspace);
    let load = load.args(["load", "s", "-", "--format", "tsv"]).current_dir(place.path());
    let mut load = load.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    load.stdin.as_mut().unwrap().write_all(b"a\t1\n").unwrap();
    place.run("set s b 2 --timeout 0").ends(0);
    load.stdin.as_mut().unwrap().write_all(b"c\t3\n").unwrap();
    drop(load.stdin.take());
    assert!(load.wait().unwrap().success());
    assert_eq!(place.run("scan s").text(), "b\t2\na\t1\nc\t3\n");
}

#[test]
fn a_load_of_nothing_publishes_nothing() {
    let place = Place::new();
    place.write("none.tsv", "");
    place.write("a.tsv", "a\t1\n");
    assert_eq!(place.run("load s none.tsv").ends(0).text(), "none.tsv: 0 pairs\npublished nothing\n");
    place.run("load s a.tsv").ends(0);
    assert_eq!(place.run("load s none.tsv --json").ends(0).object()["version"], 1);
}

#[test]
fn on_a_terminal_a_verb_says_that_it_waits() {
    let place = Place::new();
    place.run("set s a 1").ends(0);
    let _writer = hammerspace::Space::open(place.path().join("s")).unwrap().updater().unwrap();
    let set = format!("{} set s a 2 --timeout 1", place.hammerspace.display());
    let told = place.feed(Path::new("script"), &["-qfec", &set, "/dev/null"], b"").ends(4);
    assert!(told.text().contains("wait for other updates"), "{told:?}");
    assert!(!place.run("set s a 2 --timeout 1").ends(4).stderr.contains("wait for"), "no terminal is there");
}
