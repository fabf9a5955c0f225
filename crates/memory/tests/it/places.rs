//! Where a store is: what lies where its region or its directory should be, and what is left when one of them
//! goes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_error::Kind;
use hammerspace_memory::{Key, Options, Reader, RegionInfo, RegionState, regions};
use hammerspace_os::process::fork::fork;
use tempfile::TempDir;

use crate::model::{PLAIN, tiny};
use crate::refusals::region;
use crate::sound::Memory;

/// A directory for regions, and the options of a store whose region lies there.
fn place() -> (TempDir, Options) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let region = scratch.path().join("regions");
    fs::create_dir(&region).unwrap();
    (scratch, Options { region: Some(region), ..tiny(64) })
}

fn names(path: &Path) -> usize {
    fs::read_dir(path).unwrap().count()
}

fn found(scratch: &Path) -> Vec<RegionInfo> {
    regions(Some(&scratch.join("regions"))).unwrap()
}

#[test]
fn a_create_that_fails_for_its_region_leaves_nothing_behind() {
    let (scratch, good) = place();
    let store = scratch.path().join("store");
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("file"), "").unwrap();
    symlink("loop", path("loop")).unwrap();
    let bad = [path("nowhere"), path("file"), path("file/below"), path("loop"), path(&"x".repeat(300))];
    for region in bad {
        let options = Options { region: Some(region.clone()), ..good.clone() };
        Memory::create(&store, &options).unwrap_err();
        assert!(!store.exists(), "{}", region.display());
        fs::create_dir(&store).unwrap();
        Memory::create(&store, &options).unwrap_err();
        drop(Memory::create(&store, &good).unwrap_or_else(|error| panic!("{}: {error}", region.display())));
        Memory::remove(&store).unwrap();
        assert!(!store.exists() && names(&path("regions")) == 0, "{}", region.display());
    }
}

/// Its maker may have died before it could make the region.
#[test]
fn a_half_made_store_whose_region_cannot_be_is_made_and_removed() {
    let (scratch, good) = place();
    let store = scratch.path().join("store");
    fs::write(scratch.path().join("file"), "").unwrap();
    let half_make = || {
        drop(Memory::create(&store, &good).unwrap());
        let (old, new) = (store.join("store.toml"), store.join("store.toml.new"));
        let text = fs::read_to_string(&old).unwrap();
        fs::remove_file(region(scratch.path())).unwrap();
        fs::write(new, text.replace("/regions/", "/file/")).unwrap();
        fs::remove_file(old).unwrap();
    };
    half_make();
    drop(Memory::create(&store, &good).unwrap());
    Memory::remove(&store).unwrap();
    half_make();
    Memory::remove(&store).unwrap();
    assert!(!store.exists());
}

#[test]
fn a_pipe_in_place_of_a_region_is_refused_at_once() {
    let (scratch, options) = place();
    let store = scratch.path().join("store");
    drop(Memory::create(&store, &options).unwrap());
    let region = region(scratch.path());
    fs::remove_file(&region).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &region, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let refused = [
        Reader::attach(&store).unwrap_err(),
        Memory::open(&store, &options).unwrap_err(),
        Memory::remove(&store).unwrap_err(),
    ];
    for error in refused {
        assert!(error.kind() == Kind::Corrupt && error.path() == Some(&region), "{error}");
    }
    assert_eq!(found(scratch.path()), []);
    fs::remove_file(region).unwrap();
    Memory::remove(&store).unwrap();
}

/// Reading it is enough to lock it. With wider rights a stranger could keep its owner away.
#[test]
fn the_lock_has_the_rights_of_the_region() {
    let (scratch, options) = place();
    let store = scratch.path().join("store");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let make = |mode| drop(Memory::create(&store, &Options { mode, ..options.clone() }).unwrap());
    for rights in [0o600, 0o640] {
        make(rights);
        assert_eq!((mode(region(scratch.path())), mode(store.join("lock"))), (rights, rights));
        // One that an earlier build has made.
        fs::set_permissions(store.join("lock"), Permissions::from_mode(0o666)).unwrap();
        drop(Memory::open(&store, &options).unwrap());
        assert_eq!(mode(store.join("lock")), rights);
        // As after a restart of the machine: the lock of the store before is still there.
        fs::remove_file(region(scratch.path())).unwrap();
        make(0o600);
        assert_eq!(mode(store.join("lock")), 0o600);
        fs::remove_file(store.join("lock")).unwrap();
        drop(Memory::open(&store, &options).unwrap());
        assert_eq!(mode(store.join("lock")), 0o600);
        Memory::remove(&store).unwrap();
    }
}

