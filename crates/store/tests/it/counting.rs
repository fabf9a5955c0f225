//! Kind `hll`: what counts distinct elements, in tables.

use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hammerspace_os::process::fork::fork;
use hammerspace_store::hll::{Hll, HllBuf, Params, hash};
use hammerspace_store::{Batch, Key, Kind, Options, Put, TableOptions, ValueKind};

use crate::small;
use crate::sound::Store;

fn hashes(elements: impl Iterator<Item = i64>) -> Vec<u64> {
    elements.map(|element| hash::bigint(element, 0)).collect()
}

fn hll(params: Params, elements: impl Iterator<Item = i64>) -> HllBuf {
    let mut hll = HllBuf::new(params);
    hll.add_many(&hashes(elements));
    hll
}

#[test]
fn a_hash_many_and_another_set_come_to_their_union() {
    let store = small();
    let table = store.default_table();
    table.count_add("day", &[hash::bigint(0, 0)]).unwrap();
    assert_eq!(table.count("day").unwrap(), Some(1.0));
    table.count_add("day", &hashes(0..100)).unwrap();
    assert_eq!(table.count("day").unwrap(), Some(100.0), "a list is exact");
    table.count_merge("day", &hll(Params::default(), 50..5000)).unwrap();
    let many: Vec<_> = hashes(4000..6000).into_iter().map(|hash| (Key::from("day"), hash)).collect();
    table.count_add_many(&many).unwrap();
    let all = hll(Params::default(), 0..6000);
    assert_eq!(table.hll("day").unwrap().unwrap(), all);
    assert_eq!(table.count("day").unwrap(), all.as_hll().estimate());
    assert_eq!(table.meta("day").unwrap().unwrap().kind, ValueKind::Hll);
    assert_eq!((table.count("night").unwrap(), table.hll("night").unwrap()), (None, None));
}

/// Or else the log would fill with what says nothing new.
#[test]
fn a_change_that_changes_no_register_writes_nothing() {
    let store = small();
    let table = store.default_table();
    for elements in [3, 300, 30_000] {
        table.count_add("day", &hashes(0..elements)).unwrap();
        let version = table.meta("day").unwrap().unwrap().version;
        let again = hashes(0..elements);
        assert_eq!(table.count_add("day", &again).unwrap().version, version);
        assert_eq!(table.count_merge("day", &hll(Params::default(), 0..elements / 2)).unwrap().version, version);
        table.count_add_many(&again.iter().map(|hash| (Key::from("day"), *hash)).collect::<Vec<_>>()).unwrap();
        assert_eq!(table.meta("day").unwrap().unwrap().version, version, "{elements} elements");
    }
}

#[test]
fn a_week_is_the_union_of_its_days() {
    let store = small();
    let table = store.default_table();
    for day in 0..7_i64 {
        table.count_add(format!("day {day}").as_bytes(), &hashes(day * 1000..day * 1000 + 2000)).unwrap();
    }
    table.put("day of rest", "none").unwrap();
    let week = hll(Params::default(), 0..8000);
    let days: Vec<String> = (0..8).map(|day| format!("day {day}")).collect();
    let keys: Vec<_> = days.iter().map(|day| Key::from(day.as_str())).collect();
    assert_eq!(table.count_union(&keys).unwrap(), week, "the eighth is not there");
    assert_eq!(table.count_union_prefix(b"day ").unwrap(), week);
    assert_eq!(table.count_union_prefix(b"night").unwrap(), HllBuf::new(Params::default()));
    let error = table.count_union(&["day of rest".into()]).unwrap_err();
    assert_eq!((error.kind(), error.finding()), (Kind::Invalid, "a value of kind bytes counts no distinct elements"));
}

