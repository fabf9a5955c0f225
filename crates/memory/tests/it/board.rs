//! Values that say what they must be, and a board in shared memory on which a writer notes what it is doing
//! and what it has done: so any process can tell a torn, a stale or a lost value, also after the writer was
//! killed.
//!
//! ```text
//! state of a key: | length of its value 32 | epoch 32 |    an epoch begins with a put or a delete, and its value grows by appends
//! board: | stop | reads × 15 | intended, written, seen | intended, written, seen | …   three words for each key
//! ```
//!
//! Each key has one writer. So what all processes see of it is linearisable if every read gives a state that
//! was intended when it ended, and is not older than what was written, or seen by any reader, when it began
//! (Lamport, "On interprocess communication", 1986: an atomic register is a regular one without new-old
//! inversion).

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use fastrand::Rng;
use hammerspace_error::Result;
use hammerspace_memory::{Change, Cursor, Item, Key, Memory, OwnedKey, TableId, View};
use hammerspace_os::{Access, Dir, Shared};

use crate::model::{PLAIN, VERSIONED};

const STOP: usize = 0;
const KEYS: usize = 16;

/// What the value of a key must be: of an epoch, so long. No length: the key is not there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct State(u64);

impl State {
    pub(crate) fn new(epoch: u64, len: u64) -> Self {
        Self(epoch << 32 | len)
    }

    fn epoch(self) -> u64 {
        self.0 >> 32
    }

    pub(crate) fn len(self) -> u64 {
        self.0 & 0xffff_ffff
    }

    pub(crate) fn is_there(self) -> bool {
        self.len() != 0
    }

    /// Key, epoch, and bytes that follow from both.
    pub(crate) fn value(self, key: u64) -> Vec<u8> {
        let mut value = [key.to_le_bytes(), self.epoch().to_le_bytes()].concat();
        let seed = (key << 32 | self.epoch()).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        value.extend((16..self.len()).map(|at| seed[at as usize % 8] ^ (at / 8) as u8));
        value.truncate(self.len() as usize);
        value
    }

    /// The state that a value of this key is of, if it is whole.
    pub(crate) fn of(key: u64, value: &[u8]) -> Option<Self> {
        let epoch = u64::from_le_bytes(value.get(8..16)?.try_into().ok()?);
        let state = Self::new(epoch, value.len() as u64);
        (state.value(key) == value).then_some(state)
    }

    /// What a writer might make of it.
    fn next(self, rng: &mut Rng, lens: Range<u64>, may_go: bool) -> Self {
        let longer = self.len() + rng.u64(1..=lens.end / 4);
        match rng.u8(..8) {
            0 if may_go && self.is_there() => Self::new(self.epoch() + 1, 0),
            1..5 if self.is_there() && longer < lens.end => Self::new(self.epoch(), longer),
            _ => Self::new(self.epoch() + 1, rng.u64(lens)),
        }
    }
}

/// An expiry that has passed, and one that no test lives to see.
const PAST: u64 = 1;
const FUTURE: u64 = 1 << 42;

/// Half of what each writer writes has versions.
pub(crate) fn table_of(key: u64) -> TableId {
    if (key / 2).is_multiple_of(2) { PLAIN } else { VERSIONED }
}

/// Changes a key from one state to the next. It goes by being deleted, by expiring, or by a value that has
/// expired; and every third value ends some time.
pub(crate) fn change(memory: &Memory, key: u64, from: State, to: State) -> Result<()> {
    let (table, name, value) = (table_of(key), Key::Integer(key), to.value(key));
    let put = |expiry: Option<u64>| memory.put_until(table, name, &value, expiry);
    let outcome = match (to.is_there(), to.epoch() % 3) {
        (false, 0) => memory.update(table, name, |_| Change::Delete),
        (false, 1) => memory.update(table, name, |_| Change::Expire(Some(PAST))),
        (false, _) => put(Some(PAST)),
        (true, _) if from.epoch() == to.epoch() => memory.append(table, name, 0, &value[from.len() as usize..]),
        (true, _) => put(to.epoch().is_multiple_of(3).then_some(FUTURE)),
    };
    outcome.map(drop)
}

/// The keys of a test: `staying` of them are always there, the others come and go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) staying: u64,
    pub(crate) all: u64,
    /// Lengths of their values.
    pub(crate) len_min: u64,
    pub(crate) len_max: u64,
}

/// What writers and readers of several processes know of each other.
pub(crate) struct Board {
    words: Shared,
    pub(crate) keys: Keys,
}

