//! Keeping versions, and going back to one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hammerspace_os::process::fork::fork;
use hammerspace_space::Kind;

use crate::support::{names, publish, quick, scratch, seen, version_dirs};

#[test]
fn keep_counts_the_current_version() {
    for keep in 1..4 {
        let scratch = scratch();
        let space = quick().keep(keep).create(scratch.path()).unwrap();
        for round in 1..6_u64 {
            assert_eq!(publish(&space, &[("round", &round.to_string())]), round);
            assert_eq!(version_dirs(scratch.path()).len(), keep.min(round as usize));
        }
        let numbers: Vec<u64> = space.versions().unwrap().iter().filter_map(|version| version.number).collect();
        assert_eq!(numbers, (6 - keep as u64..6).rev().collect::<Vec<_>>());
        assert!(space.versions().unwrap()[0].is_current);
    }
}

#[test]
fn rollback_goes_back_one_by_one_and_forth_again() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    for round in ["one", "two", "three"] {
        publish(&space, &[("round", round)]);
    }
    let round = || {
        space.refresh().unwrap();
        String::from_utf8(space.get("round").unwrap().unwrap().to_vec()).unwrap()
    };
    assert_eq!((space.rollback(None).unwrap(), round()), (2, "two".into()));
    assert_eq!((space.rollback(None).unwrap(), round()), (1, "one".into()));
    assert_eq!(space.rollback(None).unwrap_err().kind(), Kind::Missing);
    assert_eq!((space.rollback(Some(3)).unwrap(), round()), (3, "three".into()));
    assert_eq!(space.rollback(Some(9)).unwrap_err().kind(), Kind::Missing);
}

#[test]
fn what_was_rolled_back_from_goes_with_the_next_publication() {
    let scratch = scratch();
    let space = quick().keep(2).create(scratch.path()).unwrap();
    publish(&space, &[("round", "good")]);
    publish(&space, &[("round", "bad")]);
    space.rollback(None).unwrap();
    assert_eq!(version_dirs(scratch.path()).len(), 2, "it can still be taken back");

    let number = publish(&space, &[("round", "better")]);
    assert!(number > 2, "numbers rise, whatever happened in between");
    let kept: Vec<Option<u64>> = space.versions().unwrap().iter().map(|version| version.number).collect();
    assert_eq!(kept, [Some(number), Some(1)], "the good one is kept, not the bad one");
}

#[test]
fn clear_drops_every_version_but_not_what_writers_have_pending() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    let pending = space.replace().unwrap();
    space.clear().unwrap();
    assert_eq!(version_dirs(scratch.path()).len(), 1, "the pending one");
    assert!(pending.publish().unwrap() > 2);
    space.clear().unwrap();
    assert_eq!(names(scratch.path()), ["hammerspace.lock"]);
    space.clear().unwrap();
}

/// The gem deletes what it replaced without the lock, at any time later.
#[test]
fn a_version_that_was_gone_back_to_is_safe_from_whoever_replaced_it_before() {
    let scratch = scratch();
    let space = quick().keep(2).create(scratch.path()).unwrap();
    publish(&space, &[("round", "one")]);
    let replaced = fs::read_link(scratch.path().join("current")).unwrap();
    publish(&space, &[("round", "two")]);
    assert_eq!(space.rollback(None).unwrap(), 1);
    let _ = fs::remove_dir_all(scratch.path().join(replaced));
    assert_eq!(seen(scratch.path())[&b"round"[..]], b"one");
}

#[test]
fn numbers_rise_for_a_writer_that_may_not_write_the_lock_file() {
    let scratch = scratch();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    space.clear().unwrap();
    fs::set_permissions(scratch.path().join("hammerspace.lock"), fs::Permissions::from_mode(0o444)).unwrap();
    let code = crate::damage::as_nobody(|| {
        let space = quick().open(scratch.path()).unwrap();
        i32::from(publish(&space, &[("a", "3")]) <= 3)
    });
    assert_eq!(code, Some(0), "2 was published, and 3 announced that the space was cleared");
}

/// As a `clear` that was killed half-way leaves it, or one of the gem.
#[test]
fn what_is_left_of_a_cleared_space_does_not_become_history() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    fs::remove_file(scratch.path().join("current")).unwrap();
    publish(&space, &[("a", "3")]);
    assert_eq!(version_dirs(scratch.path()).len(), 1);
    assert_eq!(space.rollback(None).unwrap_err().kind(), Kind::Missing);
}

