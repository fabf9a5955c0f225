//! When does a reader see a new version, and what does it keep until then?

use std::time::{Duration, Instant};

use crate::support::{contents, publish, quick, seen};

#[test]
fn a_reader_keeps_its_version_until_it_refreshes() {
    let scratch = tempfile::tempdir().unwrap();
    let writer = quick().create(scratch.path()).unwrap();
    publish(&writer, &[("color", "red")]);
    let reader = quick().open(scratch.path()).unwrap();
    publish(&writer, &[("color", "blue")]);

    assert_eq!(reader.get("color").unwrap().unwrap(), b"red");
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.get("color").unwrap().unwrap(), b"blue");
    assert!(!reader.refresh().unwrap(), "nothing changed since");
    assert_eq!(reader.snapshot().number(), Some(2));
}

#[test]
fn values_and_snapshots_outlive_their_version() {
    let scratch = tempfile::tempdir().unwrap();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("color", "red")]);
    space.refresh().unwrap();
    let value = space.get("color").unwrap().unwrap();
    let snapshot = space.snapshot();
    for round in 0..5 {
        publish(&space, &[("color", &round.to_string())]);
        assert!(space.refresh().unwrap());
    }
    space.clear().unwrap();
    space.refresh().unwrap();
    assert!(space.is_empty());
    assert_eq!(value, b"red");
    assert_eq!(contents(&snapshot).unwrap().into_values().collect::<Vec<_>>(), [b"red"]);
    drop(space);
    assert_eq!(value, b"red");
}

#[test]
fn a_publication_that_nobody_announces_is_seen_by_looking() {
    let scratch = tempfile::tempdir().unwrap();
    let writer = quick().create(scratch.path()).unwrap();
    publish(&writer, &[("color", "red")]);
    let reader = quick().poll(Duration::from_millis(20)).open(scratch.path()).unwrap();
    let never = quick().poll(Duration::MAX).open(scratch.path()).unwrap();

    crate::gem::publish_like_the_gem(scratch.path(), &[("color", "blue")]);
    let start = Instant::now();
    while !reader.refresh().unwrap() {
        assert!(start.elapsed() < Duration::from_secs(5), "polling finds it");
        std::thread::yield_now();
    }
    assert_eq!(reader.get("color").unwrap().unwrap(), b"blue");
    assert!(!never.refresh().unwrap());
    assert_eq!(seen(scratch.path()).len(), 1);
}

#[test]
fn a_reader_that_came_before_the_lock_page_sees_publications_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    crate::gem::publish_like_the_gem(scratch.path(), &[("color", "red")]);
    let reader = quick().poll(Duration::ZERO).open(scratch.path()).unwrap();
    let writer = quick().open(scratch.path()).unwrap();
    publish(&writer, &[("color", "blue")]);
    assert!(reader.refresh().unwrap());
    publish(&writer, &[("color", "green")]);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.get("color").unwrap().unwrap(), b"green");
}
