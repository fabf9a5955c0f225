//! Random histories beside a map that says what must be there: tables, kinds, versions, conditions, expiries.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use hammerspace_store::hll::{Hll, HllBuf, Params, hash};
use hammerspace_store::set::RoaringBitmap;
use hammerspace_store::{
    Condition, Error, Kind, Meta, Options, Outcome, OwnedKey, Put, Table, TableOptions, ValueKind,
};

use crate::sound::Store;

/// What is there of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) kind: ValueKind,
    pub(crate) value: Vec<u8>,
    pub(crate) version: Option<u64>,
    pub(crate) expires: bool,
}

#[derive(Default)]
pub(crate) struct Twin {
    pub(crate) tables: HashMap<&'static str, HashMap<OwnedKey, Record>>,
    versions: HashSet<u64>,
}

/// Tables, and whether they have versions. The first is the one every store has.
pub(crate) const TABLES: [(&str, bool); 4] = [("default", true), ("plain", false), ("events", false), ("counts", true)];

pub(crate) fn key_of(number: u64) -> OwnedKey {
    match number % 2 {
        0 => OwnedKey::Integer(number),
        _ => OwnedKey::Bytes(format!("key {number}").into_bytes()),
    }
}

fn value_of(rng: &mut Rng, kind: ValueKind) -> Vec<u8> {
    if kind.is_number() {
        return rng.i64(-100..100).to_le_bytes().to_vec();
    }
    if kind == ValueKind::Hll {
        let mut hll = HllBuf::new(Params::default());
        let count_max = if rng.bool() { 3 } else { 400 };
        let count = rng.usize(..count_max);
        hll.add_many(&(0..count).map(|_| hash::bigint(rng.i64(..1000), 0)).collect::<Vec<_>>());
        return hll.into_bytes();
    }
    if kind == ValueKind::Set {
        let ordinals = (0..rng.usize(1..2000)).map(|_| rng.u32(..3000)).collect();
        return piece(0, &ordinals);
    }
    let len = match rng.u8(..40) {
        0 => rng.usize(..100_000),
        1..8 => rng.usize(..600),
        _ => rng.usize(..40),
    };
    let seed = rng.u8(..);
    (0..len).map(|at| seed.wrapping_add(at as u8)).collect()
}

/// An operand of kind set over universe 5.
fn piece(action: u8, ordinals: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = vec![5, 0, 0, 0, 0, 0, 0, action];
    ordinals.serialize_into(&mut bytes).unwrap();
    bytes
}

/// The merge rules, said once more.
fn merged(kind: ValueKind, old: &[u8], operand: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    match kind {
        ValueKind::Bytes => operand.to_vec(),
        ValueKind::Append => [old, operand].concat(),
        ValueKind::Add => (number(old) + number(operand)).to_le_bytes().to_vec(),
        ValueKind::Min => number(old).min(number(operand)).to_le_bytes().to_vec(),
        ValueKind::Max => number(old).max(number(operand)).to_le_bytes().to_vec(),
        ValueKind::Hll => {
            let mut union = HllBuf::read(old).unwrap();
            union.union(&Hll::parse(operand).unwrap()).unwrap();
            union.into_bytes()
        }
        ValueKind::Set => {
            let bitmap = |bytes: &[u8]| RoaringBitmap::deserialize_from(&bytes[8..]).unwrap();
            let set = if operand[7] == 0 { bitmap(old) | bitmap(operand) } else { bitmap(old) - bitmap(operand) };
            piece(0, &set)
        }
        ValueKind::Other(_) => unreachable!("nobody merges it"),
    }
}

fn same(meta: Option<Meta>, record: Option<&Record>) -> bool {
    meta.map(|meta| (meta.kind, meta.version, meta.expiry.is_some()))
        == record.map(|record| (record.kind, record.version, record.expires))
}

pub(crate) struct History {
    store: Store,
    handles: Vec<Table>,
    pub(crate) twin: Twin,
    rng: Rng,
    keys: u64,
    /// Changes that there was no room for.
    refused: u64,
}

