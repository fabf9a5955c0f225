//! What cannot be is refused, each with an error of the right kind.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::{process, thread};

use fastrand::Rng;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{Change, Cursor, Geometry, KEY_LEN_MAX, Key, Options, Reader, VALUE_LEN_MAX};
use hammerspace_os::File;
use hammerspace_os::process::fork::{fork, mount_memory};
use hammerspace_os::trace::{Op, watch};
use tempfile::TempDir;

use crate::model::{PLAIN, tiny};
use crate::sound::Memory;

/// A store with some values in it, and where its region lies.
fn store() -> (TempDir, Options, Memory) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let region = scratch.path().join("regions");
    fs::create_dir(&region).unwrap();
    let options = Options { region: Some(region), ..tiny(64) };
    let memory = Memory::create(scratch.path().join("store"), &options).unwrap();
    for key in 0..500 {
        memory.put(PLAIN, Key::Integer(key), &[7; 60]).unwrap();
    }
    (scratch, options, memory)
}

pub(crate) fn region(scratch: &Path) -> std::path::PathBuf {
    fs::read_dir(scratch.join("regions")).unwrap().next().unwrap().unwrap().path()
}

/// What opening and attaching say of a store that nobody owns and somebody tampered with.
fn refusals(tamper: impl FnOnce(&Path)) -> [Error; 2] {
    let (scratch, options, memory) = store();
    drop(memory);
    tamper(scratch.path());
    let path = scratch.path().join("store");
    [Memory::open(&path, &options).unwrap_err(), Reader::attach(&path).unwrap_err()]
}

fn assert_refused(kind: Kind, says: &str, tamper: impl FnOnce(&Path)) {
    for error in refusals(tamper) {
        assert!(error.kind() == kind && error.to_string().contains(says), "{error}");
    }
}

/// Overwrites a word of the region.
fn overwrite(address: usize, word: u64) -> impl FnOnce(&Path) {
    move |scratch| {
        let file = File::open_to_write(region(scratch)).unwrap();
        file.write_at(&word.to_le_bytes(), address as u64).unwrap();
    }
}

#[test]
fn keys_and_values_have_their_limits() {
    let memory = Memory::anonymous(&Options { cleaners: 0, ..Options::with_limit(64 << 20) }).unwrap();
    let key = vec![1; KEY_LEN_MAX + 1];
    let refused = memory.put(PLAIN, Key::Bytes(&key), b"").unwrap_err();
    assert_eq!(refused.kind(), Kind::Invalid, "{refused}");
    memory.put(PLAIN, Key::Bytes(&key[1..]), &key[1..]).unwrap();
    let mut found = Vec::new();
    assert!(memory.view().get(1, Key::Bytes(&key), &mut found).unwrap().is_none());
    assert!(memory.view().get(1, Key::Bytes(&key[1..]), &mut found).unwrap().is_some() && found == key[1..]);
    // Untouched zeros take no memory.
    let value = vec![0; VALUE_LEN_MAX as usize + 1];
    let refused = memory.put(PLAIN, Key::Integer(1), &value).unwrap_err();
    assert_eq!((refused.kind(), memory.verify().records), (Kind::Invalid, 1), "{refused}");
}

#[test]
fn a_limit_must_suit_the_region() {
    let geometry = Geometry { segment_size: 8 << 10, segments_max: 100, buckets: 4 };
    for segments in [0, 1, 5, 9, 101] {
        let options = Options { geometry: Some(geometry), ..tiny(segments) };
        let refused = Memory::anonymous(&options).unwrap_err();
        assert_eq!(refused.kind(), Kind::Invalid, "{segments} segments: {refused}");
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = Options { region: Some(scratch.path().to_path_buf()), ..options };
        let refused = Memory::create(scratch.path().join("store"), &options).unwrap_err();
        assert_eq!(refused.kind(), Kind::Invalid, "{segments} segments: {refused}");
    }
    let memory = Memory::anonymous(&Options { geometry: Some(geometry), ..tiny(100) }).unwrap();
    for segments in [0, 5, 9, 101] {
        let refused = memory.set_limit(segments * (8 << 10)).unwrap_err();
        assert_eq!((refused.kind(), memory.view().usage().limit), (Kind::Invalid, 100 * (8 << 10)), "{refused}");
    }
    let refused = memory.put(PLAIN, Key::Integer(1), &[0; 9000]).unwrap_err();
    assert_eq!(refused.kind(), Kind::Invalid, "longer than a segment: {refused}");
}

