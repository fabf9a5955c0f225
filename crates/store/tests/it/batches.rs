//! Batches: all of one or nothing, and its operations see each other.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, SystemTime};

use hammerspace_store::{
    Batch, BatchOutcome, Condition, Key, Kind, Operation, Options, Reply, Request, Table, TableOptions, ValueKind,
};

use crate::sound::Store;

fn store(limit: u64) -> Store {
    Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(limit) }).unwrap()
}

fn commit(store: &Store, batch: &Batch) -> Vec<Reply> {
    store.commit(batch).unwrap().done().expect("nothing refuses it")
}

fn number(table: &Table, key: &str) -> Option<i64> {
    table.get(key).unwrap().and_then(|value| value.number())
}

fn put(value: &[u8]) -> Request<'_> {
    Operation::Put { kind: ValueKind::Bytes, value, expiry: None }.into()
}

#[test]
fn operations_on_a_key_see_those_before_them() {
    let store = store(64 << 20);
    for versions in [true, false] {
        let table = store
            .create_table(&format!("table {versions}"), TableOptions { versions, ..TableOptions::default() })
            .unwrap();
        table.append("log", "a").unwrap();
        let mut batch = Batch::new();
        batch
            .merge(&table, "log", ValueKind::Append, "b")
            .get(&table, "log")
            .merge(&table, "log", ValueKind::Append, "c")
            .add(&table, "new", put(b"1").when(Condition::Absent))
            .add(&table, "new", put(b"2").when(Condition::Present).returning_old())
            .merge(&table, "sum", ValueKind::Add, 5_i64.to_le_bytes())
            .merge(&table, "sum", ValueKind::Add, 6_i64.to_le_bytes())
            .put(&table, "gone", "x")
            .delete(&table, "gone")
            .get(&table, "gone")
            .merge(&table, "kind", ValueKind::Max, 1_i64.to_le_bytes())
            .put(&table, "kind", "bytes");
        let replies = commit(&store, &batch);
        assert_eq!(replies[1].old.as_deref(), Some(&b"ab"[..]));
        assert_eq!(replies[2].len, 3);
        assert_eq!((replies[3].before, replies[4].old.as_deref()), (None, Some(&b"1"[..])));
        assert_eq!((replies[5].number, replies[6].number), (Some(5), Some(11)));
        assert_eq!((replies[9].before, &replies[9].old), (None, &None));
        for (key, value) in [("log", &b"abc"[..]), ("new", b"2"), ("kind", b"bytes")] {
            let there = table.get(key).unwrap().unwrap();
            assert_eq!(there.bytes, value);
            assert_eq!(there.meta.version.is_some(), versions);
        }
        let there = table.get("log").unwrap().unwrap();
        assert_eq!((replies[0].version, replies[2].version), (there.meta.version, there.meta.version));
        assert_eq!((number(&table, "sum"), table.contains("gone").unwrap()), (Some(11), false));
        assert_eq!(table.len().unwrap(), 4);
    }
}

#[test]
fn expiries_come_and_go_in_a_batch() {
    let store = store(64 << 20);
    let table = store.default_table();
    let later = SystemTime::now() + Duration::from_hours(1);
    table.append("log", "a").unwrap();
    table.put("ends", "x").unwrap();
    let mut batch = Batch::new();
    batch
        .expire(table, "log", Some(later))
        .merge(table, "log", ValueKind::Append, "b")
        .expire(table, "ends", Some(SystemTime::UNIX_EPOCH))
        .get(table, "ends")
        .expire(table, "nobody", None)
        .add(table, "stays", Operation::Put { kind: ValueKind::Bytes, value: b"x", expiry: Some(later) })
        .expire(table, "stays", None);
    let replies = commit(&store, &batch);
    assert_eq!(
        replies.iter().map(|reply| reply.is_done).collect::<Vec<_>>(),
        [true, true, true, true, false, true, true]
    );
    let there = table.get("log").unwrap().unwrap();
    assert!(there.bytes == b"ab" && there.meta.expiry.is_some());
    assert_eq!((replies[3].before, table.contains("ends").unwrap()), (None, false));
    assert_eq!(table.meta("stays").unwrap().unwrap().expiry, None);
}

