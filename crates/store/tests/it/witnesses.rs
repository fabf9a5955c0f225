//! Witnesses: other processes that read while a history goes on, and write down what they see. When it is
//! over, what they saw is held against what was there, with kinds, versions and expiries.
//!
//! ```text
//! board: | stop | ready | begun | done |     the step that the owner has begun, and the last that it has done
//! sight: | table | key | done before | begun after | what was there |     five words, in a file for each witness
//! ```
//!
//! A sight is right if what it tells was there after one of the steps from the one that was done when the
//! witness began to look to the one that was begun when it had looked; and of no key a witness sees something
//! older than what it saw before.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hammerspace_os::process::fork::fork;
use hammerspace_os::{Access, Dir, Shared};
use hammerspace_store::{Cursor, Kind, Meta, Options, OwnedKey, Result, Table, ValueKind};

use crate::model::{History, TABLES, Twin, fill, key_of};
use crate::sound::Store;

const WORD: u64 = 8;
/// What must come, comes by then.
const LONGEST: Duration = Duration::from_mins(2);
/// What there is of a key that is not there.
const ABSENT: u64 = 0;

/// What is there of a key, in one word.
fn digest(kind: ValueKind, version: Option<u64>, expires: bool, value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind.name(), version, expires, value).hash(&mut hasher);
    hasher.finish() | 1
}

fn digest_of(meta: Meta, value: &[u8]) -> u64 {
    digest(meta.kind, meta.version, meta.expiry.is_some(), value)
}

fn number_of(key: &OwnedKey) -> u64 {
    match key {
        OwnedKey::Integer(number) => *number,
        OwnedKey::Bytes(name) => std::str::from_utf8(name).unwrap().strip_prefix("key ").unwrap().parse().unwrap(),
    }
}

/// What an owner and its witnesses know of each other.
struct Board(Shared);

impl Board {
    fn new() -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = Dir::open(scratch.path()).unwrap().create_file("board").unwrap();
        file.truncate(4 * WORD).unwrap();
        Self(Shared::map(&file, 4 * WORD, Access::Write).unwrap())
    }

    fn stop(&self) -> &AtomicU64 {
        &self.0[0]
    }

    fn ready(&self) -> &AtomicU64 {
        &self.0[1]
    }

    fn begun(&self) -> &AtomicU64 {
        &self.0[2]
    }

    fn done(&self) -> &AtomicU64 {
        &self.0[3]
    }
}

/// One look at one key.
#[derive(Clone, Copy, Debug)]
struct Sight {
    table: u64,
    key: u64,
    done: u64,
    begun: u64,
    what: u64,
}

impl Sight {
    const LEN: usize = 5 * WORD as usize;

    fn to_bytes(self) -> [u8; Self::LEN] {
        let Self { table, key, done, begun, what } = self;
        let words = [table, key, done, begun, what].map(u64::to_le_bytes);
        words.concat().try_into().expect("five words")
    }

    fn of(bytes: [u8; Self::LEN]) -> Self {
        let (words, _) = bytes.as_chunks();
        let [table, key, done, begun, what] = std::array::from_fn(|at| u64::from_le_bytes(words[at]));
        Self { table, key, done, begun, what }
    }
}

/// A witness, in its own process.
struct Witness<'b> {
    board: &'b Board,
    tables: Vec<Table>,
    keys: u64,
    rng: Rng,
    sights: BufWriter<File>,
}