#[test]
fn regions_of_others_are_refused() {
    assert_refused(Kind::Corrupt, "cut off", |scratch| {
        let file = File::open_to_write(region(scratch)).unwrap();
        file.truncate(file.len().unwrap() - 8192).unwrap();
    });
    assert_refused(Kind::Corrupt, "no region", |scratch| {
        File::open_to_write(region(scratch)).unwrap().truncate(100).unwrap();
    });
    assert_refused(Kind::Corrupt, "not a region", overwrite(0, 7));
    assert_refused(Kind::Unsupported, "format", overwrite(8, 99));
    assert_refused(Kind::Corrupt, "belongs to store", overwrite(16, 7));
    assert_refused(Kind::Unsupported, "pages", overwrite(32, 1 << 16));
    assert_refused(Kind::Corrupt, "sizes", overwrite(40, 12345));
    assert_refused(Kind::Unsupported, "features 0x8000000000", overwrite(72, 1 << 39));
    // Readers too would look for keys where there is nothing, in gigabytes of it.
    for root in [31 << 8, 22 << 8, 2, 1 << 63] {
        assert_refused(Kind::Corrupt, "root", overwrite(128, root));
    }
    assert_refused(Kind::Missing, "restart", |scratch| fs::remove_file(region(scratch)).unwrap());
    assert_refused(Kind::Missing, "no store", |scratch| fs::remove_file(scratch.join("store/store.toml")).unwrap());
    assert_refused(Kind::Corrupt, "description", |scratch| fs::write(scratch.join("store/store.toml"), "?").unwrap());
    assert_refused(Kind::Unsupported, "format 2", |scratch| {
        let path = scratch.join("store/store.toml");
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("format = 1", "format = 2")).unwrap();
    });
}

#[test]
fn a_feature_that_only_an_owner_must_know_lets_readers_in() {
    let (scratch, options, memory) = store();
    drop(memory);
    let path = scratch.path().join("store");
    overwrite(80, 2)(scratch.path());
    let refused = Memory::open(&path, &options).unwrap_err();
    assert!(refused.kind() == Kind::Unsupported && refused.to_string().contains("features 0x2"), "{refused}");
    assert_eq!(Reader::attach(&path).unwrap().view().counted(PLAIN.number).keys, 500);
    overwrite(80, 0)(scratch.path());
    overwrite(88, u64::MAX)(scratch.path());
    drop(Memory::open(&path, &options).unwrap());
}

/// Words that only an owner goes by.
#[test]
fn an_owner_refuses_tables_it_could_not_go_by() {
    for (address, word) in [(192, u64::MAX), (216, 5000)] {
        let (scratch, options, memory) = store();
        drop(memory);
        overwrite(address, word)(scratch.path());
        let refused = Memory::open(scratch.path().join("store"), &options).unwrap_err();
        assert_eq!(refused.kind(), Kind::Corrupt, "{refused}");
    }
}

/// A copy of its directory names the same region.
#[test]
fn a_copy_of_its_directory_does_not_make_two_owners() {
    let (scratch, options, memory) = store();
    let copy = scratch.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(scratch.path().join("store")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    assert_eq!(Memory::open(&copy, &options).unwrap_err().kind(), Kind::Busy);
    assert_eq!(Memory::remove(&copy).unwrap_err().kind(), Kind::Busy);
    assert!(region(scratch.path()).exists());
    drop(memory);
    let _memory = Memory::open(&copy, &options).unwrap();
    assert_eq!(Memory::open(scratch.path().join("store"), &options).unwrap_err().kind(), Kind::Busy);
}

#[test]
fn nothing_is_deleted_that_is_no_region() {
    let (scratch, _, memory) = store();
    drop(memory);
    let precious = scratch.path().join("precious");
    fs::write(&precious, "not a region").unwrap();
    let description = scratch.path().join("store/store.toml");
    let text = fs::read_to_string(&description).unwrap();
    let place = region(scratch.path());
    fs::write(&description, text.replace(place.to_str().unwrap(), precious.to_str().unwrap())).unwrap();
    let error = Memory::remove(scratch.path().join("store")).unwrap_err();
    assert!(error.kind() == Kind::Corrupt && error.to_string().contains("precious"), "{error}");
    assert!(precious.exists() && place.exists());
}

/// Otherwise the store would be made, and could be neither opened nor removed.
#[test]
fn a_region_that_a_description_cannot_name_is_refused() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    for name in ["quo'te", "line\nfeed", "carriage\rreturn", "bell\x07", "delete\x7f", "tab\t", "next\u{85}line"] {
        let (path, region) = (scratch.path().join("store"), scratch.path().join(name));
        fs::create_dir(&region).unwrap();
        let refused = Memory::create(&path, &Options { region: Some(region.clone()), ..tiny(64) }).unwrap_err();
        assert_eq!(refused.kind(), Kind::Invalid, "{name:?}: {refused}");
        assert_eq!(fs::read_dir(region).unwrap().count(), 0, "{name:?}");
    }
    let region = scratch.path().join("Straße 7 \"ö\" \\ #");
    fs::create_dir(&region).unwrap();
    let (path, options) = (scratch.path().join("store"), Options { region: Some(region.clone()), ..tiny(64) });
    drop(Memory::create(&path, &options).unwrap());
    drop(Memory::open(&path, &options).unwrap());
    Memory::remove(&path).unwrap();
    assert_eq!(fs::read_dir(region).unwrap().count(), 0);
}

