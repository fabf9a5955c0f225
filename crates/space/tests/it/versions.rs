//! Keeping versions, and going back to one.

use hammerspace_space::Kind;

use crate::support::{names, publish, quick, version_dirs};

#[test]
fn keep_counts_the_current_version() {
    for keep in 1..4 {
        let scratch = tempfile::tempdir().unwrap();
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
    let scratch = tempfile::tempdir().unwrap();
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
    let scratch = tempfile::tempdir().unwrap();
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
    let scratch = tempfile::tempdir().unwrap();
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
