//! What is refused, and that it says what to do.

use std::os::unix::fs::FileExt;
use std::{fs, process, thread};

use hammerspace_memory::{Key, TableId};
use hammerspace_os::process::fork::fork;
use hammerspace_os::trace::{Op, watch};
use hammerspace_store::{Condition, Kind, Options, Put, Result, TableOptions, VALUE_LEN_MAX, ValueKind};

use crate::small;
use crate::sound::Store;

fn refused<T: std::fmt::Debug>(result: Result<T>, kind: Kind, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words) && error.advice().is_some(), "{error}");
}

#[test]
fn keys_and_values_over_the_limit() {
    let store = small();
    let table = store.default_table();
    let key = vec![b'k'; hammerspace_store::KEY_LEN_MAX + 1];
    refused(table.put(&key[..], ""), Kind::Invalid, "a key of 65535 bytes");
    refused(table.append(&key[..], ""), Kind::Invalid, "a key of 65535 bytes");
    refused(table.delete(&key[..]), Kind::Invalid, "a key of 65535 bytes");
    assert_eq!(table.get(&key[..]).unwrap(), None);
    table.put(&key[1..], "the longest").unwrap();
    assert_eq!(&*table.get(&key[1..]).unwrap().unwrap(), b"the longest");
    assert!(table.put("", "the shortest").is_ok() && table.contains("").unwrap());
    let value = vec![0; VALUE_LEN_MAX as usize + 1];
    refused(table.put("key", &value), Kind::Invalid, "a value of 1073741825 bytes");
    refused(table.append("key", &value), Kind::Invalid, "a value of 1073741825 bytes");
    assert!(!table.contains("key").unwrap());
}

/// As damage may leave it. A new list would make every record nobody's.
#[test]
fn a_store_without_a_list_of_tables_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(64 << 20) };
    drop(hammerspace_memory::Memory::create(&path, &options).unwrap());
    for _ in 0..2 {
        refused(Store::attach(&path), Kind::Corrupt, "the list of the store's tables is missing");
        refused(Store::open(&path), Kind::Corrupt, "the list of the store's tables is missing");
        refused(Store::open_or_create(&path, &options), Kind::Corrupt, "the list of the store's tables is missing");
    }
}

/// As damage to the list, or to the records, may leave them.
#[test]
fn records_of_a_table_that_is_not_listed_are_found() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(64 << 20) };
    drop(Store::create(&path, &options).unwrap());
    let memory = hammerspace_memory::Memory::open(&path, &options).unwrap();
    let nobody = TableId { number: 9, is_versioned: false };
    for key in 0..3 {
        memory.put(nobody, Key::Integer(key), b"value").unwrap();
    }
    drop(memory);
    let store = hammerspace_store::Store::open(&path).unwrap();
    let report = store.verify().unwrap();
    assert_eq!(report.findings, ["3 records belong to table 9, which the list of tables does not name"]);
}

/// Whatever damage makes of the number by which handles notice that the list has changed: it is looked at
/// more often, or less.
#[test]
fn a_damaged_stamp_of_the_list_of_tables_keeps_nobody() {
    const CATALOGUE: u64 = 136;
    for stamp in [0, 1, 1 << 45 | 1, 1 << 46, 1 << 63 | 1, u64::MAX - 1, u64::MAX] {
        let scratch = tempfile::tempdir().unwrap();
        let [path, regions] = ["store", "regions"].map(|name| scratch.path().join(name));
        fs::create_dir(&regions).unwrap();
        let options = Options { region: Some(regions.clone()), ..Options::with_limit(64 << 20) };
        let store = Store::create(&path, &options).unwrap();
        let words = store.create_table("words", TableOptions::default()).unwrap();
        let reader = Store::attach(&path).unwrap().table("words").unwrap();
        let region = fs::read_dir(&regions).unwrap().next().unwrap().unwrap().path();
        fs::OpenOptions::new().write(true).open(region).unwrap().write_all_at(&stamp.to_le_bytes(), CATALOGUE).unwrap();
        for _ in 0..3 {
            words.put("a", "1").unwrap();
            assert!(words.contains("a").unwrap() && reader.contains("a").unwrap());
            store.empty_table("words").unwrap();
            assert!(!words.contains("a").unwrap() && !reader.contains("a").unwrap(), "{stamp}");
        }
        words.put("a", "1").unwrap();
        drop((words, store));
        let store = Store::open(&path).unwrap();
        assert!(store.table("words").unwrap().contains("a").unwrap() && reader.contains("a").unwrap());
        assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
    }
}