#[test]
fn parameters_are_the_tables_and_outlive_its_owner() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options { region: Some(scratch.path().to_path_buf()), cleaners: 0, ..Options::with_limit(64 << 20) };
    let path = scratch.path().join("store");
    let params = Params::new(14, 6, 0, false).unwrap();
    let store = Store::create(&path, &options).unwrap();
    let fine = store.create_table("fine", TableOptions { hll: params, ..TableOptions::default() }).unwrap();
    fine.count_add("day", &hashes(0..10)).unwrap();
    drop((fine, store));

    let store = Store::open_with(&path, &options).unwrap();
    let (fine, default) = (store.table("fine").unwrap(), store.default_table());
    assert_eq!((fine.hll_params().unwrap(), default.hll_params().unwrap()), (params, Params::default()));
    assert_eq!(store.tables().unwrap().iter().map(|table| table.hll.log2m()).collect::<Vec<_>>(), [11, 14]);
    assert_eq!(fine.hll("day").unwrap().unwrap(), hll(params, 0..10));
    store.empty_table("fine").unwrap();
    assert_eq!(fine.hll_params().unwrap(), params, "an empty table keeps them");

    // The same name, other parameters: a handle follows.
    store.drop_table("fine").unwrap();
    store.create_table("fine", TableOptions::default()).unwrap();
    assert_eq!(fine.hll_params().unwrap(), Params::default());
    let error = fine.count_merge("day", &hll(params, 0..10)).unwrap_err();
    assert_eq!(
        (error.kind(), error.finding(), error.advice()),
        (
            Kind::Invalid,
            "an HLL of log2m 14 and regwidth 6 cannot be united with one of log2m 11 and regwidth 5",
            Some("count both with the same log2m and regwidth")
        )
    );
    assert_eq!(fine.len().unwrap(), 0);
    let put = Put::default().kind(ValueKind::Hll);
    assert_eq!(fine.put_with("day", hll(params, 0..1).as_bytes(), &put).unwrap_err().kind(), Kind::Invalid);
    // How it is stored may differ: a value carries its own.
    let lists = Params::new(11, 5, 64, true).unwrap();
    fine.count_merge("day", &hll(lists, 0..10)).unwrap();
    fine.count_add("day", &hashes(10..20)).unwrap();
    assert_eq!(fine.hll("day").unwrap().unwrap(), hll(lists, 0..20));
}

#[test]
fn values_of_other_writers_become_ours_and_malformed_ones_are_refused() {
    let store = small();
    let table = store.default_table();
    let put = Put::default().kind(ValueKind::Hll);
    // FULL with two registers, as java-hll may leave it.
    let full = [&[0x14, 0x64, 0x40][..], &[0, 0, 0x01, 0x03, 0, 0, 0, 0]].concat();
    let four =
        store.create_table("4", TableOptions { hll: Hll::parse(&full).unwrap().params(), ..TableOptions::default() });
    let four = four.unwrap();
    assert!(four.put_with("day", &full, &put).unwrap().is_done());
    assert_eq!(four.get("day").unwrap().unwrap().bytes, [0x13, 0x64, 0x40, 0x51, 0x73]);
    four.merge("night", ValueKind::Hll, &full).unwrap();
    assert_eq!(four.get("night").unwrap().unwrap().bytes, [0x13, 0x64, 0x40, 0x51, 0x73]);
    for error in [
        table.put_with("day", [0x13, 0x8b, 0x7f, 0, 0x21, 0], &put).unwrap_err(),
        table.merge("day", ValueKind::Hll, [0x13, 0x8b, 0x7f, 0, 0x21, 0]).unwrap_err(),
        table.merge_many(ValueKind::Hll, &[("day".into(), [0x13, 0x8b, 0x7f, 0, 0x21, 0])]).unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.offset()), (Kind::Corrupt, Some(5)), "{error}");
    }
    assert!(!table.contains("day").unwrap());
    table.put("day", "text").unwrap();
    let error = table.count_add("day", &[1]).unwrap_err();
    assert_eq!((error.kind(), error.finding()), (Kind::Invalid, "hll cannot be merged into a value of kind bytes"));
    assert_eq!(table.count("day").unwrap_err().kind(), Kind::Invalid);
}

