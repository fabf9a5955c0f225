//! Callers that change and read a few keys of a store together, several of them the same key, and note what
//! they did and saw; a model then says whether one order of all calls explains it.

use std::collections::BTreeMap;

use fastrand::Rng;
use hammerspace_error::{Kind, Result};
use hammerspace_memory::{
    Change, Cursor, Decision, Item, Key, Memory, Meta, Old, OwnedKey, Present, TableId, Updated, View,
};
use hammerspace_testkit::history::{Call, explain};
use hammerspace_testkit::register::{Did, Digest, Op, Register, Saw};

/// Where the keys are: the last table is dropped now and then.
pub(crate) const TABLES: [TableId; 3] = [
    TableId { number: 1, is_versioned: false },
    TableId { number: 2, is_versioned: true },
    TableId { number: 3, is_versioned: true },
];
const DROPPED: TableId = TABLES[2];
/// Its two keys change in batches alone, and always have one value.
const PAIR: TableId = TableId { number: 4, is_versioned: false };

/// An expiry that has passed: a key that gets it is gone, whatever the time.
const PAST: u64 = 1;
/// The first of those that no test lives to see, in the year 2109.
const FUTURE: u64 = 1 << 42;

/// A table, and a key of it.
type Name = (u16, u64);

/// What is played with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// Keys of each table.
    pub(crate) count: u64,
    /// Values are shorter, but for what is appended.
    pub(crate) len_max: usize,
}

impl Keys {
    /// Deletes them all: also those that have expired, which nobody else sees.
    pub(crate) fn delete_all(self, memory: &Memory) {
        let pair = [0, 1].map(|key| (PAIR, key));
        for (table, key) in
            TABLES.into_iter().flat_map(|table| (0..self.count).map(move |key| (table, key))).chain(pair)
        {
            memory.update(table, Key::Integer(key), |_| Change::Delete).unwrap();
        }
    }
}

/// One that calls, and its notes.
pub(crate) struct Caller {
    keys: Keys,
    rng: Rng,
    /// Makes the values of all callers differ.
    number: u64,
    clock: fn() -> u64,
    pub(crate) calls: Vec<(Name, Call<Op>)>,
}

impl Caller {
    /// Callers of one history have different numbers, and one clock.
    pub(crate) fn new(keys: Keys, seed: u64, number: u64, clock: fn() -> u64) -> Self {
        Self { keys, rng: Rng::with_seed(seed ^ number << 56), number, clock, calls: Vec::new() }
    }

    /// Notes a call, if it came to anything. The store being full, or the table about to go, nothing may have
    /// happened.
    fn note(&mut self, (table, key): (TableId, u64), call: impl FnOnce() -> Result<Op>) {
        let start = (self.clock)();
        match call() {
            Ok(op) => self.calls.push(((table.number, key), Call { start, end: Some((self.clock)()), op })),
            Err(error) => assert!(matches!(error.kind(), Kind::Full | Kind::Missing), "{error}"),
        }
    }

    fn choose(&mut self) -> (TableId, u64) {
        (self.rng.choice(TABLES).expect("there are some"), self.rng.u64(..self.keys.count))
    }