impl History {
    pub(crate) fn new(store: Store, seed: u64, keys: u64) -> Self {
        println!("seed {seed}");
        let mut handles = vec![store.default_table().clone()];
        for (name, versions) in &TABLES[1..] {
            handles.push(
                store.create_table(name, TableOptions { versions: *versions, ..TableOptions::default() }).unwrap(),
            );
        }
        Self { store, handles, twin: Twin::default(), rng: Rng::with_seed(seed), keys, refused: 0 }
    }

    /// Writes down a version, which must be new where there are versions.
    fn take_version(&mut self, at: usize, version: Option<u64>) {
        assert_eq!(version.is_some(), TABLES[at].1, "versions of {}", TABLES[at].0);
        if let Some(version) = version {
            assert!(self.twin.versions.insert(version), "version {version} came twice");
        }
    }

    fn condition(&mut self, there: Option<&Record>, at: usize) -> (Condition, bool) {
        match self.rng.u8(..if TABLES[at].1 { 6 } else { 4 }) {
            0 => (Condition::Absent, there.is_none()),
            1 => (Condition::Present, there.is_some()),
            4 => (Condition::Version(u64::MAX), false),
            5 => match there.and_then(|record| record.version) {
                Some(version) => (Condition::Version(version), true),
                None => (Condition::Always, true),
            },
            _ => (Condition::Always, true),
        }
    }

    /// Makes a change, or tries to; tells of which table, and of which key unless it was the table's end.
    pub(crate) fn step(&mut self) -> (usize, u64) {
        let at = self.rng.usize(..TABLES.len());
        let (handle, name) = (self.handles[at].clone(), TABLES[at].0);
        let number = self.rng.u64(..self.keys);
        let key = key_of(number);
        let there = self.twin.tables.entry(name).or_default().get(&key).cloned();
        let kind = self.rng.choice(ValueKind::ALL).unwrap();
        match self.rng.u16(..1000) {
            0 => {
                self.store.empty_table(name).unwrap();
                self.twin.tables.remove(name);
            }
            1 if at > 0 => {
                self.store.drop_table(name).unwrap();
                assert_eq!(handle.get(key.as_key()).unwrap_err().kind(), Kind::Missing);
                self.store
                    .create_table(name, TableOptions { versions: TABLES[at].1, ..TableOptions::default() })
                    .unwrap();
                self.twin.tables.remove(name);
            }
            2..350 => self.put(at, &handle, key, there.as_ref(), kind),
            350..800 => self.merge(at, &handle, key, there, kind),
            800..900 => {
                let (condition, holds) = self.condition(there.as_ref(), at);
                match handle.delete_if(key.as_key(), condition).unwrap() {
                    Outcome::Done { version: None, before } => assert!(holds && same(before, there.as_ref())),
                    Outcome::Refused { there: found } => assert!(!holds && same(found, there.as_ref())),
                    outcome @ Outcome::Done { .. } => panic!("{outcome:?}"),
                }
                if holds {
                    self.twin.tables.entry(name).or_default().remove(&key);
                }
            }
            _ => self.expire(at, &handle, key, there),
        }
        (at, number)
    }

    fn put(&mut self, at: usize, handle: &Table, key: OwnedKey, there: Option<&Record>, kind: ValueKind) {
        let (condition, holds) = self.condition(there, at);
        let value = value_of(&mut self.rng, kind);
        let (mut put, fate) = (Put::when(condition).kind(kind), self.rng.u8(..10));
        match fate {
            0 => put = put.until(SystemTime::now() - Duration::from_secs(1)),
            1..3 => put = put.ttl(Duration::from_hours(1)),
            _ => {}
        }
        let version = match handle.put_with(key.as_key(), &value, &put) {
            Ok(Outcome::Done { version, before }) if holds && same(before, there) => version,
            Ok(Outcome::Refused { there: found }) if !holds && same(found, there) => return,
            Err(error) => return self.note_full(&error),
            outcome => panic!("{outcome:?} where {there:?} was, under {condition:?}"),
        };
        self.take_version(at, version);
        let table = self.twin.tables.entry(TABLES[at].0).or_default();
        if fate == 0 {
            table.remove(&key);
        } else {
            table.insert(key, Record { kind, value, version, expires: fate < 3 });
        }
    }