impl Witness<'_> {
    /// Looks until it is told to stop, in every way there is.
    fn keep_looking(mut self) {
        self.board.ready().fetch_add(1, SeqCst);
        // Nobody may be left to stop it.
        let begun = Instant::now();
        while self.board.stop().load(SeqCst) == 0 && begun.elapsed() < LONGEST {
            let at = self.rng.usize(..TABLES.len());
            let numbers: Vec<u64> = (0..self.rng.usize(1..20)).map(|_| self.rng.u64(..self.keys)).collect();
            match self.rng.u8(..4) {
                0 => self.scan(at),
                1 => self.get_many(at, &numbers),
                _ => self.get(at, numbers[0]),
            }
        }
        self.sights.flush().unwrap();
    }

    /// Writes down what is seen of some keys. A table that is being dropped and made again has none of them.
    fn look(&mut self, at: usize, keys: &[u64], see: impl FnOnce(&Table, &mut Vec<(u64, u64)>) -> Result<()>) {
        let done = self.board.done().load(SeqCst);
        let mut seen = Vec::new();
        match see(&self.tables[at], &mut seen) {
            Ok(()) => {}
            Err(error) if error.kind() == Kind::Missing => seen = keys.iter().map(|key| (*key, ABSENT)).collect(),
            Err(error) => panic!("{error}"),
        }
        let begun = self.board.begun().load(SeqCst);
        for (key, what) in seen {
            let sight = Sight { table: at as u64, key, done, begun, what };
            self.sights.write_all(&sight.to_bytes()).unwrap();
        }
    }

    fn get(&mut self, at: usize, number: u64) {
        self.look(at, &[number], |table, seen| {
            let found = table.get(key_of(number).as_key())?;
            seen.push((number, found.map_or(ABSENT, |found| digest_of(found.meta, &found.bytes))));
            Ok(())
        });
    }

    fn get_many(&mut self, at: usize, numbers: &[u64]) {
        let keys: Vec<_> = numbers.iter().copied().map(key_of).collect();
        let asked: Vec<_> = keys.iter().map(OwnedKey::as_key).collect();
        self.look(at, numbers, |table, seen| {
            table.get_many(&asked, |at, found| {
                seen.push((numbers[at], found.map_or(ABSENT, |(meta, value)| digest_of(meta, value))));
            })
        });
    }

    fn scan(&mut self, at: usize) {
        let mut next = Some(Cursor::START);
        while let Some(cursor) = next.take() {
            let count = self.rng.usize(1..100);
            self.look(at, &[], |table, seen| {
                let (entries, rest) = table.scan(cursor, count)?;
                seen.extend(entries.iter().map(|entry| {
                    let value = &entry.value;
                    (number_of(&entry.key), digest_of(value.meta, &value.bytes))
                }));
                next = rest;
                Ok(())
            });
        }
    }
}

/// What each key was, from the step on after which it was that.
#[derive(Default)]
struct Past(HashMap<(u64, u64), Vec<(u64, u64)>>);

impl Past {
    fn push(states: &mut Vec<(u64, u64)>, step: u64, what: u64) {
        if states.last().is_none_or(|(_, last)| *last != what) {
            states.push((step, what));
        }
    }

    /// Notes what a step has made of a key, or of a whole table.
    fn note(&mut self, step: u64, (at, key): (usize, u64), twin: &Twin) {
        let Some(table) = twin.tables.get(TABLES[at].0) else {
            let of_table = self.0.iter_mut().filter(|((table, _), _)| *table == at as u64);
            return of_table.for_each(|(_, states)| Self::push(states, step, ABSENT));
        };
        let digest = |record: &crate::model::Record| digest(record.kind, record.version, record.expires, &record.value);
        let states = self.0.entry((at as u64, key)).or_insert_with(|| vec![(0, ABSENT)]);
        Self::push(states, step, table.get(&key_of(key)).map_or(ABSENT, digest));
    }

    /// Says what is wrong with what one witness saw. Gives how many sights were of something that was
    /// changing.
    fn judge(&self, sights: impl Iterator<Item = Sight>) -> Result<usize, String> {
        let (never, mut seen, mut changing) = (vec![(0, ABSENT)], HashMap::new(), 0);
        for sight in sights {
            let states = self.0.get(&(sight.table, sight.key)).unwrap_or(&never);
            let last = |step: u64| states.partition_point(|(since, _)| *since <= step) - 1;
            let newest = seen.entry((sight.table, sight.key)).or_insert(0);
            let may_be = last(sight.done).max(*newest)..=last(sight.begun);
            changing += usize::from(may_be.clone().count() > 1);
            let found = may_be.clone().find(|at| states[*at].1 == sight.what);
            *newest = found.ok_or_else(|| format!("{sight:?} is none of {:?}", states.get(may_be)))?;
        }
        Ok(changing)
    }
}

