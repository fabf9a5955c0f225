//! Directories that are not as they should be: a clear error or the documented fallback.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hammerspace_os::process::fork::fork;
use hammerspace_space::{Kind, Space};

use crate::support::{names, publish, quick, seen};

#[test]
fn a_dangling_current_is_an_error_that_replace_mends() {
    let scratch = tempfile::tempdir().unwrap();
    symlink("4711_2f1c0a52-93c5-4f0c-8f0e-6b4b7c1d2e3f", scratch.path().join("current")).unwrap();
    let error = Space::open(scratch.path()).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt);
    assert!(error.to_string().contains("4711_") && error.advice().is_some(), "{error}");
}

#[test]
fn a_current_that_leads_elsewhere_is_not_followed() {
    let scratch = tempfile::tempdir().unwrap();
    symlink("../elsewhere", scratch.path().join("current")).unwrap();
    assert_eq!(Space::open(scratch.path()).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn truncated_files_are_refused_at_open_by_name() {
    for (file, len) in
        [("hammerspace.spl", 50), ("hammerspace.spl", 0), ("hammerspace.spi", 100), ("hammerspace.spi", 115)]
    {
        let scratch = tempfile::tempdir().unwrap();
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
    let scratch = tempfile::tempdir().unwrap();
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
fn as_nobody(work: impl FnOnce() -> i32) -> Option<i32> {
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
    let scratch = tempfile::tempdir().unwrap();
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