/// Of a batch that is refused nothing is there, whichever operation it is.
#[test]
fn a_batch_that_is_refused_changes_nothing() {
    let store = store(64 << 20);
    let table = store.default_table();
    table.put("old", "old").unwrap();
    table.put("text", "text").unwrap();
    let before: Vec<_> = table.iter().map(Result::unwrap).collect();
    let whole = |batch: &mut Batch| {
        batch.put(table, "old", "new").put(table, "new", vec![1; 100_000]).delete(table, "text");
    };
    let mut batch = Batch::new();
    whole(&mut batch);
    batch.add(table, "old", put(b"x").when(Condition::Absent));
    let BatchOutcome::Refused { operation, there } = store.commit(&batch).unwrap() else { panic!("it was made") };
    assert_eq!((operation, there.map(|there| there.version)), (3, Some(None)), "the batch's own, without a version");
    let mut batch = Batch::new();
    batch.merge(table, "old", ValueKind::Add, 1_i64.to_le_bytes());
    whole(&mut batch);
    let error = store.commit(&batch).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.to_string().contains("operation 0 of the batch: add cannot be merged"), "{error}");
    let mut batch = Batch::new();
    whole(&mut batch);
    batch.merge(table, "n", ValueKind::Add, i64::MAX.to_le_bytes()).merge(
        table,
        "n",
        ValueKind::Add,
        1_i64.to_le_bytes(),
    );
    assert!(store.commit(&batch).unwrap_err().to_string().contains("operation 4 of the batch"));
    assert_eq!(table.iter().map(Result::unwrap).collect::<Vec<_>>(), before);
}

