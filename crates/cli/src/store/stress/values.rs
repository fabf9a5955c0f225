//! What the value of a key is after so many changes, and how each is made: both follow from the key and the number of the change.
//!
//! | keys | what is done to them, over and over |
//! |---|---|
//! | one in 1024 | a value in parts is put and appended to, replaced by a short one, which grows into parts again; it goes |
//! | a third of the others | values are put, also under conditions and with an expiry, half of them of one length; they are deleted, or expire at once |
//! | a third | a word is appended, 300 times |
//! | a third | one is added |

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hammerspace::store::{Condition, Key, Put, Table, ValueKind};
use hammerspace_error::{Error, Kind, Result};

const WORD: u64 = 8;
/// A value that words are appended to begins afresh after so many changes, each key's at another time: so they are not all long at once.
const WORDS_MAX: u64 = 300;
/// Half of the values that are put have this length: they are put where such a one lay before, in another key's hole; in stores of 128 MiB
/// and more past the caches.
const LONG: u64 = 1040;
/// A value that is put is gone after so many changes.
const LIFE: u64 = 8;
const HOUR: Duration = Duration::from_hours(1);

/// How a key is changed.
enum Way {
    Parts,
    Put,
    Append,
    Add,
}

impl Way {
    fn of(key: u64) -> Self {
        match (key % 1024, key % 3) {
            (0, _) => Self::Parts,
            (_, 0) => Self::Put,
            (_, 1) => Self::Append,
            _ => Self::Add,
        }
    }
}

/// As the tables have them.
pub(super) fn key(number: u64) -> Key<'static> {
    Key::Integer(number)
}

/// The value of a key after this change of it; `None` where it is not there, as before the first.
pub(super) fn after(key: u64, change: u64) -> Option<Vec<u8>> {
    let step = change % LIFE;
    let is_there = match Way::of(key) {
        Way::Parts | Way::Put => step > 0,
        Way::Append | Way::Add => change > 0,
    };
    is_there.then(|| match Way::of(key) {
        Way::Parts if step < 5 => bytes(key, change - step + 1, 70_000 + (step - 1) * 30_000),
        Way::Parts => bytes(key, change - step + 5, if step == 5 { 100 } else { 80_000 }),
        Way::Put if key.is_multiple_of(2) => bytes(key, change, LONG),
        Way::Put => bytes(key, change, 2 * WORD + (key.wrapping_mul(31) ^ change.wrapping_mul(17)) % 600),
        Way::Append => {
            let first = change.saturating_sub(words_before(key, change)).max(1);
            (first..=change).flat_map(|change| word(key, change)).collect()
        }
        Way::Add => change.to_le_bytes().to_vec(),
    })
}

/// How many words a value has when this change appends another, if it had begun afresh once.
fn words_before(key: u64, change: u64) -> u64 {
    (change + key / 3) % WORDS_MAX
}

/// Key, number of a change, and bytes that follow from both.
fn bytes(key: u64, change: u64, len: u64) -> Vec<u8> {
    let mut value = [key.to_le_bytes(), change.to_le_bytes()].concat();
    value.extend((2 * WORD..len).map(|at| (key ^ change.wrapping_mul(7) ^ at ^ at >> 8) as u8));
    value
}

/// What a change appends.
fn word(key: u64, change: u64) -> [u8; WORD as usize] {
    (change << 24 | key & 0xff_ffff).to_le_bytes()
}

/// Makes a change of a key, all before it having been made.
pub(super) fn make(table: &Table, key: u64, change: u64) -> Result<()> {
    let value = after(key, change);
    match Way::of(key) {
        Way::Parts => make_parts(table, key, change, value),
        Way::Put => make_put(table, key, change, value),
        Way::Append if words_before(key, change) == 0 => put(table, key, value, &appendable()),
        Way::Append => table.append(key, word(key, change)).map(drop),
        Way::Add => must(key, u64::try_from(table.add(key, 1)?) == Ok(change)),
    }
}

fn make_parts(table: &Table, key: u64, change: u64, value: Option<Vec<u8>>) -> Result<()> {
    match (change % LIFE, value) {
        (0, _) => must(key, table.delete(key)?),
        (1 | 5, value) => put(table, key, value, &appendable()),
        (7, _) => must(key, table.expire(key, SystemTime::now() + HOUR)?),
        (_, value) => {
            let [before, value] = [after(key, change - 1), value].map(Option::unwrap_or_default);
            let len = table.append(key, &value[before.len()..])?;
            must(key, len == value.len() as u64)
        }
    }
}

fn make_put(table: &Table, key: u64, change: u64, value: Option<Vec<u8>>) -> Result<()> {
    let put_if = |condition: Condition| put(table, key, value.clone(), &Put::when(condition));
    match (change % LIFE, change / LIFE % 3) {
        (0, 0) => must(key, table.delete(key)?),
        (0, 1) => must(key, table.expire(key, UNIX_EPOCH)?),
        (0, _) => put(table, key, value, &Put::default().until(UNIX_EPOCH)),
        (1, _) => put_if(Condition::Absent),
        (2, _) => put_if(Condition::Present),
        (3, _) => {
            let version = table.get(key)?.and_then(|value| value.meta.version);
            put_if(version.map_or(Condition::Present, Condition::Version))
        }
        (4, _) => put(table, key, value, &Put::default().ttl(HOUR)),
        _ => put_if(Condition::Always),
    }
}

fn appendable() -> Put {
    Put::default().kind(ValueKind::Append)
}

fn put(table: &Table, key: u64, value: Option<Vec<u8>>, put: &Put) -> Result<()> {
    must(key, table.put_with(key, value.unwrap_or_default(), put)?.is_done())
}

/// Nobody else changes the key, so it is as its writer left it.
fn must(key: u64, is_as_expected: bool) -> Result<()> {
    if is_as_expected {
        return Ok(());
    }
    Err(Error::new(Kind::Corrupt, format!("key {key} is not as its only writer left it")))
}
