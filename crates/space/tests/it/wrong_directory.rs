//! A directory that is no space is told from one that is empty.

use std::fs;
use std::path::Path;

use hammerspace_space::{Kind, Space};

use crate::support::{publish, quick, scratch, seen};

#[test]
fn a_directory_of_other_things_is_not_an_empty_space() {
    let scratch = scratch();
    fs::write(scratch.path().join("passwd"), "root").unwrap();
    let error = Space::open(scratch.path()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (Kind::Invalid, Some(scratch.path())));
    assert!(error.finding().contains("passwd"), "{error}");
    // A space may be made beside what is there already, and is one from then on.
    quick().create(scratch.path()).unwrap();
    assert!(seen(scratch.path()).is_empty());
}

#[test]
fn an_empty_directory_and_a_cleared_space_are_empty_spaces() {
    let scratch = scratch();
    assert!(seen(scratch.path()).is_empty());
    let space = quick().create(scratch.path()).unwrap();
    fs::write(scratch.path().join("README"), "beside it").unwrap();
    publish(&space, &[("color", "red")]);
    space.clear().unwrap();
    assert!(seen(scratch.path()).is_empty());
}

#[test]
fn a_space_is_not_made_in_a_stores_directory_and_a_handle_does_not_move_to_one() {
    let scratch = scratch();
    let (space, store) = (scratch.path().join("space"), scratch.path().join("store"));
    fs::create_dir(&store).unwrap();
    fs::write(store.join("store.toml"), "").unwrap();
    for refused in [Space::create(&store), Space::open(&store)] {
        let error = refused.unwrap_err();
        assert!(error.kind() == Kind::Invalid && error.finding().contains("a store"), "{error}");
    }
    assert_eq!(fs::read_dir(&store).unwrap().count(), 1, "nothing was made there");

    let handle = quick().create(&space).unwrap();
    fs::remove_dir_all(&space).unwrap();
    fs::rename(&store, &space).unwrap();
    assert_eq!(handle.writer().unwrap_err().kind(), Kind::Invalid);
    assert_eq!(fs::read_dir(&space).unwrap().count(), 1, "nothing was made there");
}

/// As `cp -rL` makes it.
fn copy_following_links(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = (entry.as_ref().unwrap().path(), entry.as_ref().unwrap().file_name());
        if entry.is_dir() {
            copy_following_links(&entry, &to.join(name));
        } else {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}

#[test]
fn of_a_copy_whose_current_became_a_directory_the_error_says_so() {
    let scratch = scratch();
    let (original, copy) = (scratch.path().join("original"), scratch.path().join("copy"));
    let space = quick().create(&original).unwrap();
    publish(&space, &[("color", "red")]);
    copy_following_links(&original, &copy);
    fs::remove_file(copy.join("hammerspace.lock")).unwrap();
    for refused in [Space::open(&copy), Space::create(&copy)] {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.path()), (Kind::Corrupt, Some(&*copy.join("current"))), "{error}");
        assert!(error.advice().unwrap().contains("cp -a"), "{error}");
    }
}
