//! Another directory comes to where a handle was opened. Who reads, and who writes to it?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hammerspace_space::{Kind, Space};

use crate::support::{names, publish, quick, scratch, seen};

/// A space with one color in it, as another process would make it.
fn paint(path: impl AsRef<Path>, color: &str) -> Space {
    let space = quick().create(path).unwrap();
    publish(&space, &[("color", color)]);
    space
}

fn color(space: &Space) -> String {
    String::from_utf8(space.get("color").unwrap().unwrap().to_vec()).unwrap()
}

/// Has the path lead to a new directory with this color; and that of before, where it is still there.
type Replace = fn(&Path, &str) -> Option<PathBuf>;

const WAYS: [(&str, Replace); 3] = [
    ("removed and made anew", |path, color| {
        fs::remove_dir_all(path).unwrap();
        paint(path, color);
        None
    }),
    ("moved", |path, color| {
        let (old, new) = (path.with_extension("old"), path.with_extension("new"));
        paint(&new, color);
        fs::rename(path, &old).unwrap();
        fs::rename(new, path).unwrap();
        Some(old)
    }),
    ("replaced by a link", |path, color| {
        let (old, new) = (path.with_extension("old"), path.with_extension("new"));
        paint(&new, color);
        fs::rename(path, &old).unwrap();
        symlink(new, path).unwrap();
        Some(old)
    }),
];

#[test]
fn refresh_moves_on_to_the_directory_that_the_path_leads_to() {
    for (way, replace) in WAYS {
        let scratch = scratch();
        let path = scratch.path().join("space");
        paint(&path, "red");
        let reader = quick().poll(Duration::from_millis(20)).open(&path).unwrap();
        let never = quick().poll(Duration::MAX).open(&path).unwrap();
        replace(&path, "blue");

        let start = Instant::now();
        while !reader.refresh().unwrap() {
            assert!(start.elapsed() < Duration::from_secs(5), "{way}: looking finds it");
            assert_eq!(color(&reader), "red", "{way}: one version until then");
        }
        assert_eq!((color(&reader).as_str(), reader.path()), ("blue", path.as_path()), "{way}");
        assert!(!reader.refresh().unwrap(), "{way}: nothing changed since");
        assert!(!never.refresh().unwrap(), "{way}");
    }
}

#[test]
fn what_is_published_where_a_handle_moved_to_is_announced_to_it() {
    for (way, replace) in WAYS {
        let scratch = scratch();
        let path = scratch.path().join("space");
        let stale = paint(&path, "red");
        // It looks at nothing by itself: what brings it there is that it writes.
        let handle = quick().poll(Duration::MAX).open(&path).unwrap();
        replace(&path, "blue");
        let writer = handle.writer().unwrap();
        assert!(handle.refresh().unwrap(), "{way}");
        assert_eq!(color(&handle), "blue", "{way}");

        assert!(!handle.may_be_behind() && !handle.refresh().unwrap(), "{way}: quiet");
        writer.publish().unwrap();
        assert!(handle.refresh().unwrap() && !handle.may_be_behind(), "{way}: announced");
        paint(&path, "green");
        assert!(handle.refresh().unwrap() && !handle.may_be_behind(), "{way}: announced again");
        assert_eq!((color(&handle), handle.versions().unwrap().len()), ("green".into(), 1), "{way}");
        assert!(handle.go_to(handle.snapshot().number().unwrap()).unwrap() && handle.may_be_behind(), "{way}");
        assert!(!handle.refresh().unwrap() && !handle.may_be_behind(), "{way}: it was there before");
        drop(stale);
    }
}

type Change = fn(&Space);

#[test]
fn nothing_is_written_to_a_directory_that_is_not_at_its_path() {
    let changes: [(&str, Change); 4] = [
        ("update", |space| {
            let mut writer = space.writer().unwrap();
            writer.put("more", "").unwrap();
            writer.publish().unwrap();
        }),
        ("replace", |space| assert_ne!(publish(space, &[("color", "green")]), 0)),
        ("rollback", |space| assert_eq!(space.rollback(None).unwrap_err().kind(), Kind::Missing)),
        ("clear", |space| space.clear().unwrap()),
    ];
    for (way, replace) in WAYS {
        for (name, change) in changes {
            let context = format!("{name} after it was {way}");
            let scratch = scratch();
            let path = scratch.path().join("space");
            paint(&path, "red");
            let handle = quick().keep(2).open(&path).unwrap();
            publish(&handle, &[("color", "orange")]);
            let old = replace(&path, "blue");
            let before = old.as_ref().map(|old| (names(old), seen(old)));
            change(&handle);
            handle.refresh().unwrap();
            assert_eq!(crate::support::contents(&handle.snapshot()).unwrap(), seen(&path), "{context}");
            assert_ne!(seen(&path).get(&b"color"[..]).map(Vec::as_slice), Some(&b"orange"[..]), "{context}");
            assert_eq!(old.as_ref().map(|old| (names(old), seen(old))), before, "{context}");
        }
    }
}