/// A service starts for the first time, again, and after the machine did.
#[test]
fn a_store_is_opened_or_created() {
    let scratch = tempfile::tempdir().unwrap();
    let [path, regions] = ["store", "regions"].map(|name| scratch.path().join(name));
    fs::create_dir(&regions).unwrap();
    let options = Options { region: Some(regions.clone()), ..Options::with_limit(64 << 20) };
    let store = Store::open_or_create(&path, &options).unwrap();
    store.default_table().put("key", "value").unwrap();
    refused(Store::open_or_create(&path, &options), Kind::Busy, "owns the store");
    drop(store);
    assert!(Store::open_or_create(&path, &options).unwrap().default_table().contains("key").unwrap());
    let region = fs::read_dir(&regions).unwrap().next().unwrap().unwrap().path();
    // As where what they lie on is not mounted.
    fs::rename(&regions, scratch.path().join("elsewhere")).unwrap();
    refused(Store::open_or_create(&path, &options), Kind::Missing, "mount what it lies on");
    refused(Store::attach(&path), Kind::Missing, "mount what it lies on");
    fs::rename(scratch.path().join("elsewhere"), &regions).unwrap();
    let unseen = scratch.path().join("unseen");
    fs::rename(&region, &unseen).unwrap();
    refused(Store::open(&path), Kind::Missing, "does not outlive");
    assert!(!Store::open_or_create(&path, &options).unwrap().default_table().contains("key").unwrap());
    // It was there all along, in sight of others: who removes the store removes it.
    fs::rename(&unseen, &region).unwrap();
    Store::remove(&path).unwrap();
    assert!(!path.exists() && fs::read_dir(&regions).unwrap().next().is_none());
}

/// Whoever comes second waits for the first to let go, or comes in behind it; nobody is told that there is a
/// store already.
#[test]
fn services_that_start_at_once_are_kept_out_by_an_owner_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(32 << 20) };
    for round in 0..40 {
        let path = scratch.path().join(round.to_string());
        let start = || loop {
            match Store::open_or_create(&path, &options) {
                Ok(store) => break store.default_table().add("starts", 1).map(drop),
                Err(error) if error.kind() == Kind::Busy => thread::yield_now(),
                Err(error) => break Err(error),
            }
        };
        thread::scope(|scope| {
            for thread in [scope.spawn(start), scope.spawn(start)] {
                thread.join().unwrap().unwrap();
            }
        });
        assert_eq!(Store::attach(&path).unwrap().default_table().get("starts").unwrap().unwrap().number(), Some(2));
        Store::remove(&path).unwrap();
    }
}

/// Its name is the last thing that a store gets: by then everything is in it, and before there is none.
#[test]
fn a_maker_that_dies_leaves_no_store() {
    let scratch = tempfile::tempdir().unwrap();
    let path = &scratch.path().join("store");
    let options = &Options { region: Some(scratch.path().into()), ..Options::with_limit(64 << 20) };
    let make_until_named = || {
        let at_name = |op: &Op| if matches!(op, Op::Rename(..)) { process::exit(7) } else { Ok(()) };
        assert_eq!(fork(|| watch(at_name, || Store::create(path, options).is_err().into())).wait(), Some(7));
    };
    make_until_named();
    refused(Store::attach(path), Kind::Missing, "died");
    refused(Store::open(path), Kind::Missing, "died");
    drop(Store::create(path, options).unwrap());
    Store::remove(path).unwrap();
    make_until_named();
    fs::rename(path.join("store.toml.new"), path.join("store.toml")).unwrap();
    assert!(!Store::attach(path).unwrap().has_owner().unwrap());
}

#[test]
fn kinds_that_do_not_fit() {
    let store = small();
    let table = store.default_table();
    table.put("word", "bytes").unwrap();
    refused(table.add("word", 1), Kind::Invalid, "add cannot be merged into a value of kind bytes");
    refused(table.append("word", "x"), Kind::Invalid, "append cannot be merged into a value of kind bytes");
    refused(table.merge("sum", ValueKind::Add, "12"), Kind::Invalid, "2 bytes are no value of kind add");
    refused(table.put_with("sum", "12", &Put::default().kind(ValueKind::Max)), Kind::Invalid, "kind max");
    table.add("sum", i64::MAX).unwrap();
    refused(table.merge("sum", ValueKind::Bytes, ""), Kind::Invalid, "bytes cannot be merged into a value of kind add");
    refused(table.add("sum", 1), Kind::Invalid, "beyond 64 bits");
    assert_eq!(table.get("sum").unwrap().unwrap().number(), Some(i64::MAX));
}