/// As when somebody removes the store while another waits for its lock.
#[test]
fn a_lock_without_a_name_is_no_lock() {
    let (scratch, options, memory) = store();
    let path = scratch.path().join("store");
    let waiting = thread::spawn({
        let path = path.clone();
        move || Memory::open(path, &options)
    });
    thread::sleep(Duration::from_millis(5));
    fs::remove_file(path.join("lock")).unwrap();
    drop(memory);
    let _memory = waiting.join().unwrap().unwrap();
    assert!(path.join("lock").exists());
}

/// Its next owner may have more threads than it has room for.
#[test]
fn an_owner_of_a_small_store_makes_do_with_few_threads() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let geometry = Geometry { segment_size: 4096, segments_max: 64, buckets: 4 };
    let options = Options {
        region: Some(scratch.path().into()),
        geometry: Some(geometry),
        writers: 1,
        cleaners: 0,
        ..Options::with_limit(32 * 4096)
    };
    let path = scratch.path().join("store");
    drop(Memory::create(&path, &options).unwrap());
    let memory = Memory::open(&path, &Options { writers: 16, cleaners: 4, ..options }).unwrap();
    for key in 0..200 {
        memory.put(PLAIN, Key::Integer(key), &[1; 100]).unwrap();
    }
}

#[test]
fn a_store_has_one_owner() {
    let (scratch, options, memory) = store();
    let path = scratch.path().join("store");
    assert_eq!(Memory::open(&path, &options).unwrap_err().kind(), Kind::Busy);
    assert_eq!(Memory::create(&path, &options).unwrap_err().kind(), Kind::Busy);
    assert!(Reader::attach(&path).unwrap().has_owner().unwrap());
    drop(memory);
    assert_eq!(Memory::create(&path, &options).unwrap_err().kind(), Kind::Invalid, "there is one");
    assert!(!Reader::attach(&path).unwrap().has_owner().unwrap());
    Memory::open(&path, &options).unwrap();
}

/// Stops a maker before each change of a file that it makes, and looks what others see, and what it would
/// leave behind.
fn at_each_step(mut look: impl FnMut(&Path, &Options, usize) -> bool) {
    for step in 0.. {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let region = scratch.path().join("regions");
        fs::create_dir(&region).unwrap();
        let options = Options { region: Some(region), ..tiny(64) };
        if look(scratch.path(), &options, step) {
            assert!(step > 3, "there are more steps than {step}");
            return;
        }
    }
}

/// Makes a store, and at one of the steps does something else first. Says whether there are not so many
/// steps.
fn make(path: &Path, options: &Options, step: usize, at_step: impl FnOnce() + Send + 'static) -> bool {
    let (mut count, mut at_step, is_over) = (0, Some(at_step), Arc::new(AtomicBool::new(true)));
    let watcher = {
        let is_over = is_over.clone();
        move |_: &Op| {
            if count == step {
                is_over.store(false, Relaxed);
                // Another thread's changes are not watched.
                let at_step = at_step.take().expect("there is one");
                thread::scope(|scope| scope.spawn(at_step).join()).expect("what is seen is right");
            }
            count += 1;
            Ok(())
        }
    };
    watch(watcher, || Memory::create(path, options).unwrap());
    is_over.load(Relaxed)
}

