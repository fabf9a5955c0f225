//! Sharing a directory with processes of the original gem: their habits, in their order.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hammerspace_sparkey::{IndexOptions, Log, LogOptions, LogWriter, build_index};

use crate::support::{names, publish, quick, scratch, seen, version_dirs};

/// A directory as the gem leaves it: no page in the lock file, no stamp, nothing synced, and what it replaced is deleted by
/// name, without the lock.
pub(crate) fn publish_like_the_gem(path: &Path, pairs: &[(&str, &str)]) -> String {
    let uid = format!("{}_{}", std::process::id(), uuid::Uuid::new_v4());
    write_like_the_gem(&path.join(&uid), pairs);
    let in_the_making = path.join(format!("{uid}.tmp"));
    std::os::unix::fs::symlink(&uid, &in_the_making).unwrap();
    let lock = fs::File::options().append(true).create(true).open(path.join("hammerspace.lock")).unwrap();
    lock.lock().unwrap();
    let old = fs::read_link(path.join("current"));
    fs::rename(in_the_making, path.join("current")).unwrap();
    drop(lock);
    if let Ok(old) = old {
        remove_like_the_gem(&path.join(old));
    }
    uid
}

/// As Ruby's `rm_rf`: file by file, each by its whole path. Somebody else may be at it, too.
fn remove_like_the_gem(version: &Path) {
    for entry in fs::read_dir(version).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_dir(version);
}

fn write_like_the_gem(version: &Path, pairs: &[(&str, &str)]) {
    let mut log = LogWriter::create(Cursor::new(Vec::new()), &LogOptions::default()).unwrap();
    for (key, value) in pairs {
        log.put(key.as_bytes(), value.as_bytes()).unwrap();
    }
    let log = log.finish().unwrap().0.into_inner();
    fs::create_dir(version).unwrap();
    let index = build_index(&Log::open(&log).unwrap(), &IndexOptions::default()).unwrap();
    fs::write(version.join("hammerspace.spl"), log).unwrap();
    fs::write(version.join("hammerspace.spi"), index).unwrap();
}

/// An orphan of a process that is long dead, `age` old.
fn orphan(space: &Path, pid: u32, age: Duration) -> PathBuf {
    let path = space.join(format!("{pid}_{}", uuid::Uuid::new_v4()));
    write_like_the_gem(&path, &[("orphan", "orphan")]);
    for file in ["hammerspace.spl", "."] {
        fs::File::open(path.join(file)).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }
    path
}

const DEAD_PID: u32 = 0x3fff_fffe;
const HOURS: Duration = Duration::from_hours(2);

#[test]
fn we_read_and_update_what_the_gem_wrote_and_it_ours() {
    let scratch = scratch();
    let path = scratch.path();
    publish_like_the_gem(path, &[("a", "gem"), ("b", "gem")]);
    let space = quick().open(path).unwrap();
    assert_eq!((space.len(), space.snapshot().number()), (2, None));

    let mut writer = space.writer().unwrap();
    writer.put("b", "ours").unwrap();
    writer.publish().unwrap();
    assert_eq!(seen(path)[&b"b"[..]], b"ours");
    assert_eq!(version_dirs(path).len(), 1, "the gem's version is gone, as if the gem had replaced it");

    publish_like_the_gem(path, &[("a", "gem again")]);
    assert_eq!(seen(path)[&b"a"[..]], b"gem again");
    assert_eq!(names(path).len(), 3, "current, lock, one version: {:?}", names(path));
    assert_eq!(fs::metadata(path.join("hammerspace.lock")).unwrap().len(), 4096, "never shrunk");
    assert_eq!(publish(&space, &[("a", "ours")]), 4, "their version got the number 3 when we replaced it");
}

#[test]
fn a_version_of_the_gem_can_be_kept_and_gone_back_to() {
    let scratch = scratch();
    let path = scratch.path();
    publish_like_the_gem(path, &[("by", "gem")]);
    let space = quick().keep(2).open(path).unwrap();
    assert_eq!(publish(&space, &[("by", "us")]), 2);
    assert_eq!(space.rollback(None).unwrap(), 1);
    assert_eq!(seen(path)[&b"by"[..]], b"gem");
    space.clear().unwrap();
    assert_eq!(names(path), ["hammerspace.lock"]);
}

#[test]
fn orphans_of_the_gem_go_when_their_process_is_dead_and_an_hour_has_passed() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let young = orphan(scratch.path(), DEAD_PID, Duration::from_mins(1));
    let alive = orphan(scratch.path(), std::process::id(), HOURS);
    let slow = orphan(scratch.path(), DEAD_PID, HOURS);
    fs::File::open(slow.join("hammerspace.spl")).unwrap().set_modified(SystemTime::now()).unwrap();
    let dead = orphan(scratch.path(), DEAD_PID, HOURS);
    std::os::unix::fs::symlink(dead.file_name().unwrap(), dead.with_extension("tmp")).unwrap();
    let stranger = scratch.path().join("4711_backup");
    fs::create_dir(&stranger).unwrap();

    publish(&space, &[("a", "1")]);
    assert!(young.exists() && alive.exists() && slow.exists() && stranger.exists());
    assert!(!dead.exists());
    assert!(fs::symlink_metadata(dead.with_extension("tmp")).is_err());
}

#[test]
fn writers_of_both_kinds_and_rollbacks_leave_readers_whole_versions_and_no_orphans() {
    const ROUNDS: usize = 150;
    let scratch = scratch();
    let path = scratch.path();
    publish(&quick().create(path).unwrap(), &[("a", "start"), ("b", "start")]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = || {
            let space = quick().poll(Duration::ZERO).open(path).unwrap();
            while !done.load(Ordering::Relaxed) {
                space.refresh().unwrap();
                let snapshot = space.snapshot();
                assert!(snapshot.get("a").unwrap().is_some(), "never empty");
                assert_eq!(snapshot.get("a").unwrap(), snapshot.get("b").unwrap(), "never a mix");
            }
        };
        let gem = |name: &'static str| {
            move || (0..ROUNDS).for_each(|_| drop(publish_like_the_gem(path, &[("a", name), ("b", name)])))
        };
        let ours = || {
            let space = quick().keep(2).open(path).unwrap();
            for round in 0..ROUNDS {
                let value = round.to_string();
                publish(&space, &[("a", &value), ("b", &value)]);
                // There may be nothing to go back to: the gem deletes what it replaces.
                drop(space.rollback(None));
            }
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        let writers = [scope.spawn(ours), scope.spawn(ours), scope.spawn(gem("x")), scope.spawn(gem("y"))];
        let outcomes = writers.map(std::thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        outcomes
            .into_iter()
            .chain(readers.map(std::thread::ScopedJoinHandle::join))
            .for_each(|outcome| outcome.unwrap());
    });
    publish(&quick().open(path).unwrap(), &[("a", "end"), ("b", "end")]);
    assert_eq!(names(path).len(), 3, "current, lock, one version: {:?}", names(path));
}