impl Board {
    /// Forked children share it.
    pub(crate) fn new(keys: Keys) -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = Dir::open(scratch.path()).unwrap().create_file("board").unwrap();
        let len = (KEYS as u64 + 3 * keys.all) * 8;
        file.truncate(len).unwrap();
        Self { words: Shared::map(&file, len, Access::Write).unwrap(), keys }
    }

    fn intended(&self, key: u64) -> &AtomicU64 {
        &self.words[KEYS + 3 * key as usize]
    }

    fn written(&self, key: u64) -> &AtomicU64 {
        &self.words[KEYS + 3 * key as usize + 1]
    }

    /// The latest state that any reader has seen.
    fn seen(&self, key: u64) -> &AtomicU64 {
        &self.words[KEYS + 3 * key as usize + 2]
    }

    pub(crate) fn stop(&self) {
        self.words[STOP].store(1, Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.words[STOP].load(Acquire) == 1
    }

    /// How often a reader of this number has read.
    pub(crate) fn reads(&self, reader: usize) -> u64 {
        self.words[1 + reader].load(Acquire)
    }

    /// A number that grows with everything that is written; by 1 << 32 with each new epoch of a key.
    pub(crate) fn changes(&self) -> u64 {
        (0..self.keys.all).fold(0, |sum, key| sum.wrapping_add(self.written(key).load(Acquire)))
    }

    /// Notes what a key is to become, changes it, and notes that it has.
    pub(crate) fn write(&self, memory: &Memory, key: u64, to: State) -> Result<()> {
        let from = State(self.written(key).load(Relaxed));
        self.intended(key).store(to.0, Release);
        change(memory, key, from, to)?;
        self.written(key).store(to.0, Release);
        Ok(())
    }

    /// Gives every staying key its first value.
    pub(crate) fn begin(&self, memory: &Memory) {
        (0..self.keys.staying).for_each(|key| self.write(memory, key, State::new(1, self.keys.len_min)).unwrap());
    }

    /// Changes keys of one writer among `writers`, as long as `goes_on` says so.
    pub(crate) fn keep_writing(
        &self,
        memory: &Memory,
        writer: u64,
        writers: u64,
        seed: u64,
        goes_on: impl Fn() -> bool,
    ) {
        let mut rng = Rng::with_seed(seed);
        while goes_on() {
            let key = rng.u64(..self.keys.all / writers) * writers + writer;
            let from = State(self.written(key).load(Relaxed));
            let lens = self.keys.len_min..self.keys.len_max;
            self.write(memory, key, from.next(&mut rng, lens, key >= self.keys.staying)).unwrap();
        }
    }

    /// Says what is wrong with a key as it was read after `before` had been written.
    fn judge(&self, key: u64, before: State, value: Option<&[u8]>) -> Result<State, String> {
        let after = State(self.intended(key).load(Acquire));
        let Some(value) = value else {
            let may_be = !before.is_there() || (after != before && key >= self.keys.staying);
            return may_be.then_some(before).ok_or_else(|| format!("key {key} is gone, and was {before:?}"));
        };
        let state = State::of(key, value).ok_or_else(|| format!("key {key} is torn: {} bytes", value.len()))?;
        let is_timely = before <= state && state <= after;
        is_timely.then_some(state).ok_or_else(|| format!("key {key} is {state:?}, not in {before:?} to {after:?}"))
    }

    /// Reads all the time, in every way there is, and says what is wrong.
    pub(crate) fn keep_reading(&self, view: View<'_>, reader: usize, seed: u64) -> Result<(), String> {
        let mut rng = Rng::with_seed(seed);
        while !self.is_stopped() {
            let keys: Vec<u64> = (0..rng.u64(1..50)).map(|_| rng.u64(..self.keys.all)).collect();
            self.read_some(view, &keys)?;
            if rng.u8(..16) == 0 {
                self.scan_all(view, &mut rng)?;
            }
            self.words[1 + reader].fetch_add(1, Release);
        }
        Ok(())
    }

    /// Reads keys one by one, or many at a time.
    fn read_some(&self, view: View<'_>, keys: &[u64]) -> Result<(), String> {
        let known = |key: &u64| State(self.written(*key).load(Acquire).max(self.seen(*key).load(Acquire)));
        let before: Vec<State> = keys.iter().map(known).collect();
        let mut wrong = Ok(());
        let mut judge = |at: usize, value: Option<&[u8]>| match self.judge(keys[at], before[at], value) {
            Ok(state) => drop(self.seen(keys[at]).fetch_max(state.0, AcqRel)),
            Err(finding) => wrong = Err(finding),
        };
        if keys.len() == 1 {
            let (table, mut value) = (table_of(keys[0]).number, Vec::new());
            let found = view.get(table, Key::Integer(keys[0]), &mut value).map_err(|error| error.to_string())?;
            judge(0, found.map(|_| &value[..]));
            return wrong;
        }
        for table in [PLAIN, VERSIONED] {
            let of_table: Vec<_> = (0..keys.len()).filter(|at| table_of(keys[*at]) == table).collect();
            let names: Vec<_> = of_table.iter().map(|at| Key::Integer(keys[*at])).collect();
            view.get_many(table.number, &names, |at, found| judge(of_table[at], found.map(|(_, value)| value)))
                .map_err(|error| error.to_string())?;
        }
        wrong
    }

    /// Lists everything, and finds what stays exactly once.
    fn scan_all(&self, view: View<'_>, rng: &mut Rng) -> Result<(), String> {
        let mut seen = vec![0; self.keys.all as usize];
        for table in [PLAIN, VERSIONED] {
            let mut next = Some(Cursor::START);
            while let Some(at) = next {
                let mut items = Vec::new();
                next = view.scan(table.number, at, rng.usize(1..40), &mut items).map_err(|error| error.to_string())?;
                for Item { key, value, .. } in items {
                    let OwnedKey::Integer(key) = key else { return Err(format!("{key:?} is nobody's")) };
                    State::of(key, &value).ok_or_else(|| format!("key {key} is torn in a scan"))?;
                    let of_table = seen.get_mut(key as usize).filter(|_| table_of(key) == table);
                    *of_table.ok_or_else(|| format!("{key} is nobody's"))? += 1;
                }
            }
        }
        match seen[..self.keys.staying as usize].iter().position(|count| *count != 1) {
            Some(key) => Err(format!("a scan gave key {key} {} times", seen[key])),
            None => Ok(()),
        }
    }

    /// Compares a store with what was written, and takes what was being written as done or not. Nobody
    /// changes it meanwhile.
    pub(crate) fn settle(&self, memory: &Memory) -> Result<(), String> {
        let mut records = 0;
        for key in 0..self.keys.all {
            let mut value = Vec::new();
            let (table, name) = (table_of(key), Key::Integer(key));
            let found = memory.view().get(table.number, name, &mut value).map_err(|error| error.to_string())?;
            let [intended, written] = [self.intended(key), self.written(key)].map(|word| State(word.load(Relaxed)));
            let is = match found {
                Some(_) => State::of(key, &value).ok_or_else(|| format!("key {key} is torn"))?,
                None if !intended.is_there() => intended,
                None => written,
            };
            if (is != intended && is != written) || is.is_there() != found.is_some() {
                return Err(format!("key {key} is {is:?}, and was written as {written:?}, or as {intended:?}"));
            }
            self.intended(key).store(is.0, Relaxed);
            self.written(key).store(is.0, Relaxed);
            if found.is_none() {
                // What has expired takes its record along, which nobody but a cleaner would miss.
                memory.update(table, name, |_| Change::Delete).map_err(|error| error.to_string())?;
            }
            let parts = if is.len() > 1 << 16 { is.len().div_ceil((1 << 16) - 24) } else { 0 };
            records += if found.is_some() { 1 + parts } else { 0 };
        }
        let report = memory.verify();
        if report.faults != 0 {
            return Err(format!("{:?}", report.findings));
        }
        if report.records != records {
            return Err(format!("{} records, and {records} are of use", report.records));
        }
        Ok(())
    }
}

/// Of two readers one after the other, the second sees nothing older, even if the write is still under way.
#[test]
fn canary_a_value_that_goes_back_is_noticed() {
    let board = Board::new(Keys { staying: 1, all: 1, len_min: 16, len_max: 32 });
    let (old, new) = (State::new(1, 20), State::new(2, 20));
    board.written(0).store(old.0, Relaxed);
    board.intended(0).store(new.0, Relaxed);
    assert_eq!(board.judge(0, old, Some(&new.value(0))), Ok(new));
    assert_eq!(board.judge(0, old, Some(&old.value(0))), Ok(old));
    assert!(board.judge(0, new, Some(&old.value(0))).is_err());
    assert!(board.judge(0, old, Some(&State::new(3, 20).value(0))).is_err(), "nobody intended it");
}