#[test]
fn what_was_read_stays_until_there_is_a_version_where_the_path_leads() {
    let scratch = scratch();
    let path = scratch.path().join("space");
    paint(&path, "red");
    let reader = quick().poll(Duration::ZERO).open(&path).unwrap();
    let value = reader.get("color").unwrap().unwrap();
    fs::remove_dir_all(&path).unwrap();
    assert!(!reader.refresh().unwrap(), "there is nothing");
    assert_eq!(color(&reader), "red");
    fs::create_dir(&path).unwrap();
    assert!(!reader.refresh().unwrap(), "there is no version");
    let writer = reader.writer().unwrap();
    assert!(!reader.refresh().unwrap(), "it is private");
    assert_eq!(color(&reader), "red");
    writer.publish().unwrap();
    assert!(reader.refresh().unwrap());
    assert!(reader.is_empty());
    assert_eq!(value, b"red");
}

#[test]
fn a_directory_that_is_cleared_after_it_came_reads_as_empty() {
    let scratch = scratch();
    let path = scratch.path().join("space");
    paint(&path, "red");
    let handle = quick().poll(Duration::MAX).open(&path).unwrap();
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    handle.clear().unwrap();
    assert_eq!(color(&handle), "red", "until it refreshes");
    assert!(handle.refresh().unwrap() && handle.is_empty());
}

#[test]
fn where_there_is_nothing_writers_do_as_was_done_to_open() {
    let scratch = scratch();
    let path = scratch.path().join("space");
    let made = paint(&path, "red");
    let opened = quick().open(&path).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let error = opened.writer().unwrap_err();
    assert_eq!((error.kind(), error.path()), (Kind::Missing, Some(path.as_path())));
    assert!(error.advice().is_some_and(|advice| advice.starts_with("create the space first")));
    publish(&made, &[("color", "blue")]);
    assert!(opened.refresh().unwrap() && made.refresh().unwrap());
    assert_eq!((color(&opened), color(&made)), ("blue".into(), "blue".into()));
}

#[test]
fn what_is_wrong_where_the_path_leads_is_said_and_what_was_read_stays() {
    let scratch = scratch();
    let path = scratch.path().join("space");
    let stale = paint(&path, "red");
    let reader = quick().poll(Duration::ZERO).open(&path).unwrap();
    fs::rename(&path, path.with_extension("old")).unwrap();
    paint(&path, "blue");
    fs::write(path.join("current/hammerspace.spl"), "no log").unwrap();
    for _ in 0..2 {
        assert_eq!(reader.refresh().unwrap_err().kind(), Kind::Corrupt);
    }
    assert_eq!(color(&reader), "red");
    publish(&stale, &[("color", "green")]);
    assert!(reader.refresh().unwrap());
    assert_eq!(color(&reader), "green", "it was mended by who had it open before");
}

/// Whoever refreshes late must not take the handle back to watch the page of the directory that all have left.
#[test]
fn threads_that_share_a_handle_move_together() {
    let scratch = scratch();
    let path = scratch.path().join("space");
    let (link, done) = (scratch.path().join("link"), AtomicBool::new(false));
    paint(scratch.path().join("0"), "0");
    symlink("0", &path).unwrap();
    let handle = quick().poll(Duration::ZERO).open(&path).unwrap();
    std::thread::scope(|scope| {
        let reader = || {
            let mut latest = 0;
            while !done.load(Ordering::Relaxed) {
                handle.refresh().unwrap();
                let now = color(&handle).parse::<u32>().unwrap();
                assert!(now >= latest, "{now} after {latest}");
                latest = now;
            }
        };
        let readers = [scope.spawn(reader), scope.spawn(reader), scope.spawn(reader)];
        for n in 1..=100 {
            paint(scratch.path().join(n.to_string()), &n.to_string());
            symlink(n.to_string(), &link).unwrap();
            fs::rename(&link, &path).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    handle.refresh().unwrap();
    assert_eq!(color(&handle), "100");
}