#[test]
fn tables_that_are_not_there_or_there_already() {
    let store = small();
    refused(store.table("none"), Kind::Missing, "no table \"none\"");
    refused(store.drop_table("none"), Kind::Missing, "no table");
    refused(store.empty_table("none"), Kind::Missing, "no table");
    refused(store.drop_table("default"), Kind::Invalid, "default table");
    refused(store.create_table("default", TableOptions::default()), Kind::Invalid, "already");
    refused(store.create_table("", TableOptions::default()), Kind::Invalid, "0 bytes");
    refused(store.create_table(&"x".repeat(256), TableOptions::default()), Kind::Invalid, "256 bytes");
    let plain =
        store.create_table(&"x".repeat(255), TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    refused(plain.put_with("k", "", &Put::when(Condition::Version(1))), Kind::Invalid, "no versions");
    store.drop_table(plain.name()).unwrap();
    refused(plain.get("k"), Kind::Missing, "no table");
    refused(plain.put("k", ""), Kind::Missing, "no table");
    refused(plain.merge_many(ValueKind::Append, &[("k".into(), "")]), Kind::Missing, "no table");
}

#[test]
fn what_only_the_owner_may() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(32 << 20) };
    let path = scratch.path().join("store");
    let store = Store::create(&path, &options).unwrap();
    refused(Store::open(&path), Kind::Busy, "");
    let reader = Store::attach(&path).unwrap();
    assert!(!reader.is_owner() && reader.has_owner().unwrap());
    refused(reader.default_table().put("k", ""), Kind::Invalid, "attached");
    refused(reader.create_table("t", TableOptions::default()), Kind::Invalid, "attached");
    refused(reader.verify(), Kind::Invalid, "attached");
    drop(store);
    assert!(!reader.has_owner().unwrap());
    let store = Store::open(&path).unwrap();
    assert!(store.is_owner());
    refused(Store::remove(&path), Kind::Busy, "owns");
    drop(store);
    Store::remove(&path).unwrap();
    assert!(!path.exists() && scratch.path().read_dir().unwrap().next().is_none());
    refused(Store::attach(&path), Kind::Missing, "");
}

/// A store that is full still lets go: tables are emptied and dropped, keys deleted.
#[test]
fn a_full_store_can_be_emptied() {
    let store = small();
    let table = store.create_table("bulk", TableOptions::default()).unwrap();
    let fill = || (0..).map(|key| table.put(key, [7; 1000])).find_map(Result::err).unwrap();
    for _ in 0..3 {
        assert_eq!(fill().kind(), Kind::Full);
        // To note when it ends would take eight bytes more.
        let ends = |at| (1..5000_u64).find_map(|key| table.expire(key, at).err()).map(|error| error.kind());
        assert_eq!(ends(std::time::SystemTime::now() + std::time::Duration::from_hours(1)), Some(Kind::Full));
        assert!(table.expire(0, std::time::UNIX_EPOCH).unwrap() && !table.contains(0).unwrap());
        assert!(table.delete(1).unwrap());
        store.empty_table("bulk").unwrap();
        assert_eq!(table.iter().count(), 0);
    }
    assert_eq!(fill().kind(), Kind::Full);
    store.drop_table("bulk").unwrap();
    store.default_table().put("key", vec![0; 5 << 20]).unwrap();
}

/// To drop or to empty a table makes the list of them longer, for a while.
#[test]
fn a_full_store_lets_go_of_tables_whose_list_has_no_room_left() {
    let store = Store::anonymous(&Options { cleaners: 0, ..Options::with_limit(32 << 20) }).unwrap();
    // Each takes sixteen bytes more than its name, and so does the default table; the list has a checksum,
    // and begins with 2048 bytes.
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let names = letters.map(|letter| letter.repeat(if letter == "h" { 104 } else { 255 }));
    assert_eq!(names.iter().map(|name| 16 + name.len()).sum::<usize>() + 16 + "default".len() + 8, 2048);
    for name in &names {
        store.create_table(name, TableOptions::default()).unwrap();
    }
    // To the last byte: what is new, and what takes the place of something shorter, which goes elsewhere.
    for (first, len) in [(0, 1000), (1 << 20, 0), (0, 1001)] {
        let fill = |key: u64| store.default_table().put(key, vec![7; len]).err();
        assert_eq!((first..first + (1 << 20)).find_map(fill).unwrap().kind(), Kind::Full);
    }
    let refused = store.create_table("one more", TableOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), Kind::Full, "{refused}");
    store.empty_table(&names[0]).unwrap();
    store.drop_table(&names[1]).unwrap();
}