    fn merge(&mut self, at: usize, handle: &Table, key: OwnedKey, there: Option<Record>, kind: ValueKind) {
        let operand = value_of(&mut self.rng, kind);
        let version = match (handle.merge(key.as_key(), kind, &operand), &there) {
            (Err(error), Some(there)) if there.kind != kind && error.kind() == Kind::Invalid => {
                let message = error.to_string();
                return assert!(message.contains(kind.name()) && message.contains(there.kind.name()), "{message}");
            }
            (Err(error), _) => return self.note_full(&error),
            (Ok(merged), there) => {
                assert!(there.as_ref().is_none_or(|there| there.kind == kind), "{kind} merged into {there:?}");
                merged.version
            }
        };
        let value = there.as_ref().map_or_else(|| operand.clone(), |there| merged(kind, &there.value, &operand));
        let before = there.as_ref().and_then(|there| there.version);
        let stays = there.as_ref().is_some_and(|there| there.value == value);
        if stays && (kind.is_number() || matches!(kind, ValueKind::Hll | ValueKind::Set)) {
            assert_eq!(version, before, "a number or a set that stays keeps its version");
        } else if version.is_none() || version != before || !operand.is_empty() {
            // To append nothing need not be a change.
            self.take_version(at, version);
        }
        // To merge bytes is to put them; whatever else is merged keeps its expiry.
        let expires = kind != ValueKind::Bytes && there.is_some_and(|there| there.expires);
        self.twin.tables.entry(TABLES[at].0).or_default().insert(key, Record { kind, value, version, expires });
    }

    fn expire(&mut self, at: usize, handle: &Table, key: OwnedKey, there: Option<Record>) {
        let fate = self.rng.u8(..3);
        let was_there = match fate {
            0 => handle.expire(key.as_key(), SystemTime::UNIX_EPOCH),
            1 => handle.expire(key.as_key(), SystemTime::now() + Duration::from_hours(1)),
            _ => handle.persist(key.as_key()),
        };
        let was_there = match was_there {
            Ok(was_there) => was_there,
            Err(error) => return self.note_full(&error),
        };
        assert_eq!(was_there, there.is_some());
        let table = self.twin.tables.entry(TABLES[at].0).or_default();
        match there {
            Some(_) if fate == 0 => drop(table.remove(&key)),
            Some(there) => {
                let version = handle.get(key.as_key()).unwrap().unwrap().meta.version;
                table.insert(key, Record { expires: fate == 1, version, ..there });
                self.take_version(at, version);
            }
            None => {}
        }
    }

    fn note_full(&mut self, error: &Error) {
        assert_eq!(error.kind(), Kind::Full, "{error}");
        self.refused += 1;
    }

    pub(crate) fn compare(&self) {
        for (handle, (name, _)) in self.handles.iter().zip(TABLES) {
            let empty = HashMap::new();
            let twin = self.twin.tables.get(name).unwrap_or(&empty);
            let mut listed = BTreeMap::new();
            for entry in handle {
                let entry = entry.unwrap();
                let twice = listed.insert(entry.key.clone(), entry.value);
                assert_eq!(twice, None, "{:?} of {name} came twice", entry.key);
            }
            assert_eq!(listed.len(), twin.len(), "records of {name}");
            let keys: Vec<_> = twin.keys().collect();
            let asked: Vec<_> = keys.iter().map(|key| key.as_key()).collect();
            let mut count = 0;
            handle
                .get_many(&asked, |at, found| {
                    let (meta, value) = found.unwrap_or_else(|| panic!("{:?} of {name} is gone", keys[at]));
                    let record = &twin[keys[at]];
                    assert!(same(Some(meta), Some(record)) && value == record.value, "{:?} of {name}", keys[at]);
                    assert_eq!(listed[keys[at]].bytes, value);
                    count += 1;
                })
                .unwrap();
            assert_eq!(count, keys.len());
        }
        let report = self.store.verify().unwrap();
        assert_eq!((report.faults, report.findings, report.miscounted_tables), (0, vec![], vec![]));
    }
}

