//! Directories that are not as they should be: a clear error or the documented fallback.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hammerspace_os::process::fork::fork;
use hammerspace_space::{Kind, Space};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{in_time, names, publish, quick, scratch, seen};

#[test]
fn a_dangling_current_is_an_error_that_replace_mends() {
    let scratch = scratch();
    symlink("4711_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f", scratch.path().join("current")).unwrap();
    let error = Space::open(scratch.path()).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt);
    assert!(error.to_string().contains("4711_") && error.advice().is_some(), "{error}");

    let space = quick().mend().open(scratch.path()).unwrap();
    assert!(space.is_empty() && space.refresh().is_err(), "damaged, not empty");
    publish(&space, &[("a", "1")]);
    assert_eq!(seen(scratch.path()).len(), 1);
}

#[test]
fn a_damaged_version_is_listed_and_can_be_gone_back_from() {
    let scratch = scratch();
    let space = quick().keep(2).create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    fs::write(scratch.path().join("current/hammerspace.spi"), "").unwrap();
    assert!(Space::open(scratch.path()).is_err());

    let space = quick().mend().open(scratch.path()).unwrap();
    let entries: Vec<_> = space.versions().unwrap().iter().map(|version| (version.number, version.entries)).collect();
    assert_eq!(entries, [(Some(2), None), (Some(1), Some(1))]);
    assert_eq!(space.rollback(None).unwrap(), 1);
    assert!(space.refresh().unwrap());
    assert_eq!(space.get("a").unwrap().unwrap(), b"1");
}

#[test]
fn a_current_that_leads_elsewhere_is_not_followed() {
    let scratch = scratch();
    symlink("../elsewhere", scratch.path().join("current")).unwrap();
    assert_eq!(Space::open(scratch.path()).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn truncated_files_are_refused_at_open_by_name() {
    for (file, len) in
        [("hammerspace.spl", 50), ("hammerspace.spl", 0), ("hammerspace.spi", 100), ("hammerspace.spi", 115)]
    {
        let scratch = scratch();
        let space = quick().create(scratch.path()).unwrap();
        publish(&space, &[("a", "1"), ("b", "2")]);
        let path = scratch.path().join("current").join(file);
        fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        let error = Space::open(scratch.path()).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{file} of {len} bytes: {error}");
        assert_eq!(error.path().unwrap().file_name().unwrap(), file, "{error}");
        assert!(space.get("a").unwrap().is_none(), "a handle opened before the first version stays on it");
        assert_eq!(publish(&space, &[("a", "2")]), 2, "replacing mends it");
        assert_eq!(seen(scratch.path()).len(), 1);
    }
}

#[test]
fn a_lock_file_of_somebody_else_is_refused_and_one_of_zeros_is_none() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    fs::write(scratch.path().join("hammerspace.lock"), [0; 4096]).unwrap();
    publish(&space, &[("a", "1")]);
    fs::write(scratch.path().join("hammerspace.lock"), [b'x'; 4096]).unwrap();
    assert_eq!(space.writer().unwrap_err().kind(), Kind::Corrupt);
    let mut page = [0; 4096];
    page[..8].copy_from_slice(b"hmrspace");
    page[8] = 2;
    fs::write(scratch.path().join("hammerspace.lock"), page).unwrap();
    assert_eq!(space.writer().unwrap_err().kind(), Kind::Unsupported);
}

/// Runs as a user who may only read what the others left readable. The suite may run as root, who may do anything.
pub(crate) fn as_nobody(work: impl FnOnce() -> i32) -> Option<i32> {
    fork(|| {
        if rustix::process::geteuid().is_root() {
            let nobody = rustix::process::Uid::from_raw(65534);
            rustix::thread::set_thread_uid(nobody).unwrap();
        }
        work()
    })
    .wait()
}

#[test]
fn a_user_without_rights_reads_and_is_told_why_it_cannot_write() {
    let scratch = scratch();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = scratch.path().join("space");
    let space = quick().create(&path).unwrap();
    publish(&space, &[("a", "1")]);
    fs::remove_file(path.join("hammerspace.lock")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).unwrap();

    let code = as_nobody(|| {
        let reader = Space::open(&path).unwrap();
        assert_eq!(reader.get("a").unwrap().unwrap(), b"1");
        assert!(!reader.refresh().unwrap());
        let error = reader.writer().unwrap_err();
        assert_eq!(error.kind(), Kind::Permission, "{error}");
        assert!(error.path().is_some() && error.advice().is_some(), "{error}");
        0
    });
    assert_eq!(code, Some(0), "the assertions in the child hold");
    assert_eq!(names(&path).len(), 2);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Puts something at `path` that is neither file nor directory, and that nobody ever writes to.
fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
}

#[test]
fn a_pipe_in_place_of_any_file_is_refused_at_once() {
    for file in ["current/hammerspace.spl", "current/hammerspace.spi", "current/hammerspace.version"] {
        let scratch = scratch();
        publish(&quick().create(scratch.path()).unwrap(), &[("a", "1")]);
        fs::remove_file(scratch.path().join(file)).unwrap();
        make_fifo(&scratch.path().join(file));
        let path = scratch.path().to_path_buf();
        let error = in_time(move || Space::open(path)).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{file}: {error}");
        assert!(error.path().unwrap().ends_with(Path::new(file).file_name().unwrap()) && error.advice().is_some());
    }
    let scratch = scratch();
    make_fifo(&scratch.path().join("hammerspace.lock"));
    let path = scratch.path().to_path_buf();
    let error = in_time(move || Space::open(path).unwrap().replace()).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt, "{error}");
}

