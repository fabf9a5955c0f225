//! What a writer that was killed leaves, and when it goes. Each state is made by hand here; `kill.rs` makes them by killing.

use std::fs;

use hammerspace_os::process::fork::fork;

use crate::support::{names, publish, quick, scratch, version_dirs};

#[test]
fn a_dead_writers_directory_goes_with_the_next_publication_and_a_living_ones_stays() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let pending = space.writer().unwrap();
    let child = fork(|| {
        let mut writer = space.writer().unwrap();
        writer.put("a", vec![0; 3 << 20]).unwrap();
        std::mem::forget(writer);
        0
    });
    assert_eq!(child.wait(), Some(0));
    assert_eq!(version_dirs(scratch.path()).len(), 2);

    publish(&space, &[("a", "1")]);
    assert_eq!(version_dirs(scratch.path()).len(), 2, "the current one and the pending one");
    pending.publish().unwrap();
    assert_eq!(version_dirs(scratch.path()).len(), 1);
}

#[test]
fn a_link_in_the_making_and_a_directory_on_its_way_out_go_too() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    let uid = "4711_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f";
    std::os::unix::fs::symlink(uid, scratch.path().join(format!("{uid}.tmp"))).unwrap();
    fs::create_dir_all(scratch.path().join(format!("dead.{uid}"))).unwrap();
    fs::write(scratch.path().join(format!("dead.{uid}/hammerspace.spl")), "half").unwrap();
    publish(&space, &[("a", "2")]);
    assert_eq!(names(scratch.path()).len(), 3, "{:?}", names(scratch.path()));
}

#[test]
fn a_current_version_without_a_number_gets_one_from_its_successor() {
    let scratch = scratch();
    let space = quick().keep(2).create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    // As if its writer had been killed between changing `current` and numbering the version.
    let current = fs::read_link(scratch.path().join("current")).unwrap();
    let stamp = scratch.path().join(current).join("hammerspace.version");
    let mut bytes = fs::read(&stamp).unwrap();
    bytes[16..].fill(0);
    fs::write(&stamp, bytes).unwrap();

    assert_eq!(quick().open(scratch.path()).unwrap().snapshot().number(), None);
    assert_eq!(publish(&space, &[("a", "3")]), 3);
    assert_eq!(space.versions().unwrap().iter().map(|v| v.number).collect::<Vec<_>>(), [Some(3), Some(2)]);
}

#[test]
fn only_what_we_gave_its_name_is_taken_for_dead() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let letters = scratch.path().join("dead.letters");
    fs::create_dir(&letters).unwrap();
    publish(&space, &[("a", "1")]);
    assert!(letters.exists());
}
