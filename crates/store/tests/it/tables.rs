//! Tables come, go and are emptied, while handles in this process and others are at work.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hammerspace_store::{Kind, Options, Put, TableOptions};

use crate::small;
use crate::sound::Store;

fn names(store: &Store) -> Vec<String> {
    store.tables().unwrap().into_iter().map(|table| table.name).collect()
}

#[test]
fn a_handle_follows_its_name() {
    let store = small();
    let old = store.create_table("words", TableOptions::default()).unwrap();
    old.put("key", "value").unwrap();
    store.drop_table("words").unwrap();
    assert_eq!(names(&store), ["default"]);
    assert_eq!(old.get("key").unwrap_err().kind(), Kind::Missing);
    store.create_table("words", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    assert_eq!((old.get("key").unwrap(), old.put("key", "new").unwrap()), (None, None));
    assert!(!old.has_versions().unwrap());
    assert_eq!(old.clone().iter().count(), 1);
}

#[test]
fn tables_do_not_see_each_other() {
    let store = small();
    let one = store.create_table("one", TableOptions::default()).unwrap();
    let two = store.create_table("two", TableOptions::default()).unwrap();
    one.put(7, "one").unwrap();
    assert_eq!(two.get(7).unwrap(), None);
    two.put(7, "two").unwrap();
    store.empty_table("one").unwrap();
    assert_eq!((one.iter().count(), two.iter().count()), (0, 1));
    assert_eq!(&*two.get(7).unwrap().unwrap(), b"two");
}

#[test]
fn readers_and_successors_see_the_tables_there_are() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(32 << 20) };
    let path = scratch.path().join("store");
    let store = Store::create(&path, &options).unwrap();
    let reader = Store::attach(&path).unwrap();
    store.create_table("words", TableOptions::default()).unwrap().put("key", "value").unwrap();
    let theirs = reader.table("words").unwrap();
    assert!(theirs.contains("key").unwrap());
    store.empty_table("words").unwrap();
    assert!(!theirs.contains("key").unwrap());
    store.table("words").unwrap().put("key", "again").unwrap();
    assert!(theirs.contains("key").unwrap());
    store.drop_table("words").unwrap();
    assert_eq!(theirs.get("key").unwrap_err().kind(), Kind::Missing);
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!((names(&store), names(&reader)), (vec!["default".to_string()], vec!["default".to_string()]));
}

/// Ends the writers, also when the test fails.
struct Over<'f>(&'f AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Nothing that was written before a table was emptied shows after, and nobody fails.
#[test]
fn a_table_is_emptied_under_fire() {
    let store = small();
    let table = store.create_table("busy", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let (life, is_over) = (RwLock::new(0_u64), AtomicBool::new(false));
    thread::scope(|scope| {
        let write = || {
            let table = table.clone();
            for key in (0..100_u64).cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // Held while writing: when the life goes on, whatever was written in it is written.
                let life = life.read().unwrap();
                table.put(key, life.to_le_bytes()).unwrap();
            }
        };
        let writers = [scope.spawn(write), scope.spawn(write)];
        let over = Over(&is_over);
        for next in 1..=100 {
            *life.write().unwrap() = next;
            store.empty_table("busy").unwrap();
            for key in 0..100_u64 {
                if let Some(value) = table.get(key).unwrap() {
                    let seen = u64::from_le_bytes(value.bytes.try_into().unwrap());
                    assert!(seen >= next, "life {seen} shows in life {next}");
                }
            }
        }
        drop(over);
        for writer in writers {
            writer.join().unwrap();
        }
    });
}

/// While its records cannot be removed yet, who writes to it in a full store waits: there is room as soon as
/// they can.
#[test]
fn a_full_table_that_is_emptied_under_fire_is_not_full() {
    let store = small();
    let table = store.create_table("busy", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let keys = (0..1 << 20).find(|key| table.put(*key, [1; 100]).is_err()).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let write = |seed| {
            let (mut rng, table, is_over) = (fastrand::Rng::with_seed(seed), table.clone(), &is_over);
            scope.spawn(move || {
                // As much as was there, before it is emptied again.
                while !is_over.load(Ordering::Relaxed) {
                    table.put(rng.u64(..keys), [2; 100]).unwrap();
                }
            })
        };
        let writers = [write(1), write(2), write(3)];
        let over = Over(&is_over);
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(30));
            store.empty_table("busy").unwrap();
        }
        drop(over);
        for writer in writers {
            writer.join().unwrap();
        }
    });
}

/// What long values take comes back with their table, and when they expire.
#[test]
fn long_values_go_with_their_table() {
    let store = small();
    let table = store.create_table("long", TableOptions::default()).unwrap();
    for round in 0..30 {
        for key in 0..8_u64 {
            let put = Put::default().ttl(if round % 2 == 0 { Duration::from_hours(1) } else { Duration::ZERO });
            let done = table.put_with(key, vec![7; 1 << 20], &put).unwrap_or_else(|error| panic!("{round}: {error}"));
            assert!(done.is_done());
        }
        store.empty_table("long").unwrap();
    }
    let wait = Instant::now();
    while store.verify().unwrap().records > 1 {
        assert!(wait.elapsed() < Duration::from_mins(1), "{:?}", store.verify());
        thread::sleep(Duration::from_millis(20));
    }
}
