//! A forked child never publishes, damages or deletes what its parent has pending.

use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hammerspace_os::process::fork::fork;
use hammerspace_os::trace::{Op, watch};
use hammerspace_space::{Kind, Space};

use crate::support::{contents, in_time, publish, quick, scratch, seen, version_dirs};

/// More than any buffer of ours, so that some of it was written before the fork and some was not.
const PAIRS: u32 = 60_000;

#[test]
fn a_child_that_exits_normally_leaves_its_parents_writes_alone() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    let put = |writer: &mut hammerspace_space::Writer, n: u32| writer.put(format!("key {n}"), format!("{n:0100}"));
    for n in 0..PAIRS / 2 {
        put(&mut writer, n).unwrap();
    }
    let mut pending = Some(writer);
    let child = fork(|| {
        drop(pending.take());
        0
    });
    assert_eq!(child.wait(), Some(0));
    let mut writer = pending.expect("the child took its own copy");
    for n in PAIRS / 2..PAIRS {
        put(&mut writer, n).unwrap();
    }
    writer.publish().unwrap();
    assert_eq!(seen(scratch.path()).len(), PAIRS as usize);
}

/// What the tests here would miss, they would miss for every child: this one does harm by hand.
#[test]
fn canary_a_child_that_writes_to_its_parents_log_is_noticed() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    for n in 0..PAIRS {
        writer.put(format!("key {n}"), format!("{n:0100}")).unwrap();
    }
    let pending = version_dirs(scratch.path()).remove(0);
    let child = fork(|| {
        let log = std::fs::File::options().write(true).open(scratch.path().join(pending).join("hammerspace.spl"));
        i32::from(log.and_then(|log| log.write_all_at(&[0xff; 100], 1 << 20)).is_err())
    });
    assert_eq!(child.wait(), Some(0));
    let whole = writer.publish().is_ok()
        && Space::open(scratch.path())
            .is_ok_and(|space| contents(&space.snapshot()).is_ok_and(|twin| twin.len() == PAIRS as usize));
    assert!(!whole, "a hundred bytes of the log were overwritten");
}

#[test]
fn a_child_that_publishes_or_writes_is_refused_and_does_no_harm() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    writer.put("whose", "parent's").unwrap();
    let mut pending = Some(writer);
    let child = fork(|| {
        let mut writer = pending.take().unwrap();
        let filled = (0..PAIRS).try_for_each(|n| writer.put(format!("child {n}"), [0; 100]));
        let refused = filled.unwrap_err().kind() == Kind::Invalid;
        i32::from(!(refused && writer.publish().unwrap_err().kind() == Kind::Invalid))
    });
    assert_eq!(child.wait(), Some(0));
    pending.unwrap().publish().unwrap();
    assert_eq!(seen(scratch.path()).into_values().collect::<Vec<_>>(), [b"parent's"]);
}

#[test]
fn a_child_reads_refreshes_and_publishes_on_its_own() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("by", "parent")]);
    space.refresh().unwrap();
    let child = fork(|| {
        assert_eq!(space.get("by").unwrap().unwrap(), b"parent");
        publish(&space, &[("by", "child")]);
        i32::from(!space.refresh().unwrap())
    });
    assert_eq!(child.wait(), Some(0));
    assert!(space.refresh().unwrap());
    assert_eq!(space.get("by").unwrap().unwrap(), b"child");
}

#[test]
fn a_version_is_kept_track_of_though_a_child_is_forked_while_it_is_written() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let writer = space.writer().unwrap();
    let child = fork(|| {
        std::thread::sleep(Duration::from_mins(10));
        0
    });
    assert_eq!(writer.publish().unwrap(), 1);
    assert_eq!(publish(&space, &[("a", "2")]), 2);
    assert_eq!(crate::support::version_dirs(scratch.path()).len(), 1);
    child.kill();
}

/// Its lock would say that somebody is at work on the version, for as long as the worker lives.
#[test]
fn what_a_killed_writer_left_is_swept_though_a_worker_of_its_lives_on() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let is_forked = scratch.path().join("forked");
    let wait_while = |is_so: &dyn Fn() -> bool| {
        while is_so() {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let owner = fork(|| {
        let _pending = space.writer().unwrap();
        let _worker = fork(|| {
            std::fs::write(&is_forked, "").unwrap();
            wait_while(&|| is_forked.exists());
            0
        });
        wait_while(&|| true);
        0
    });
    wait_while(&|| !is_forked.exists());
    let left = version_dirs(scratch.path());
    owner.kill();
    publish(&space, &[("a", "1")]);
    let dirs = version_dirs(scratch.path());
    std::fs::remove_file(&is_forked).unwrap();
    assert!(left.len() == 1 && dirs.len() == 1 && left != dirs, "{left:?}, then {dirs:?}");
}

/// A server forks its workers on one thread while another publishes: each worker inherits the lock.
#[test]
fn a_child_forked_in_the_middle_of_a_publication_keeps_nobody_out() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let children = Arc::new(Mutex::new(Vec::new()));
    let born = Arc::clone(&children);
    let fork_in_between = move |op: &Op| {
        if matches!(op, Op::Rename(_, to) if to.ends_with("current")) {
            born.lock().unwrap().push(fork(|| {
                std::thread::sleep(Duration::from_mins(10));
                0
            }));
        }
        Ok(())
    };
    watch(fork_in_between, || publish(&space, &[("a", "1")]));
    assert_eq!(children.lock().unwrap().len(), 1);
    assert_eq!(in_time(move || publish(&space, &[("a", "2")])), 2);
}