#[test]
fn a_batch_may_be_as_large_as_is_said_and_no_larger() {
    let store = store(256 << 20);
    let table = store.create_table("plain", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let mut batch = Batch::new();
    for key in 0..Batch::OPERATIONS_MAX as u64 {
        batch.put(&table, key, key.to_le_bytes());
    }
    assert_eq!(commit(&store, &batch).len(), Batch::OPERATIONS_MAX);
    assert_eq!(table.len().unwrap(), Batch::OPERATIONS_MAX as u64);
    batch.put(&table, "one more", "");
    let error = store.commit(&batch).unwrap_err();
    assert!(error.kind() == Kind::Invalid && error.to_string().contains("65537 operations"), "{error}");
    batch.clear();
    for key in 0..256 {
        batch.put(&table, key, vec![key as u8; (64 << 10) - 8]);
    }
    assert_eq!(batch.bytes(), Batch::BYTES_MAX);
    commit(&store, &batch);
    assert_eq!(table.get(255).unwrap().unwrap().bytes, vec![255; (64 << 10) - 8]);
    batch.put(&table, "x", "");
    assert!(store.commit(&batch).unwrap_err().to_string().contains("16777217 bytes"));
    assert!(!table.contains("one more").unwrap() && !table.contains("x").unwrap());
}

/// And those that it replaced leave no parts behind, which `verify` would find.
#[test]
fn long_values_take_part() {
    let store = store(64 << 20);
    let table = store.default_table();
    table.append("log", vec![1; 60_000]).unwrap();
    table.append("longer", vec![1; 200_000]).unwrap();
    table.put("replaced", vec![2; 200_000]).unwrap();
    table.put("deleted", vec![3; 200_000]).unwrap();
    let mut batch = Batch::new();
    for _ in 0..10 {
        batch.merge(table, "log", ValueKind::Append, vec![4; 10_000]);
    }
    batch.merge(table, "longer", ValueKind::Append, "end").put(table, "replaced", "short").delete(table, "deleted");
    batch.put(table, "new", vec![5; 100_000]).expire(table, "longer", None).get(table, "longer");
    let replies = commit(&store, &batch);
    assert_eq!(replies[9].len, 160_000);
    let longer = [vec![1; 200_000], b"end".to_vec()].concat();
    assert_eq!(replies.last().unwrap().old.as_ref(), Some(&longer));
    assert_eq!(table.get("longer").unwrap().unwrap().bytes, longer);
    assert_eq!(table.get("log").unwrap().unwrap().bytes, [vec![1; 60_000], vec![4; 100_000]].concat());
    assert_eq!(table.get("new").unwrap().unwrap().bytes, vec![5; 100_000]);
    assert_eq!(table.get("replaced").unwrap().unwrap().bytes, b"short");
    // A condition on what is in parts, and a number of parts that exceeds all notes there are.
    let mut batch = Batch::new();
    for key in 0..100 {
        batch.put(table, key, vec![key as u8; 70_000]);
    }
    commit(&store, &batch);
    assert!((0..100).all(|key| table.get(key).unwrap().unwrap().bytes == vec![key as u8; 70_000]));
    batch.add(table, "log", put(b"").when(Condition::Absent));
    assert!(store.commit(&batch).unwrap().done().is_none());
    assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
}

#[test]
fn a_batch_that_finds_no_room_changes_nothing() {
    let store = store(16 << 20);
    let table = store.default_table();
    let full = (0_u64..1 << 20).find(|key| table.put(*key, [7; 1000]).is_err()).unwrap();
    let mut batch = Batch::new();
    batch.put(table, 0, "changed").delete(table, 1);
    for key in full..full + 4000 {
        batch.put(table, key, [8; 1000]);
    }
    assert_eq!(store.commit(&batch).unwrap_err().kind(), Kind::Full);
    batch.put(table, "long", vec![9; 10_000_000]);
    assert_eq!(store.commit(&batch).unwrap_err().kind(), Kind::Full);
    assert_eq!((table.len().unwrap(), table.get(0).unwrap().unwrap().bytes), (full, vec![7; 1000]));
    // What takes the place of as much, and deletes, find room.
    let mut batch = Batch::new();
    for key in 0..100 {
        batch.put(table, key, [9; 1000]).delete(table, 100 + key);
    }
    commit(&store, &batch);
    assert_eq!(table.len().unwrap(), full - 100);
}

#[test]
fn tables_come_and_go() {
    let store = store(64 << 20);
    let table = store.create_table("words", TableOptions::default()).unwrap();
    let mut batch = Batch::new();
    batch.put(&table, "a", "1").put(store.default_table(), "a", "1");
    commit(&store, &batch);
    store.empty_table("words").unwrap();
    commit(&store, &batch);
    assert_eq!(table.iter().count(), 1);
    store.drop_table("words").unwrap();
    assert_eq!(store.commit(&batch).unwrap_err().kind(), Kind::Missing);
    let other = self::store(64 << 20);
    assert_eq!(other.commit(&batch).unwrap_err().kind(), Kind::Invalid);
    let mut batch = Batch::new();
    let plain = store.create_table("plain", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    batch.get(&plain, "x").add(&plain, "x", put(b"").when(Condition::Version(7)));
    let error = store.commit(&batch).unwrap_err();
    assert!(error.to_string().contains("operation 1 of the batch"), "{error}");
    assert_eq!(commit(&store, &Batch::new()), []);
}

const ACCOUNTS: u64 = 50;

/// Threads transfer between accounts, and look at the sum of all. Says how often it was another.
fn transfers(transfer: impl Fn(&Store, &Table, u64, u64) + Sync) -> usize {
    let store = Store::anonymous(&Options { cleaners: 1, writers: 4, ..Options::with_limit(32 << 20) }).unwrap();
    let table = store.create_table("accounts", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let mut look = Batch::new();
    for account in 0..ACCOUNTS {
        table.add(account, 100).unwrap();
        look.get(&table, account);
    }
    let is_over = AtomicBool::new(false);
    let mut wrong = 0;
    thread::scope(|scope| {
        for seed in 0..2 {
            let (store, table, is_over, transfer) = (&store, &table, &is_over, &transfer);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(seed);
                while !is_over.load(Relaxed) {
                    transfer(store, table, rng.u64(..ACCOUNTS), rng.u64(..ACCOUNTS));
                }
            });
        }
        // Somebody else changes what is in the same homes.
        scope.spawn(|| {
            let mut rng = fastrand::Rng::with_seed(7);
            while !is_over.load(Relaxed) {
                table.put(rng.u64(1000..1500), [1; 40]).unwrap();
            }
        });
        for _ in 0..500 {
            let sum: i64 = commit(&store, &look).iter().map(number_of).sum();
            wrong += usize::from(sum != 100 * ACCOUNTS.cast_signed());
        }
        is_over.store(true, Relaxed);
    });
    wrong
}

fn number_of(reply: &Reply) -> i64 {
    i64::from_le_bytes(reply.old.as_deref().unwrap().try_into().unwrap())
}

#[test]
fn the_reads_of_a_batch_see_one_instant() {
    let wrong = transfers(|store, table, from, to| {
        let mut batch = Batch::new();
        batch.merge(table, from, ValueKind::Add, (-1_i64).to_le_bytes());
        batch.merge(table, to, ValueKind::Add, 1_i64.to_le_bytes());
        commit(store, &batch);
    });
    assert_eq!(wrong, 0);
}

/// A batch that is applied by halves.
#[test]
fn canary_a_transfer_in_two_steps_is_noticed() {
    let wrong = transfers(|_, table, from, to| {
        table.add(from, -1).unwrap();
        // On a busy machine, too, many of the looks fall between the halves.
        thread::sleep(Duration::from_micros(100));
        table.add(to, 1).unwrap();
    });
    assert!(wrong > 0);
}

/// One that is committed again does the same again.
#[test]
fn a_batch_can_be_committed_again() {
    let store = store(64 << 20);
    let table = store.default_table();
    let mut batch = Batch::new();
    batch.merge(table, Key::Integer(1), ValueKind::Add, 1_i64.to_le_bytes());
    let first = commit(&store, &batch)[0].version;
    assert_ne!(first, commit(&store, &batch)[0].version);
    assert_eq!(table.get(1).unwrap().unwrap().number(), Some(2));
}