    /// Bytes that nobody else writes, unless there are few of them.
    fn bytes(&mut self, len_max: usize) -> Vec<u8> {
        let tag = (self.number << 32 | self.calls.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        (0..self.rng.usize(..len_max)).map(|at| tag[at % 8] ^ (at / 8) as u8).collect()
    }

    /// Changes some key in some way.
    pub(crate) fn change(&mut self, memory: &Memory) {
        let target = self.choose();
        match self.rng.u8(..17) {
            0..5 => self.put(memory, target),
            5..9 => self.append(memory, target),
            9 => self.delete(memory, target),
            10..12 => self.expire(memory, target),
            12..14 => self.increment(memory, target),
            14 => self.batch(memory, target),
            _ => self.put_if(memory, target),
        }
    }

    /// None for one half, one that has passed for a quarter.
    fn expiry(&mut self) -> Option<u64> {
        match self.rng.u64(..8) {
            0..4 => None,
            4..6 => Some(PAST),
            other => Some(FUTURE + other),
        }
    }

    fn put(&mut self, memory: &Memory, target: (TableId, u64)) {
        let (value, expiry) = (self.bytes(self.keys.len_max), self.expiry());
        self.note(target, || {
            let outcome = memory.put_until(target.0, Key::Integer(target.1), &value, expiry)?;
            Ok(done(&outcome, unless_past(expiry, Did::Put(Digest::of(&value), expiry))))
        });
    }

    fn expire(&mut self, memory: &Memory, target: (TableId, u64)) {
        let expiry = self.expiry();
        self.note(target, || {
            let outcome = memory.update(target.0, Key::Integer(target.1), |_| Change::Expire(expiry))?;
            let did = outcome.before().map_or(Did::Nothing, |_| unless_past(expiry, Did::Expire(expiry)));
            Ok(done(&outcome, did))
        });
    }

    fn append(&mut self, memory: &Memory, target: (TableId, u64)) {
        let bytes = self.bytes(self.keys.len_max / 3);
        self.note(target, || {
            let outcome = memory.append(target.0, Key::Integer(target.1), 0, &bytes)?;
            // To append nothing need not be a change.
            let is_change = !bytes.is_empty() || outcome.before().is_none_or(|old| old.version != outcome.version);
            Ok(done(&outcome, if is_change { Did::Append(bytes) } else { Did::Nothing }))
        });
    }

    fn delete(&mut self, memory: &Memory, target: (TableId, u64)) {
        self.note(target, || {
            let outcome = memory.update(target.0, Key::Integer(target.1), |_| Change::Delete)?;
            Ok(done(&outcome, Did::Delete))
        });
    }

    /// Adds one to a value of eight bytes; anything else becomes a one.
    fn increment(&mut self, memory: &Memory, target: (TableId, u64)) {
        self.note(target, || {
            let outcome = memory.update(target.0, Key::Integer(target.1), |old| {
                let mut bytes = Vec::new();
                let value = old.filter(|old| old.read(&mut bytes)).map(|_| Digest::of(&bytes));
                let word = old.and_then(Old::word).unwrap_or(0).wrapping_add(1);
                Decision { change: Change::Word { kind: 0, word }, result: (value, word) }
            })?;
            let (value, word) = outcome.result;
            let expiry = outcome.before().and_then(|meta| meta.expiry);
            let mut op = done(&outcome, Did::Put(Digest::of(&word.to_le_bytes()), expiry));
            op.saw = saw(outcome.before().as_ref(), value);
            Ok(op)
        });
    }

    /// Puts or appends to a key beside the pair, which it looks at, and mostly changes too.
    fn batch(&mut self, memory: &Memory, target: (TableId, u64)) {
        let (bytes, is_put, is_look) = (self.bytes(self.keys.len_max / 2), self.rng.bool(), self.rng.u8(..4) == 0);
        let operations = [(PAIR, 0), target, (PAIR, 1)].map(|(table, key)| (table, Key::Integer(key)));
        self.note(target, || {
            let (mut pair, mut saw) = ([None; 2], Saw::Nothing);
            let versions = memory.batch(&operations, |at, there| {
                let mut value = Vec::new();
                let digest = there.filter(|there| there.read(&mut value)).map(|_| Digest::of(&value));
                let put = || Change::Put { kind: 0, value: bytes.as_slice().into(), expiry: None };
                if at == 1 {
                    saw = self::saw(there.map(Present::meta).as_ref(), digest);
                    return Some(if is_put { put() } else { Change::Append { kind: 0, bytes: &bytes } });
                }
                pair[at / 2] = digest;
                Some(if is_look { Change::Keep } else { put() })
            })?;
            assert_eq!(pair[0], pair[1], "a batch was applied by halves");
            let did = match (is_put, bytes.is_empty(), saw) {
                (true, ..) => Did::Put(Digest::of(&bytes), None),
                // To append nothing need not be a change.
                (false, true, Saw::Present { .. }) => Did::Nothing,
                _ => Did::Append(bytes.clone()),
            };
            let version = if did == Did::Nothing { None } else { versions.expect("nothing refuses it")[1] };
            Ok(Op { saw, did, version })
        });
    }

    /// Puts if the key is as it was when it was read: there or not, and of the same version.
    fn put_if(&mut self, memory: &Memory, target: (TableId, u64)) {
        self.read(memory.view(), target);
        let wanted = match self.calls.last() {
            Some((_, Call { op: Op { saw: Saw::Present { version, .. }, .. }, .. })) => Some(*version),
            _ => None,
        };
        let value = self.bytes(self.keys.len_max);
        self.note(target, || {
            let outcome = memory.update(target.0, Key::Integer(target.1), |old| {
                let result = old.map(|old| old.meta().version) == wanted;
                let put = Change::Put { kind: 0, value: value.as_slice().into(), expiry: None };
                Decision { change: if result { put } else { Change::Keep }, result }
            })?;
            Ok(done(&outcome, if outcome.result { Did::Put(Digest::of(&value), None) } else { Did::Nothing }))
        });
    }

    /// Drops a table, and comes back when nothing is left of it.
    pub(crate) fn drop_table(&mut self, memory: &Memory) {
        let start = (self.clock)();
        memory.drop_table(DROPPED.number).unwrap();
        while memory.is_dropping(DROPPED.number) {
            memory.clean().unwrap();
        }
        let call = Call { start, end: Some((self.clock)()), op: done(&Updated::<()>::default(), Did::Delete) };
        let blind = Call { op: Op { saw: Saw::Nothing, ..call.op }, ..call };
        // A key may go twice: the cleaner takes it, a change that was under way brings it back, and the purge
        // takes that.
        let both = (0..self.keys.count).flat_map(|key| [key, key]);
        self.calls.extend(both.map(|key| ((DROPPED.number, key), blind.clone())));
    }

    /// Reads some key, or more of them.
    pub(crate) fn look(&mut self, view: View<'_>) {
        let target = self.choose();
        match self.rng.u8(..8) {
            0 => self.scan(view, target.0),
            1 => self.read_all(view, target.0),
            _ => self.read(view, target),
        }
    }

    fn read(&mut self, view: View<'_>, target: (TableId, u64)) {
        self.note(target, || {
            let mut value = Vec::new();
            let meta = view.get(target.0.number, Key::Integer(target.1), &mut value)?;
            Ok(seen(meta.as_ref(), &value))
        });
    }

    /// Reads all keys of a table at once.
    fn read_all(&mut self, view: View<'_>, table: TableId) {
        let keys: Vec<_> = (0..self.keys.count).map(Key::Integer).collect();
        let (start, mut found) = ((self.clock)(), Vec::new());
        view.get_many(table.number, &keys, |key, record| {
            let op = record.map_or(seen(None, &[]), |(meta, value)| seen(Some(&meta), value));
            found.push((key as u64, op));
        })
        .unwrap();
        self.extend(table, start, found);
    }

    /// Lists a table. What it lists must have been there; the rest may have come or gone.
    fn scan(&mut self, view: View<'_>, table: TableId) {
        let mut next = Some(Cursor::START);
        while let Some(at) = next {
            let (start, mut items) = ((self.clock)(), Vec::new());
            next = view.scan(table.number, at, 4, &mut items).unwrap();
            let found = items.iter().map(|Item { key, value, meta, .. }| match key {
                OwnedKey::Integer(key) => (*key, seen(Some(meta), value)),
                OwnedKey::Bytes(_) => panic!("{key:?} is nobody's"),
            });
            self.extend(table, start, found.collect());
        }
    }

    /// Notes what one call found of several keys.
    fn extend(&mut self, table: TableId, start: u64, found: Vec<(u64, Op)>) {
        let end = Some((self.clock)());
        self.calls.extend(found.into_iter().map(|(key, op)| ((table.number, key), Call { start, end, op })));
    }

    /// Reads everything.
    pub(crate) fn look_at_all(&mut self, view: View<'_>) {
        for table in TABLES {
            self.read_all(view, table);
        }
    }
}

/// What it comes to that a key gets this expiry, and otherwise this.
fn unless_past(expiry: Option<u64>, did: Did) -> Did {
    if expiry == Some(PAST) { Did::Delete } else { did }
}

fn saw(meta: Option<&Meta>, value: Option<Digest>) -> Saw {
    meta.map_or(Saw::Absent, |meta| Saw::Present { version: meta.version, expiry: meta.expiry, value })
}

fn seen(meta: Option<&Meta>, value: &[u8]) -> Op {
    Op { saw: saw(meta, Some(Digest::of(value))), did: Did::Nothing, version: None }
}

fn done<R>(outcome: &Updated<R>, did: Did) -> Op {
    let version = if did == Did::Nothing { None } else { outcome.version };
    Op { saw: saw(outcome.before().as_ref(), None), did, version }
}

/// Whether each key's calls can be explained, all callers' together.
pub(crate) fn judge(callers: impl IntoIterator<Item = Caller>) -> Result<(), String> {
    let mut histories: BTreeMap<Name, Vec<Call<Op>>> = BTreeMap::new();
    for (name, call) in callers.into_iter().flat_map(|caller| caller.calls) {
        histories.entry(name).or_default().push(call);
    }
    histories.into_iter().try_for_each(|((table, key), calls)| {
        explain(Register::default(), &calls).map_err(|complaint| format!("key {key} of table {table}: {complaint}"))
    })
}