/// Threads add to the same keys, in a store so small that its cleaner must copy them; a foreign reader sees
/// each set grow, and no set that was never there.
#[test]
fn threads_add_while_others_read_and_the_cleaner_works() {
    const KEYS: u64 = 300;
    let store = Store::anonymous(&Options { cleaners: 1, ..Options::with_limit(32 << 20) }).unwrap();
    let table = store.default_table();
    let reader = table.clone();
    let child = fork(move || {
        let mut last = vec![0.0; KEYS as usize];
        let started = Instant::now();
        while last.iter().any(|count| *count < 2500.0) {
            if started.elapsed() > Duration::from_mins(2) {
                return 2;
            }
            for (key, last) in (0..KEYS).zip(&mut last) {
                let now = reader.count(key).unwrap().unwrap_or(0.0);
                if now < *last * 0.8 {
                    return 1;
                }
                *last = now;
            }
        }
        0
    });
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let mut rng = Rng::with_seed(thread);
                for round in 0..30 {
                    for _ in 0..KEYS {
                        let key = rng.u64(..KEYS);
                        let first = (round * 4 + i64::try_from(thread).unwrap()) * 25;
                        table.count_add(key, &hashes(first..first + 25)).unwrap();
                    }
                }
                for key in 0..KEYS {
                    table.count_add(key, &hashes(0..3000)).unwrap();
                }
            });
        }
    });
    assert_eq!(child.wait(), Some(0));
    let all = hll(Params::default(), 0..3000);
    for key in 0..KEYS {
        assert_eq!(table.hll(key).unwrap().unwrap(), all);
    }
}

/// Whatever the owner had added when it was killed is there, and nothing else.
#[test]
fn a_killed_owner_leaves_sets_whole() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options { region: Some(scratch.path().to_path_buf()), cleaners: 1, ..Options::with_limit(32 << 20) };
    let path = scratch.path().join("store");
    drop(Store::create(&path, &options).unwrap());
    let mut before = HllBuf::new(Params::default());
    for round in 0..6_i64 {
        let first = round * 1_000_000;
        let owner = fork(|| {
            let store = hammerspace_store::Store::open_with(&path, &options).unwrap();
            for element in first.. {
                store.default_table().count_add("set", &[hash::bigint(element, 0)]).unwrap();
                store.default_table().max("done", element).unwrap();
            }
            0
        });
        let reader = hammerspace_store::Store::attach(&path).unwrap();
        let done = || reader.default_table().get("done").unwrap().and_then(|value| value.number()).unwrap_or(-1);
        while done() < first + 500 * (round + 1) {
            thread::yield_now();
        }
        owner.kill();
        let store = Store::open_with(&path, &options).unwrap();
        let there = store.default_table().hll("set").unwrap().unwrap();
        before.add_many(&hashes(first..=done()));
        let mut with_next = before.clone();
        with_next.add(hash::bigint(done() + 1, 0));
        assert!(there == before || there == with_next, "round {round}, up to {}", done());
        before = there;
    }
}

/// A merge in a batch sees what those before it have merged; parameters of each table are checked before
/// anything is made.
#[test]
fn batches_count() {
    let store = small();
    let params = Params::new(12, 5, -1, true).unwrap();
    let fine = store.create_table("fine", TableOptions { hll: params, ..TableOptions::default() }).unwrap();
    let of = |params, range| hll(params, range).into_bytes();
    let mut batch = Batch::new();
    batch
        .merge(store.default_table(), "day", ValueKind::Hll, of(Params::default(), 0..1000))
        .merge(store.default_table(), "day", ValueKind::Hll, of(Params::default(), 500..1500))
        .merge(&fine, "day", ValueKind::Hll, of(params, 0..10));
    store.commit(&batch).unwrap().done().unwrap();
    assert_eq!(store.default_table().hll("day").unwrap().unwrap(), hll(Params::default(), 0..1500));
    assert_eq!(fine.count("day").unwrap(), Some(10.0));
    batch.merge(&fine, "night", ValueKind::Hll, of(Params::default(), 0..1));
    let error = store.commit(&batch).unwrap_err();
    assert!(
        error.kind() == Kind::Invalid && error.finding().starts_with("operation 3 of the batch: an HLL"),
        "{error}"
    );
    assert!(!fine.contains("night").unwrap());
}
