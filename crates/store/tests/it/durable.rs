//! Durable stores: what the machine's restart leaves of them, which takes the region and lets the directory
//! be.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hammerspace_os::process::fork::fork;
use hammerspace_store::{Batch, Durability, Entry, Kind, Options, Put, Store, TableInfo, TableOptions, ValueKind};

fn options() -> Options {
    Options::with_limit(64 << 20)
}

fn create(path: &Path, level: Durability) -> Store {
    Store::create_durable(path, &options(), Some(level)).unwrap()
}

fn region(path: &Path) -> PathBuf {
    let description = std::fs::read_to_string(path.join("store.toml")).unwrap();
    description.split('\'').nth(1).unwrap().into()
}

/// As a restart does: memory is gone, and nobody owns the store.
fn restart(path: &Path) {
    std::fs::remove_file(region(path)).unwrap();
}

type Everything = Vec<(TableInfo, Vec<Entry>)>;

fn everything(store: &Store) -> Everything {
    let of = |info: TableInfo| {
        let mut entries: Vec<_> = store.table(&info.name).unwrap().iter().map(Result::unwrap).collect();
        entries.sort_by(|one, other| one.key.cmp(&other.key));
        (info, entries)
    };
    store.tables().unwrap().into_iter().map(of).collect()
}

/// Something of everything.
fn fill(store: &Store) {
    let table = store.default_table();
    let counts = store.create_table("counts", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    for round in 0..8_u64 {
        for key in 0..50_u64 {
            table.put(key, vec![round as u8; (key * 13 + round) as usize]).unwrap();
            table.append("log", format!("{round}.{key} ")).unwrap();
            counts.add(key % 7, 3).unwrap();
            counts.append(&format!("text {}", key % 3), vec![7; 50]).unwrap();
        }
    }
    (0..50).step_by(3).for_each(|key| assert!(table.delete(key).unwrap()));
    let soon = table.put_with("soon", "x", &Put::default().ttl(Duration::from_hours(5)));
    assert!(soon.unwrap().is_done());
    table.put("long", vec![5; 300_000]).unwrap();
    table.merge("longer", ValueKind::Append, vec![6; 100_000]).unwrap();
    table.append("longer", vec![7; 90_000]).unwrap();
    table.put("replaced", vec![5; 200_000]).unwrap();
    table.put("replaced", "short").unwrap();
    table.put("deleted", vec![5; 200_000]).unwrap();
    table.delete("deleted").unwrap();
    for name in ["emptied", "dropped"] {
        store.create_table(name, TableOptions::default()).unwrap().put("a", "1").unwrap();
    }
    store.empty_table("emptied").unwrap();
    store.table("emptied").unwrap().put("b", "2").unwrap();
    store.drop_table("dropped").unwrap();
    let mut batch = Batch::new();
    for key in 0..20_u64 {
        batch.put(&counts, key + 1000, "b");
    }
    assert!(store.commit(&batch).unwrap().done().is_some());
}

#[test]
fn everything_comes_back_after_a_restart() {
    for level in [Durability::Interval, Durability::Commit] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("store");
        let store = create(&path, level);
        fill(&store);
        let before = everything(&store);
        assert_eq!(before.len(), 3);
        drop(store);
        restart(&path);
        let missing = Store::attach(&path).unwrap_err();
        assert_eq!(missing.kind(), Kind::Missing);
        assert!(missing.advice().unwrap().contains("recover"), "{missing}");
        let store = Store::open(&path).unwrap();
        assert_eq!(everything(&store), before, "{level}");
        assert_eq!(store.durability().unwrap(), level);
        assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
        // And so does what is changed now.
        let newest = before.iter().flat_map(|(_, entries)| entries).filter_map(|entry| entry.value.meta.version).max();
        assert!(store.default_table().put("new", "1").unwrap() > newest, "versions do not come again");
        let before = everything(&store);
        drop(store);
        restart(&path);
        assert_eq!(everything(&Store::open(&path).unwrap()), before);
        Store::remove(&path).unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn what_was_acknowledged_outlives_a_killed_owner_and_a_restart() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    drop(create(&path, Durability::Commit));
    for round in 0..6_u64 {
        let progress = scratch.path().join(format!("progress {round}"));
        let child = fork(|| {
            let store = Store::open(&path).unwrap();
            for key in 0..1000_u64 {
                store.default_table().put(key, format!("{round}")).unwrap();
                std::fs::write(&progress, key.to_string()).unwrap();
                if key == 40 + round {
                    std::process::abort();
                }
            }
            0
        });
        assert_eq!(child.wait(), None, "it was killed");
        if round % 2 == 0 {
            // Somebody adopts the region first.
            drop(Store::open(&path).unwrap());
        }
        restart(&path);
        let store = Store::open(&path).unwrap();
        for key in 0..=40 + round {
            assert_eq!(store.default_table().get(key).unwrap().unwrap().bytes, round.to_string().into_bytes());
        }
    }
}

/// The log of a killed owner may lack deletes that everybody saw.
#[test]
fn a_deleted_key_stays_deleted_when_the_region_was_adopted_before_the_restart() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let store = create(&path, Durability::Interval);
    store.default_table().put("gone", "1").unwrap();
    store.default_table().put("there", "1").unwrap();
    drop(store);
    let child = fork(|| {
        let store = Store::open(&path).unwrap();
        store.default_table().delete("gone").unwrap();
        store.default_table().put("there", "2").unwrap();
        std::process::abort()
    });
    assert_eq!(child.wait(), None);
    drop(Store::open(&path).unwrap());
    restart(&path);
    let store = Store::open(&path).unwrap();
    assert!(!store.default_table().contains("gone").unwrap());
    assert_eq!(store.default_table().get("there").unwrap().unwrap().bytes, b"2");
}

