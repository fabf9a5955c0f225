//! Verbs one by one, as users meet them.

use std::thread;
use std::time::{Duration, SystemTime};

use hammerspace_memory::{Change, Memory, Old, TableId};
use hammerspace_store::{
    Condition, Cursor, Key, Kind, Operation, Options, Outcome, Put, Request, Table, TableOptions, ValueKind,
};

use crate::small;
use crate::sound::Store;

#[test]
fn handles_go_to_any_thread() {
    fn check<T: Send + Sync + 'static>() {}
    check::<hammerspace_store::Store>();
    check::<Table>();
}

#[test]
fn a_condition_that_does_not_hold_says_what_is_there() {
    let store = small();
    let table = store.default_table();
    let version = table.put("key", "one").unwrap().unwrap();
    let Outcome::Refused { there: Some(there) } = table.put_with("key", "two", &Put::when(Condition::Absent)).unwrap()
    else {
        panic!("it was there")
    };
    assert_eq!((there.version, there.kind), (Some(version), ValueKind::Bytes));
    let put = Put::when(Condition::Version(version));
    let Outcome::Done { version: Some(next), .. } = table.put_with("key", "two", &put).unwrap() else { panic!() };
    assert!(next > version);
    assert!(!table.put_with("key", "three", &put).unwrap().is_done(), "somebody else was first");
    assert!(!table.delete_if("key", Condition::Version(version)).unwrap().is_done());
    assert!(table.delete("key").unwrap() && !table.delete("key").unwrap());
    assert!(table.put("key", "again").unwrap().unwrap() > next, "versions do not begin anew");
}