/// Takes steps while witnesses look; then they are heard. Gives how many looks they took at what was
/// changing.
fn watch(options: &Options, seed: u64, keys: u64, prepare: impl FnOnce(&Store)) -> usize {
    const WITNESSES: u64 = 2;
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { region: Some(scratch.path().into()), ..options.clone() };
    let (path, board) = (scratch.path().join("store"), Board::new());
    let sights = |witness: u64| scratch.path().join(format!("sights-{witness}"));
    let store = Store::create(&path, &options).unwrap();
    prepare(&store);
    let mut history = History::new(store, seed, keys);
    let witnesses: Vec<_> = (0..WITNESSES)
        .map(|witness| {
            fork(|| {
                bear_witness(&board, &path, &sights(witness), seed + witness, keys);
                0
            })
        })
        .collect();
    let start = Instant::now();
    while board.ready().load(SeqCst) < WITNESSES {
        assert!(start.elapsed() < LONGEST, "a witness did not come");
        std::thread::yield_now();
    }
    let mut past = Past::default();
    for step in 1..=12_000 {
        board.begun().store(step, SeqCst);
        let changed = history.step();
        board.done().store(step, SeqCst);
        past.note(step, changed, &history.twin);
    }
    board.stop().store(1, SeqCst);
    let mut changing = 0;
    for (witness, process) in (0..).zip(witnesses) {
        assert_eq!(process.wait(), Some(0), "witness {witness}");
        let bytes = std::fs::read(sights(witness)).unwrap();
        let (all, []) = bytes.as_chunks() else { panic!("half a sight") };
        changing += past.judge(all.iter().copied().map(Sight::of)).unwrap();
        assert!(all.len() > 1000, "witness {witness} took {} looks", all.len());
    }
    history.compare();
    changing
}

fn bear_witness(board: &Board, path: &Path, sights: &Path, seed: u64, keys: u64) {
    let store = Store::attach(path).unwrap();
    let tables = TABLES.map(|(name, _)| store.table(name).unwrap()).into();
    let sights = BufWriter::new(File::create(sights).unwrap());
    Witness { board, tables, keys, rng: Rng::with_seed(seed), sights }.keep_looking();
}

#[test]
fn other_processes_see_what_was_there_in_a_roomy_store() {
    assert!(watch(&Options { cleaners: 1, ..Options::with_limit(64 << 20) }, 20, 100, |_| {}) > 0);
}

#[test]
fn other_processes_see_what_was_there_in_a_tight_store() {
    watch(&Options { cleaners: 0, writers: 1, ..Options::with_limit(16 << 20) }, 21, 4000, |store| fill(store, 12));
}

/// A harness that cannot see these cannot see any.
#[test]
fn canaries_a_stale_a_torn_and_an_older_sight_are_noticed() {
    let past = Past(HashMap::from([((0, 7), vec![(0, ABSENT), (10, 1), (20, 3), (30, 1)])]));
    let saw = |done, begun, what| Sight { table: 0, key: 7, done, begun, what };
    let judge = |sights: &[Sight]| past.judge(sights.iter().copied());
    assert_eq!(judge(&[saw(0, 9, ABSENT), saw(9, 10, ABSENT), saw(9, 10, 1), saw(12, 30, 1), saw(15, 25, 3)]), Ok(4));
    assert_eq!(judge(&[Sight { key: 8, ..saw(0, 50, ABSENT) }]), Ok(0));
    assert!(judge(&[saw(20, 29, 1)]).is_err(), "it had changed before");
    assert!(judge(&[saw(0, 9, 1)]).is_err(), "nobody had begun it");
    assert!(judge(&[saw(0, 50, 5)]).is_err(), "it never was that");
    assert!(judge(&[saw(10, 20, 3), saw(10, 20, 1)]).is_err(), "it was that before");
}