#[test]
fn a_store_that_is_being_made_is_not_there_or_busy() {
    at_each_step(|scratch, options, step| {
        let (path, theirs) = (scratch.join("store"), options.clone());
        let is_over = make(&path.clone(), options, step, move || {
            for error in [Memory::open(&path, &theirs).unwrap_err(), Reader::attach(&path).unwrap_err()] {
                // The first step of all makes the lock.
                let wanted = if step == 0 { Kind::Missing } else { Kind::Busy };
                assert_eq!(error.kind(), wanted, "{error}");
            }
        });
        Reader::attach(scratch.join("store")).unwrap();
        is_over
    });
}

#[test]
fn a_maker_that_dies_leaves_nothing_that_stays() {
    let left = |scratch: &Path| fs::read_dir(scratch.join("regions")).unwrap().count();
    let mut has_left = 0;
    let mut at_step = |scratch: &Path, options: &Options, step, is_made_again| {
        let path = scratch.join("store");
        let child = fork(|| i32::from(make(&path, options, step, || process::exit(7))));
        if child.wait() != Some(7) {
            return true;
        }
        has_left += left(scratch);
        assert_eq!(Reader::attach(&path).unwrap_err().kind(), Kind::Missing);
        if is_made_again {
            drop(Memory::create(&path, options).unwrap());
            assert_eq!(left(scratch), 1, "after step {step}");
        }
        match Memory::remove(&path) {
            Ok(()) => assert!(!path.exists(), "after step {step}"),
            Err(error) => assert!(error.kind() == Kind::Missing && step < 2, "after step {step}: {error}"),
        }
        assert_eq!(left(scratch), 0, "after step {step}");
        false
    };
    at_each_step(|scratch, options, step| at_step(scratch, options, step, true));
    at_each_step(|scratch, options, step| at_step(scratch, options, step, false));
    assert!(has_left > 0, "nothing was left behind that had to go");
}

/// Root may read everything, so it gives up what it may, in a child.
#[test]
fn what_may_not_be_read_says_so() {
    let (scratch, options, memory) = store();
    drop(memory);
    let path = scratch.path().join("store");
    fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let child = fork(|| {
        let is_root = fs::metadata("/proc/self").is_ok_and(|us| std::os::unix::fs::MetadataExt::uid(&us) == 0);
        if is_root && !hammerspace_os::process::fork::become_nobody() {
            return 3;
        }
        let kinds = [Memory::open(&path, &options).unwrap_err().kind(), Reader::attach(&path).unwrap_err().kind()];
        i32::from(kinds != [Kind::Permission; 2])
    });
    assert_eq!(child.wait(), Some(0));
}

#[test]
fn a_file_system_that_is_too_small_is_refused_before_the_first_write() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let regions = scratch.path().join("regions");
    fs::create_dir(&regions).unwrap();
    let options = Options { region: Some(regions.clone()), geometry: None, ..Options::with_limit(1 << 39) };
    let refused = Memory::create(scratch.path().join("store"), &options).unwrap_err();
    let said = refused.to_string();
    assert_eq!(refused.kind(), Kind::Full, "{said}");
    assert_says_what_to_do(&said, Path::new("/dev/shm"), 1 << 39);
    assert_eq!(fs::read_dir(regions).unwrap().count(), 0, "nothing is left behind");
    assert!(!scratch.path().join("store").exists(), "nor of its directory");
}

/// Which file system, how many bytes it lacks, and that it can be larger, or the store smaller, or elsewhere.
fn assert_says_what_to_do(said: &str, mount: &Path, needed: u64) {
    let mount = mount.display();
    let begin = format!("{mount} has ");
    let left: u64 = said.strip_prefix(&begin).and_then(|said| said.split(' ').next()).unwrap().parse().expect(said);
    let (_, more) = said.split_once("may take ").expect(said);
    let more: u64 = more.split(' ').next().unwrap().parse().expect(said);
    assert!(left < more && (needed..needed + needed / 8).contains(&more), "{said}");
    let (_, size) = said.split_once("remount,size=").expect(said);
    let size: u64 = size.split(' ').next().unwrap().parse().expect(said);
    assert!(
        size >= more && said.contains(&format!("size={size} {mount}`")) && said.contains("another directory"),
        "{said}"
    );
}