/// As a later build may have written it, or damage.
#[test]
fn a_value_of_an_unknown_kind_is_read_replaced_and_deleted_as_any() {
    const DEFAULT: TableId = TableId { number: 0, is_versioned: true };
    const UNKNOWN: ValueKind = ValueKind::Other(60);
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options { region: Some(scratch.path().to_path_buf()), cleaners: 0, ..Options::with_limit(64 << 20) };
    let path = scratch.path().join("store");
    drop(Store::create(&path, &options).unwrap());
    let memory = Memory::open(&path, &options).unwrap();
    for key in 0..4 {
        let put = |_: Option<&Old<'_>>| Change::Put { kind: 60, value: b"?"[..].into(), expiry: None };
        memory.update(DEFAULT, Key::Integer(key), put).unwrap();
    }
    drop(memory);
    let store = Store::open_with(&path, &options).unwrap();
    let table = store.default_table();
    let value = table.get(0).unwrap().unwrap();
    assert_eq!((&value[..], value.meta.kind, value.number()), (&b"?"[..], UNKNOWN, None));
    assert_eq!(table.iter().filter(|entry| entry.as_ref().unwrap().value.meta.kind == UNKNOWN).count(), 4);
    assert_eq!(table.add(0, 1).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(table.put_with(0, "?", &Put::default().kind(UNKNOWN)).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(table.merge(0, UNKNOWN, "?").unwrap_err().kind(), Kind::Unsupported);
    let there = |outcome| match outcome {
        Outcome::Done { before, .. } | Outcome::Refused { there: before } => before.map(|before| before.kind),
    };
    let absent = Put::when(Condition::Absent);
    assert_eq!(there(table.put_with(0, "new", &absent).unwrap()), Some(UNKNOWN), "refused");
    assert_eq!(there(table.put_with(0, "new", &Put::default()).unwrap()), Some(UNKNOWN));
    assert_eq!(table.get(0).unwrap().unwrap().bytes, b"new");
    table.put(1, "new").unwrap();
    assert!(table.delete(2).unwrap() && table.get(2).unwrap().is_none());
    assert!(table.expire(3, SystemTime::UNIX_EPOCH).unwrap() && table.get(3).unwrap().is_none());
}

#[test]
fn what_is_known_of_a_key_is_known_without_its_value() {
    let store = small();
    let table = store.default_table();
    let version = table.put_with("long", vec![1; 300_000], &Put::default().ttl(Duration::from_mins(1))).unwrap();
    let meta = table.meta("long").unwrap().unwrap();
    assert_eq!(Some(meta), table.get("long").unwrap().map(|value| value.meta));
    assert!(matches!(version, Outcome::Done { version, .. } if version == meta.version) && meta.expiry.is_some());
    assert_eq!(table.meta(&String::from("none")).unwrap(), None);
    assert!(table.contains(&b"long".to_vec()).unwrap() && !table.contains("lon").unwrap());
}

/// Or else 64 values of 16 MiB would be a gigabyte.
#[test]
fn pages_of_long_values_are_short() {
    let store = Store::anonymous(&Options { cleaners: 0, ..Options::with_limit(128 << 20) }).unwrap();
    let table = store.default_table();
    for key in 0..60 {
        table.put(key, vec![key as u8; 1 << 20]).unwrap();
    }
    let (mut keys, mut next) = (Vec::new(), Some(Cursor::START));
    while let Some(cursor) = next {
        let (page, after) = table.scan(cursor, 64).unwrap();
        // Values that one part of the index names come together.
        assert!(page.len() < 30, "{} values", page.len());
        keys.extend(page.into_iter().map(|entry| u64::from(entry.value[0])));
        next = after;
    }
    keys.sort_unstable();
    assert_eq!(keys, (0..60).collect::<Vec<_>>());
    assert_eq!(table.iter().count(), 60);
    // A page of none would never come to an end.
    assert!(!table.scan(Cursor::START, 0).unwrap().0.is_empty());
}

/// Or else the log would fill with what says nothing new.
#[test]
fn a_number_that_stays_is_not_written_again() {
    let store = small();
    let table = store.default_table();
    assert_eq!((table.min("min", 3).unwrap(), table.max("max", 3).unwrap()), (3, 3));
    let version = |key| table.meta(key).unwrap().unwrap().version;
    let before = (version("min"), version("max"));
    assert_eq!((table.min("min", 5).unwrap(), table.max("max", 1).unwrap()), (3, 3));
    assert_eq!((version("min"), version("max")), before);
    let merged = table.merge("max", ValueKind::Max, 1_i64.to_le_bytes()).unwrap();
    assert_eq!((merged.version, merged.number), (before.1, Some(3)));
    assert_eq!(table.max("max", 4).unwrap(), 4);
    assert!(version("max") > before.1);
}

#[test]
fn what_has_expired_is_not_there() {
    let store = small();
    let table = store.default_table();
    let soon = Put::default().ttl(Duration::from_millis(300));
    assert!(table.put_with("brief", "value", &soon).unwrap().is_done());
    assert!(table.put_with("kept", "value", &soon).unwrap().is_done());
    assert!(table.contains("brief").unwrap() && table.persist("kept").unwrap());
    thread::sleep(Duration::from_millis(310));
    assert_eq!((table.get("brief").unwrap(), table.iter().count()), (None, 1));
    assert!(!table.contains("brief").unwrap() && table.contains("kept").unwrap());
    assert_eq!(&*table.get("kept").unwrap().unwrap(), b"value");
    assert!(!table.persist("brief").unwrap(), "too late");
    assert!(table.put_with("brief", "new", &Put::when(Condition::Absent)).unwrap().is_done());
}

#[test]
fn long_values_keep_their_bytes_when_their_expiry_changes() {
    let store = small();
    let table = store.default_table();
    let long: Vec<u8> = (0..300_000_u32).map(|at| (at / 5) as u8).collect();
    table.put("long", &long).unwrap();
    assert!(table.expire("long", std::time::SystemTime::now() + Duration::from_hours(1)).unwrap());
    let value = table.get("long").unwrap().unwrap();
    assert!(value.bytes == long && value.meta.expiry.is_some());
    assert!(table.delete("long").unwrap());
    assert_eq!(store.verify().unwrap().records, 0, "and no parts of it");
}

#[test]
fn numbers_merge_by_their_kind() {
    let store = small();
    let table = store.default_table();
    assert_eq!((table.add("hits", 5).unwrap(), table.add("hits", -7).unwrap()), (5, -2));
    assert_eq!((table.min("low", 5).unwrap(), table.min("low", 7).unwrap()), (5, 5));
    assert_eq!((table.max("high", 5).unwrap(), table.max("high", 7).unwrap()), (5, 7));
    assert_eq!(table.get("hits").unwrap().unwrap().number(), Some(-2));
    assert_eq!(table.append("log", "one,").unwrap() + table.append("log", "two").unwrap(), 4 + 7);
    assert_eq!(table.get("log").unwrap().unwrap().number(), None);
}

#[test]
fn a_batch_merges_as_one_by_one() {
    let store = small();
    let table = store.create_table("events", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let events: Vec<_> = (0..1000_u64).map(|at| (Key::Integer(at % 77), at.to_le_bytes())).collect();
    table.merge_many(ValueKind::Append, &events).unwrap();
    for key in 0..77_u64 {
        let wanted: Vec<u8> = (key..1000).step_by(77).flat_map(u64::to_le_bytes).collect();
        assert!(table.get(key).unwrap().unwrap().bytes == wanted);
    }
    let counts: Vec<_> = events.iter().map(|(key, _)| (*key, 1_i64.to_le_bytes())).collect();
    let error = table.merge_many(ValueKind::Add, &counts).unwrap_err();
    assert!(error.to_string().contains("add cannot be merged into a value of kind append"), "{error}");
}

#[test]
fn what_appends_write_is_a_multiple_of_what_they_append() {
    const EVENT: &[u8; 20] = &[7; 20];
    for versions in [false, true] {
        let store = small();
        let table = store.create_table("events", TableOptions { versions, ..TableOptions::default() }).unwrap();
        let written = || store.usage().written;
        let (before, mut appended) = (written(), 0);
        for key in 0..64 {
            while table.append(key, EVENT).unwrap() < 65_000 {
                appended += EVENT.len() as u64;
            }
        }
        let written = written() - before;
        assert!(written < 10 * appended, "{written} bytes for {appended}, versions: {versions}");
    }
}

/// Where it lies, elsewhere, and in parts; of even and odd numbers in sequence.
#[test]
fn each_append_gives_a_version_that_is_told_and_holds() {
    for others in 0..2 {
        let store = small();
        let table = store.default_table();
        (0..others).for_each(|key| assert!(table.put(key, "").unwrap().is_some()));
        let (mut last, mut value) = (0, Vec::new());
        for len in (0..65_500).step_by(100).chain(65_500..65_600) {
            let bytes = vec![len as u8; len + 1 - value.len()];
            let merged = table.merge("log", ValueKind::Append, &bytes).unwrap();
            value.extend_from_slice(&bytes);
            let there = table.get("log").unwrap().unwrap();
            assert!(there.bytes == value && there.meta.version == merged.version, "{len}");
            assert!(merged.version > Some(last) && merged.len == value.len() as u64, "{len}");
            assert!(!table.delete_if("log", Condition::Version(last)).unwrap().is_done(), "{len}");
            let is_new = merged.version.unwrap() >> 16 > last >> 16;
            assert!(is_new || value.len() < 1 << 16, "a length that versions of one number have no room for");
            last = merged.version.unwrap();
        }
        assert!(table.delete_if("log", Condition::Version(last)).unwrap().is_done());
    }
}

#[test]
fn to_append_nothing_takes_nothing() {
    let store = small();
    let table = store.default_table();
    assert_eq!(table.append("log", b"").unwrap(), 0);
    let put = Put { kind: ValueKind::Append, ..Put::default() };
    assert!(table.put_with("log", vec![7; 1000], &put).unwrap().is_done());
    let before = (store.usage(), table.get("log").unwrap());
    assert_eq!(table.append("log", b"").unwrap(), 1000);
    assert_eq!((store.usage(), table.get("log").unwrap()), before);
}

/// Of a value in parts only a small record expires, which may be one of many in a segment, or lie where
/// somebody is still writing.
#[test]
fn long_values_that_have_expired_make_room_for_others() {
    for (cleaners, rounds) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        let options = Options { cleaners, writers: 1, ..Options::with_limit(64 << 20) };
        let store = Store::anonymous(&options).unwrap();
        let table = store.default_table();
        let value = vec![7; 1 << 20];
        let soon = Put::default().until(SystemTime::now() + Duration::from_secs(2));
        let late = Put::default().ttl(Duration::from_hours(10_000));
        // The second time their records come to where short-lived ones are, beside each one that stays for
        // long.
        let put = |key: &u64| {
            let late = table.put_with(key + 1000, "", &late).is_ok();
            late && (0..rounds).all(|_| table.put_with(*key, &value, &soon).is_ok())
        };
        let count = (0..64).take_while(put).count();
        assert!(count > 40, "{count} values");
        thread::sleep(Duration::from_millis(2100));
        for key in 100..100 + count as u64 * 9 / 10 {
            table.put(key, &value).unwrap_or_else(|error| panic!("{key} of {count}, {cleaners} cleaners: {error}"));
        }
    }
}

#[test]
fn keys_are_counted_to_the_last_while_they_are_few() {
    let store = small();
    let table = store.default_table();
    for key in 0..100_000_u64 {
        table.put(key, "").unwrap();
        if key % 997 == 0 {
            assert_eq!(store.keys(), key + 1);
        }
    }
}

#[test]
fn merges_have_conditions_and_an_expiry_for_what_they_create() {
    let store = small();
    let table = store.default_table();
    let ends = SystemTime::now() + Duration::from_hours(1);
    let add = |expiry| Operation::Merge { kind: ValueKind::Add, operand: &[1, 0, 0, 0, 0, 0, 0, 0], expiry };
    let apply = |request: Request<'_>| table.apply("hits", &request).unwrap();
    assert!(!apply(Request::from(add(None)).when(Condition::Present)).is_done);
    let made = apply(Request::from(add(Some(ends))).when(Condition::Absent));
    assert_eq!((made.is_done, made.number, made.before), (true, Some(1), None));
    let kept = table.meta("hits").unwrap().unwrap().expiry.unwrap();
    let again = apply(add(Some(ends + Duration::from_hours(1))).into());
    assert_eq!((again.number, table.meta("hits").unwrap().unwrap().expiry), (Some(2), Some(kept)), "it keeps its own");
    let version = again.version.unwrap();
    assert!(!apply(Request::from(add(None)).when(Condition::Version(version + 1))).is_done);
    assert_eq!(apply(Request::from(add(None)).when(Condition::Version(version))).number, Some(3));
    let append = Operation::Merge { kind: ValueKind::Append, operand: b"line", expiry: Some(ends) };
    assert!(table.apply("log", &append.into()).unwrap().is_done);
    assert!(table.meta("log").unwrap().unwrap().expiry.is_some());
}

#[test]
fn a_reply_carries_what_was_there() {
    let store = small();
    let table = store.default_table();
    for len in [0, 10, 200_000] {
        let (old, new) = (vec![1; len], vec![2; 300 + len]);
        table.put("key", &old).unwrap();
        let put = Operation::Put { kind: ValueKind::Bytes, value: &new, expiry: None };
        let refused = table.apply("key", &Request::from(put).when(Condition::Absent).returning_old()).unwrap();
        assert_eq!((refused.is_done, refused.old), (false, None));
        assert_eq!(table.apply("key", &Request::from(put).returning_old()).unwrap().old, Some(old), "{len}");
        assert_eq!(table.take("key").unwrap().unwrap().bytes, new);
        assert_eq!(table.take("key").unwrap(), None);
    }
}