#[test]
fn the_newest_comes_first_though_the_gem_gave_it_no_number() {
    let scratch = scratch();
    let space = quick().keep(2).create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    crate::gem::publish_like_the_gem(scratch.path(), &[("a", "3")]);
    assert_eq!(space.versions().unwrap().iter().map(|v| v.number).collect::<Vec<_>>(), [None, Some(1)]);
}

#[test]
fn the_stamp_of_a_version_of_the_gem_has_the_mode_of_every_stamp() {
    let scratch = scratch();
    crate::gem::publish_like_the_gem(scratch.path(), &[("a", "1")]);
    let child = fork(|| {
        rustix::process::umask(rustix::fs::Mode::empty());
        let space = quick().keep(2).open(scratch.path()).unwrap();
        publish(&space, &[("a", "2")]);
        0
    });
    assert_eq!(child.wait(), Some(0));
    let modes = version_dirs(scratch.path()).into_iter().map(|uid| {
        fs::metadata(scratch.path().join(uid).join("hammerspace.version")).unwrap().permissions().mode() & 0o022
    });
    assert!(modes.eq([0, 0]), "nobody else writes to them, whatever the umask");
}

#[test]
fn a_version_that_the_gem_half_deleted_is_not_gone_back_to_and_does_not_stay() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    for round in ["one", "two", "three"] {
        publish(&space, &[("round", round)]);
    }
    let two = space.versions().unwrap()[1].uid.clone();
    std::fs::remove_file(scratch.path().join(two).join("hammerspace.spl")).unwrap();
    assert_eq!(space.rollback(None).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(space.rollback(None).unwrap(), 1, "the next one");
    publish(&space, &[("round", "four")]);
    assert_eq!(version_dirs(scratch.path()).len(), 2, "four and one: {:?}", names(scratch.path()));
}

/// How often this thread has read from files.
#[cfg(target_os = "linux")]
fn reads() -> u64 {
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn publishing_does_not_read_more_for_each_version_that_is_kept() {
    let scratch = scratch();
    let space = quick().keep(usize::MAX).create(scratch.path()).unwrap();
    let reads_of_one = || {
        let before = reads();
        publish(&space, &[("color", "red")]);
        reads() - before
    };
    reads_of_one();
    let few = reads_of_one();
    for _ in 0..100 {
        reads_of_one();
    }
    let many = reads_of_one();
    assert_eq!(space.versions().unwrap().len(), 103);
    assert!(many <= few + 3, "{few} with 2 versions, {many} with 103");

    // What has another name by now is looked at once more.
    space.rollback(Some(50)).unwrap();
    let reads_of_two = [reads_of_one(), reads_of_one()];
    assert!(reads_of_two[1] <= few + 3, "{reads_of_two:?}");
    assert_eq!(space.versions().unwrap().len(), 52, "those rolled back from are gone");
}

/// A stamp whose list is cut off, torn or a lie names nothing that is not there.
#[test]
fn a_damaged_list_on_a_stamp_harms_nothing() {
    let scratch = scratch();
    let space = quick().keep(3).create(scratch.path()).unwrap();
    for _ in 0..3 {
        publish(&space, &[("color", "red")]);
    }
    let stamp = scratch.path().join("current/hammerspace.version");
    let whole = std::fs::read(&stamp).unwrap();
    assert!(whole.len() > 24);
    for (at, byte) in [(24, 0), (26, b'x'), (30, b'\n'), (40, 0xff)] {
        let mut torn = std::fs::read(&stamp).unwrap();
        torn[at] = byte;
        torn.truncate(torn.len() - 1);
        std::fs::write(&stamp, &torn).unwrap();
        publish(&space, &[("color", "blue")]);
        assert_eq!(space.versions().unwrap().len(), 3);
    }
}

#[test]
fn a_collection_removes_what_a_publication_would() {
    let scratch = scratch();
    let space = quick().keep(5).create(scratch.path()).unwrap();
    for _ in 0..5 {
        publish(&space, &[("color", "red")]);
    }
    let killed = hammerspace_os::process::fork::fork(|| {
        let writer = space.writer().unwrap();
        std::mem::forget(writer);
        0
    });
    killed.wait();
    let at_work = space.writer().unwrap();
    assert_eq!(version_dirs(scratch.path()).len(), 7);
    assert_eq!(space.gc().unwrap().directories, 1);

    let three = quick().keep(3).open(scratch.path()).unwrap();
    let collected = three.gc().unwrap();
    assert!(collected.directories == 2 && collected.bytes > 0, "{collected:?}");
    assert_eq!(version_dirs(scratch.path()).len(), 4, "three versions, and one at work");
    at_work.publish().unwrap();
    assert_eq!(seen(scratch.path()).len(), 1);
}