/// With the tables of its region, not only the bytes that it may hold.
#[test]
fn what_a_file_system_is_said_to_have_room_for_it_has_room_for() {
    on_small_file_system(|small| {
        let made = (1..).find_map(|less| {
            let options = Options { region: Some(small.into()), limit: SMALL - less * (8 << 10), ..tiny(0) };
            match Memory::create(small.join(less.to_string()), &options) {
                Ok(memory) => Some((less, memory)),
                Err(error) => {
                    assert!(error.kind() == Kind::Full && error.to_string().contains("remount"), "{error}");
                    None
                }
            }
        });
        let (less, memory) = made.unwrap();
        // The counters of the first tables take as much as 33 segments do.
        assert!(less < 83, "{less} segments less");
        let refused = (0..SMALL).find_map(|key| put(&memory, key).err()).unwrap();
        assert!(refused.to_string().contains("the store is full"), "{refused}");
    });
}

/// Memory is taken as it is needed: that somebody else has taken it meanwhile is found out late, and said as
/// well.
#[test]
fn a_file_system_that_has_become_too_small_says_so() {
    on_small_file_system(|small| {
        let options = Options { region: Some(small.into()), limit: SMALL / 2, ..tiny(0) };
        let memory = Memory::create(small.join("store"), &options).unwrap();
        let refused = memory.set_limit(2 * SMALL).unwrap_err();
        assert_eq!((refused.kind(), memory.view().usage().limit), (Kind::Full, SMALL / 2), "{refused}");
        let taken = memory.view().usage().in_use() + memory.view().usage().free;
        assert_says_what_to_do(&refused.to_string(), small, 2 * SMALL - taken);
        let (_, refused) = fill(&memory, small);
        assert_eq!(refused.kind(), Kind::Full, "{refused}");
        // The segment that could not be had is one that may be used again.
        let usage = memory.view().usage();
        let taken = usage.in_use() + usage.free - usage.segment_size;
        assert_says_what_to_do(&refused.to_string(), small, SMALL / 2 - taken);
    });
}

#[test]
fn a_store_goes_on_in_the_memory_that_it_has() {
    for (cleaners, is_opened_anew) in [(0, false), (1, false), (0, true), (1, true)] {
        on_small_file_system(|small| {
            let options = Options { region: Some(small.into()), limit: SMALL / 2, cleaners, ..tiny(0) };
            let mut memory = Memory::create(small.join("store"), &options).unwrap();
            let (keys, _) = fill(&memory, small);
            if is_opened_anew {
                drop(memory);
                memory = Memory::open(small.join("store"), &options).unwrap();
            }
            assert!((0..20 * keys).all(|key| put(&memory, key % (keys / 2)).is_ok()));
            // What is deleted makes room for others.
            for key in 0..keys / 4 {
                memory.update(PLAIN, Key::Integer(key), |_| Change::Delete).unwrap();
            }
            assert!((keys..keys + keys / 8).all(|key| put(&memory, key).is_ok()));
            // Once there is room again, it grows.
            fs::remove_file(small.join("other")).unwrap();
            assert!((0..2 * keys).all(|key| put(&memory, key).is_ok()));
            assert_eq!((memory.verify().faults, memory.verify().records), (0, 2 * keys));
        });
    }
}

fn put(memory: &Memory, key: u64) -> Result<()> {
    memory.put(PLAIN, Key::Integer(key), &[7; 60]).map(drop)
}

/// Puts keys into a store on a small file system, most of which something else has taken. Gives how many
/// there is room for, and what the next one is told.
fn fill(memory: &Memory, small: &Path) -> (u64, Error) {
    fs::write(small.join("other"), vec![1; (SMALL - SMALL / 4) as usize]).unwrap();
    (0..SMALL).find_map(|key| Some((key, put(memory, key).err()?))).unwrap()
}

const SMALL: u64 = 4 << 20;

/// What a child finds in a directory that is a file system of its own, in memory.
fn on_small_file_system(look: impl FnOnce(&Path)) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let child = fork(|| {
        let small = scratch.path().canonicalize().unwrap();
        if mount_memory(&small, SMALL) {
            look(&small);
        } else {
            eprintln!("not looked at: this user may not mount a file system");
        }
        0
    });
    assert_eq!(child.wait(), Some(0));
}