fn store(options: &Options) -> Store {
    Store::anonymous(options).unwrap()
}

/// Fills a store with what stays, until it takes no more, and makes a little room: so that it is cleaned, and
/// refuses something now and then. Fills a store, and then deletes one record of so many.
pub(crate) fn fill(store: &Store, share: usize) {
    let ballast = store.create_table("ballast", TableOptions::default()).unwrap();
    let full = (0..1 << 20).find(|key| ballast.put(*key, [0; 100]).is_err()).expect("it is full some time");
    (0..full).step_by(share).for_each(|key| assert!(ballast.delete(key).unwrap()));
}

fn history(store: Store, seed: u64, keys: u64, steps: usize) -> History {
    let mut history = History::new(store, seed, keys);
    for number in 0..steps {
        history.step();
        if number % 2000 == 0 {
            history.compare();
        }
    }
    history.compare();
    history
}

#[test]
fn a_roomy_store_is_still_a_map() {
    for seed in 0..3 {
        history(store(&Options { cleaners: 1, ..Options::with_limit(64 << 20) }), seed, 400, 12_000);
    }
}

#[test]
fn a_tight_store_is_still_a_map() {
    let (mut moved, mut refused) = (0, 0);
    for (seed, share) in [(10, 12), (11, 14), (12, 16)] {
        let store = store(&Options { cleaners: 0, writers: 1, ..Options::with_limit(16 << 20) });
        fill(&store, share);
        let history = history(store, seed, 4000, 12_000);
        moved += history.store.usage().moved;
        refused += history.refused;
    }
    assert!(moved > 0 && refused > 0, "{moved} bytes moved, {refused} changes refused");
}

#[test]
fn what_an_owner_wrote_its_successor_and_its_readers_see() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..Options::with_limit(32 << 20) };
    let path = scratch.path().join("store");
    let mut history = History::new(Store::create(&path, &options).unwrap(), 7, 300);
    for _ in 0..3000 {
        history.step();
    }
    let (twin, keys) = (history.twin, history.keys);
    let counts = |store: &Store| {
        TABLES.map(|(name, _)| store.table(name).map(|table| [table.len(), table.bytes()].map(Result::unwrap)).ok())
    };
    let counted = counts(&history.store);
    drop((history.handles, history.store));
    for store in [Store::attach(&path), Store::open(&path)].map(Result::unwrap) {
        assert_eq!(counts(&store), counted);
        let handles: Vec<_> = TABLES.iter().map(|(name, _)| store.table(name).unwrap()).collect();
        for (handle, (name, _)) in handles.iter().zip(TABLES) {
            let empty = HashMap::new();
            let twin = twin.tables.get(name).unwrap_or(&empty);
            for key in (0..keys).map(key_of) {
                let found = handle.get(key.as_key()).unwrap();
                assert!(same(found.as_ref().map(|found| found.meta), twin.get(&key)), "{key:?} of {name}");
                assert_eq!(found.map(|found| found.bytes), twin.get(&key).map(|record| record.value.clone()));
            }
        }
    }
}

/// A harness that cannot see these cannot see any.
#[test]
fn canaries_a_lost_key_and_a_changed_value_are_noticed() {
    for spoil in [
        |table: &Table, key: OwnedKey| assert!(table.delete(key.as_key()).unwrap()),
        |table: &Table, key: OwnedKey| assert_eq!(table.put(key.as_key(), "else").unwrap(), None),
        |table: &Table, _| assert_eq!(table.put("never put", "").unwrap(), None),
    ] {
        let history = history(store(&Options { cleaners: 0, ..Options::with_limit(32 << 20) }), 3, 50, 500);
        let key = history.twin.tables["plain"].keys().next().unwrap().clone();
        spoil(&history.handles[1], key);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| history.compare())).is_err());
    }
}