#[test]
fn a_current_that_is_no_link_or_leads_to_no_directory_is_named() {
    let plain = |path: &Path| fs::write(path.join("current"), "").unwrap();
    let dir = |path: &Path| fs::create_dir(path.join("current")).unwrap();
    let loops = |path: &Path| symlink("current", path.join("current")).unwrap();
    let to_file = |path: &Path| {
        fs::write(path.join("file"), "").unwrap();
        symlink("file", path.join("current")).unwrap();
    };
    for (at, damage) in [&plain as &dyn Fn(&Path), &dir, &loops, &to_file].into_iter().enumerate() {
        let scratch = scratch();
        damage(scratch.path());
        let error = Space::open(scratch.path()).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "damage {at}: {error}");
        assert!(error.path().unwrap().ends_with("current") && error.advice().is_some(), "damage {at}: {error}");
    }
}

#[test]
fn a_short_lock_file_of_somebody_else_is_not_overwritten() {
    let scratch = scratch();
    fs::write(scratch.path().join("hammerspace.lock"), "precious").unwrap();
    assert_eq!(quick().create(scratch.path()).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(fs::read(scratch.path().join("hammerspace.lock")).unwrap(), b"precious");
}

#[test]
fn a_version_that_cannot_be_looked_at_stops_nobody() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let strange = scratch.path().join("4711_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f");
    fs::create_dir_all(strange.join("hammerspace.version")).unwrap();
    publish(&space, &[("a", "1")]);
    publish(&space, &[("a", "2")]);
    assert!(strange.exists(), "whatever it is");
    assert_eq!(space.versions().unwrap().len(), 1);
}

#[test]
fn a_stamp_of_the_largest_number_is_refused_and_not_counted_on_from() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "1")]);
    let stamp = scratch.path().join("current/hammerspace.version");
    let mut bytes = fs::read(&stamp).unwrap();
    bytes[16..].fill(0xff);
    fs::write(&stamp, bytes).unwrap();
    let error = space.writer().unwrap().publish().unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    assert!(error.path().is_some() && error.advice().is_some(), "{error}");
    assert_eq!(seen(scratch.path()).len(), 1);
}