#[test]
fn an_owner_notices_within_a_second_that_its_region_was_deleted() {
    for cleaners in [0, 1] {
        let (scratch, options) = place();
        let options = Options { cleaners, ..options };
        let memory = Memory::create(scratch.path().join("store"), &options).unwrap();
        let put = || memory.put(PLAIN, Key::Integer(1), b"value");
        put().unwrap();
        fs::remove_file(region(scratch.path())).unwrap();
        let (deleted, second) = (Instant::now(), Duration::from_secs(1));
        let refused = loop {
            match put() {
                Err(error) => break error,
                Ok(_) => assert!(deleted.elapsed() < 2 * second, "nobody notices"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert!(refused.kind() == Kind::Missing && refused.to_string().contains("deleted"), "{refused}");
        assert!(memory.view().get(PLAIN.number, Key::Integer(1), &mut Vec::new()).unwrap().is_some());
    }
}

#[test]
fn whoever_is_refused_learns_which_process_owns_the_store() {
    let (scratch, options) = place();
    let store = scratch.path().join("store");
    let _memory = Memory::create(&store, &options).unwrap();
    let copy = scratch.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(store.join("store.toml"), copy.join("store.toml")).unwrap();
    let said = |store: &Path| Memory::open(store, &options).unwrap_err().to_string();
    assert!(said(&store).contains("this process owns the store"), "{}", said(&store));
    let wanted = format!("process {} owns the store", std::process::id());
    let child = fork(|| i32::from(![&store, &copy].iter().all(|store| said(store).contains(&wanted))));
    assert_eq!(child.wait(), Some(0));
}

#[test]
fn a_stranded_region_is_found_and_removed() {
    let (scratch, options) = place();
    let path = |name: &str| scratch.path().join(name);
    let state = || found(scratch.path()).into_iter().map(|it| (it.state, it.store.unwrap())).collect::<Vec<_>>();
    let memory = Memory::create(path("store"), &options).unwrap();
    assert_eq!(state(), [(RegionState::Owned(Some(std::process::id())), path("store"))]);
    let region = region(scratch.path());
    assert!(Memory::remove(&region).is_err() && region.exists(), "it is owned");
    drop(memory);
    assert_eq!(state(), [(RegionState::Idle, path("store"))]);
    let refused = Memory::remove(&region).unwrap_err();
    assert!(refused.kind() == Kind::Invalid && refused.to_string().contains("store remove"), "{refused}");
    // What it says of the directory is as of when it was opened.
    fs::rename(path("store"), path("moved")).unwrap();
    drop(Memory::open(path("moved"), &options).unwrap());
    assert_eq!(state(), [(RegionState::Idle, path("moved"))]);

    fs::remove_dir_all(path("moved")).unwrap();
    assert_eq!(state(), [(RegionState::Stranded, path("moved"))]);
    assert!(found(scratch.path())[0].memory > 0);
    // Another store in the same place does not have it either.
    drop(Memory::create(path("moved"), &options).unwrap());
    let mut states = state();
    states.sort_by_key(|(state, _)| *state == RegionState::Stranded);
    assert_eq!(states, [(RegionState::Idle, path("moved")), (RegionState::Stranded, path("moved"))]);
    Memory::remove(&region).unwrap();
    assert_eq!(state(), [(RegionState::Idle, path("moved"))]);
    assert!(Memory::remove(&region).is_err());
    fs::write(path("precious"), "no region").unwrap();
    assert_eq!(Memory::remove(path("precious")).unwrap_err().kind(), Kind::Invalid);
    assert!(path("precious").exists());
}