#[test]
fn a_log_that_has_become_long_is_written_anew_and_loses_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let store = create(&path, Durability::Interval);
    let value = vec![1; 4000];
    let mut round = 0_u64;
    // Until the first segment has gone.
    while path.join("log/00000001").exists() {
        for key in 0..300_u64 {
            store.default_table().put(key, &value).unwrap();
            store.default_table().put("round", round.to_string()).unwrap();
        }
        round += 1;
        assert!(round < 1000, "{:?}", store.log_extent());
    }
    let before = everything(&store);
    assert!(store.log_extent().unwrap().appended > 16 << 20);
    drop(store);
    restart(&path);
    assert_eq!(everything(&Store::open(&path).unwrap()), before);
}

#[test]
fn nobody_begins_anew_where_there_is_a_log() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    create(&path, Durability::Interval).default_table().put("a", "1").unwrap();
    restart(&path);
    for level in [Durability::None, Durability::Interval] {
        let error = Store::create_durable(&path, &options(), Some(level)).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{error}");
    }
    let store = Store::open_or_create(&path, &options()).unwrap();
    assert!(store.default_table().contains("a").unwrap());
}

#[test]
fn durability_can_be_turned_on_and_off() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let store = Store::create(&path, &options()).unwrap();
    assert_eq!((store.durability().unwrap(), store.durable()), (Durability::None, 0));
    fill(&store);
    let before = everything(&store);
    drop(store);
    drop(Store::open_durable(&path, Durability::Commit).unwrap());
    restart(&path);
    let store = Store::open(&path).unwrap();
    assert_eq!((everything(&store), store.durability().unwrap()), (before, Durability::Commit));
    drop(store);
    drop(Store::open_durable(&path, Durability::None).unwrap());
    assert!(!path.join("manifest").exists() && !path.join("log").exists());
    restart(&path);
    assert_eq!(Store::open(&path).unwrap_err().kind(), Kind::Missing);
}

#[test]
fn any_process_can_ask_whether_what_it_read_is_on_disk() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let store = create(&path, Durability::Interval);
    let reader = Store::attach(&path).unwrap();
    store.default_table().put("a", "1").unwrap();
    assert!(reader.default_table().contains("a").unwrap());
    let number = reader.last_change();
    let (told, is_told) = std::sync::mpsc::channel();
    store.when_durable(number, move |outcome| told.send(outcome).unwrap()).unwrap();
    is_told.recv().unwrap().unwrap();
    assert!(reader.durable() >= number);
    store.default_table().put("a", "2").unwrap();
    store.sync().unwrap();
    assert_eq!(reader.durable(), reader.last_change());
}

#[test]
fn no_durability_is_promised_in_memory() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = scratch.path().join("store");
    let error = Store::create_durable(&path, &options(), Some(Durability::Commit)).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    let store = Store::create_durable(&path, &options(), None).unwrap();
    assert_eq!(store.durability().unwrap(), Durability::None);
    drop(store);
    Store::remove(&path).unwrap();
}

#[test]
fn a_damaged_log_is_corrupt_and_is_repaired_with_what_is_left() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    let store = create(&path, Durability::Commit);
    for key in 0..100_u64 {
        store.default_table().put(key, "some value").unwrap();
    }
    drop(store);
    restart(&path);
    let segment = path.join("log/00000001");
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert_eq!((error.kind(), error.path()), (Kind::Corrupt, Some(&*segment)));
    assert!(error.offset().is_some());
    let (store, lost) = Store::repair(&path, 64 << 20).unwrap();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!(store.default_table().len().unwrap(), 99);
    drop(store);
    restart(&path);
    assert_eq!(Store::open(&path).unwrap().default_table().len().unwrap(), 99);
}