#[test]
fn a_forked_child_is_not_the_owner() {
    let (scratch, options, memory) = store();
    let path = scratch.path().join("store");
    let mut parents = Some(memory);
    let child = fork(|| {
        let memory = parents.take().unwrap();
        let kinds = [
            memory.put(PLAIN, Key::Integer(1), b"child").unwrap_err().kind(),
            memory.drop_table(1).unwrap_err().kind(),
            memory.set_limit(1 << 20).unwrap_err().kind(),
            memory.clean().unwrap_err().kind(),
            memory.begin_catalogue().unwrap_err().kind(),
            memory.end_catalogue(2).unwrap_err().kind(),
        ];
        drop(memory);
        i32::from(kinds != [Kind::Invalid; 6])
    });
    assert_eq!(child.wait(), Some(0));
    assert_eq!(Memory::open(&path, &options).unwrap_err().kind(), Kind::Busy, "still locked");
    let memory = parents.unwrap();
    for round in 0..3000 {
        memory.put(PLAIN, Key::Integer(round % 500), &[8; 60]).unwrap();
    }
    assert_eq!(memory.verify().faults, 0);
}

/// A cursor kept by somebody else may be anything, and an enumeration from it ends all the same.
#[test]
fn any_word_is_a_cursor() {
    let memory = Memory::anonymous(&tiny(64)).unwrap();
    let mut rng = Rng::with_seed(1);
    for keys in [1_u64, 300] {
        for key in 0..keys {
            memory.put(PLAIN, Key::Integer(key), b"").unwrap();
        }
        for word in (0..200).map(|_| rng.u64(..)).chain([1 << 32, u64::MAX, 31 << 24, 1 << 63 | 1]) {
            let (mut items, mut next) = (Vec::new(), Some(Cursor::from_word(word)));
            while let Some(at) = next {
                next = memory.view().scan(1, at, 10, &mut items).unwrap();
            }
            assert!(items.len() as u64 <= keys, "{word:#x} gives something twice");
        }
    }
}

#[test]
fn more_threads_than_there_can_be_are_refused() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = scratch.path().join("store");
    let options = Options { region: Some(scratch.path().into()), ..tiny(64) };
    drop(Memory::create(&path, &options).unwrap());
    for (writers, cleaners) in [(usize::MAX, 1), (1, usize::MAX), (1 << 13, 1)] {
        let options = Options { writers, cleaners, ..options.clone() };
        let refused = [Memory::create(scratch.path().join("other"), &options), Memory::open(&path, &options)];
        for error in refused.map(Result::unwrap_err) {
            assert!(error.kind() == Kind::Invalid && error.to_string().contains("threads"), "{error}");
        }
    }
}

/// To ask is to share the lock for an instant, and of many readers somebody is always asking.
#[test]
fn readers_that_look_for_an_owner_keep_none_away() {
    let (scratch, options, memory) = store();
    drop(memory);
    let path = scratch.path().join("store");
    let asking = fs::File::open(path.join("lock")).unwrap();
    asking.lock_shared().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(200));
            drop(asking);
        });
        Memory::open(&path, &options).unwrap();
    });
}

/// Who looks finds the description of a store whose region has just been deleted, and then that of the next.
#[test]
fn a_store_that_replaces_another_is_found() {
    let (scratch, options, memory) = store();
    let [path, next] = ["store", "next"].map(|name| scratch.path().join(name));
    drop(memory);
    let gone = fs::read(path.join("store.toml")).unwrap();
    Memory::remove(&path).unwrap();
    let memory = Memory::create(&path, &options).unwrap();
    drop(memory);
    // Who opens it waits as long as somebody looks at the lock, up to a second; who attaches, for less.
    let looking = fs::File::open(path.join("lock")).unwrap();
    looking.lock_shared().unwrap();
    let is_replaced_while = |look: &dyn Fn() -> Result<()>, time: u64| {
        fs::rename(path.join("store.toml"), &next).unwrap();
        fs::write(path.join("store.toml"), &gone).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(time));
                fs::rename(&next, path.join("store.toml")).unwrap();
                looking.unlock().unwrap();
            });
            look()
        })
    };
    is_replaced_while(&|| Memory::open(&path, &options).map(drop), 50).unwrap();
    is_replaced_while(&|| Reader::attach(&path).map(drop), 2).unwrap();
}
