//! When does a reader see a new version, and what does it keep until then?

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hammerspace_os::trace::{Op, watch};
use hammerspace_space::{Options, Space};

use crate::support::{contents, in_time, publish, quick, scratch, seen};

#[test]
fn a_reader_keeps_its_version_until_it_refreshes() {
    let scratch = scratch();
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
    let scratch = scratch();
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
    let scratch = scratch();
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
    let scratch = scratch();
    crate::gem::publish_like_the_gem(scratch.path(), &[("color", "red")]);
    let reader = quick().poll(Duration::ZERO).open(scratch.path()).unwrap();
    let writer = quick().open(scratch.path()).unwrap();
    publish(&writer, &[("color", "blue")]);
    assert!(reader.refresh().unwrap());
    publish(&writer, &[("color", "green")]);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.get("color").unwrap().unwrap(), b"green");
}

/// Whoever holds the lock, be it a process that was stopped.
#[test]
fn who_creates_what_is_there_waits_for_nobody() {
    let scratch = scratch();
    publish(&Space::create(scratch.path()).unwrap(), &[("a", "1")]);
    let lock = File::open(scratch.path().join("hammerspace.lock")).unwrap();
    lock.lock().unwrap();
    let path = scratch.path().to_path_buf();
    assert_eq!(in_time(|| Space::create(path).unwrap().len()), 1);
}

/// Nothing announces what the gem publishes, so only the order of their looks tells threads which version is newer.
#[test]
fn time_does_not_run_backwards_for_threads_that_share_a_handle() {
    let scratch = scratch();
    crate::gem::publish_like_the_gem(scratch.path(), &[("n", "0")]);
    let space = quick().poll(Duration::ZERO).open(scratch.path()).unwrap();
    let done = AtomicBool::new(false);
    let read = || -> u32 {
        space.refresh().unwrap();
        std::str::from_utf8(&space.get("n").unwrap().unwrap()).unwrap().parse().unwrap()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut latest = 0;
                while !done.load(Ordering::Relaxed) {
                    let now = read();
                    if now < latest {
                        done.store(true, Ordering::Relaxed);
                        panic!("{now} after {latest}");
                    }
                    latest = now;
                }
            });
        }
        for n in 1..=1000 {
            crate::gem::publish_like_the_gem(scratch.path(), &[("n", &n.to_string())]);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn taking_writers_does_not_put_off_the_next_look() {
    let scratch = scratch();
    let poll = Duration::from_millis(200);
    let space = quick().poll(poll).create(scratch.path()).unwrap();
    crate::gem::publish_like_the_gem(scratch.path(), &[("a", "gem")]);
    let start = Instant::now();
    while !space.refresh().unwrap() {
        assert!(start.elapsed() < 10 * poll, "polling finds it");
        drop(space.replace().unwrap());
    }
}

/// Does `work` in front of the first change that `when` picks out of a publication.
fn in_the_middle(
    when: impl Fn(&Op) -> bool + Send + 'static,
    work: impl FnOnce() + Send + 'static,
    publish: impl FnOnce(),
) {
    let mut work = Some(work);
    let watcher = move |op: &Op| {
        if when(op)
            && let Some(work) = work.take()
        {
            work();
        }
        Ok(())
    };
    watch(watcher, publish);
}

fn is_stamp(path: &std::path::Path) -> bool {
    path.ends_with("hammerspace.version")
}

#[test]
fn readers_wait_for_nobody_not_even_for_a_version_to_be_numbered() {
    let scratch = scratch();
    let path = scratch.path().to_path_buf();
    let space = quick().create(scratch.path()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let number_is_written = |op: &Op| matches!(op, Op::Write(path, 0, bytes) if is_stamp(path) && bytes[16] > 0);
    let open = move || sender.send(in_time(|| Space::open(path).unwrap().snapshot())).unwrap();
    in_the_middle(number_is_written, open, || assert_eq!(publish(&space, &[("a", "1")]), 1));
    let snapshot = receiver.recv().unwrap();
    assert_eq!((snapshot.len(), snapshot.number()), (1, Some(1)), "known as soon as it is written");
}

#[test]
fn neither_readers_nor_writers_wait_for_the_stamp_to_reach_the_disk() {
    let scratch = scratch();
    let space = Options::new().create(scratch.path()).unwrap();
    let reader = Arc::new(quick().poll(Duration::MAX).open(scratch.path()).unwrap());
    let lock = std::fs::File::open(scratch.path().join("hammerspace.lock")).unwrap();
    let meanwhile = Arc::clone(&reader);
    let (sender, receiver) = std::sync::mpsc::channel();
    in_the_middle(
        |op| matches!(op, Op::SyncFile(path) if is_stamp(path)),
        move || sender.send((meanwhile.refresh().unwrap(), lock.try_lock().is_ok())).unwrap(),
        || assert_eq!(publish(&space, &[("a", "1")]), 1),
    );
    assert_eq!(receiver.recv().unwrap(), (true, true), "refreshed; the lock is free");
}
