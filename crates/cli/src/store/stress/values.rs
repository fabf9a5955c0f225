//! Values that say what they must be: key and progress, and bytes that follow from both.
//!
//! A key's number says what is done to it: every third is put, every third appended to, every third counted. Progress only grows.

use hammerspace::store::{Key, Put, Table, Value, ValueKind};
use hammerspace_error::Result;

const WORD: usize = 8;
/// A value that was appended to begins afresh at this length.
const APPENDED_MAX: usize = 300 * WORD;

fn whole(key: u64, progress: u64) -> Vec<u8> {
    let len = 2 * WORD as u64 + (key.wrapping_mul(31) ^ progress.wrapping_mul(17)) % 600;
    let mut value = [key.to_le_bytes(), progress.to_le_bytes()].concat();
    value.extend((value.len() as u64..len).map(|at| (key ^ progress.wrapping_mul(7) ^ at) as u8));
    value
}

/// A key's next change.
pub(super) fn advance(table: &Table, key: u64, before: Option<&Value>) -> Result<()> {
    let progress = before.and_then(|value| progress(key, value)).unwrap_or(0) + 1;
    match key % 3 {
        0 => table.put(key, whole(key, progress)).map(drop)?,
        1 if before.is_some_and(|value| value.len() > APPENDED_MAX) => {
            let put = Put::default().kind(ValueKind::Append);
            let _ = table.put_with(key, word(key, progress), &put)?;
        }
        1 => table.append(key, word(key, progress)).map(drop)?,
        _ => table.add(key, 1).map(drop)?,
    }
    Ok(())
}

/// One change of a value that is appended to.
fn word(key: u64, progress: u64) -> [u8; WORD] {
    (progress << 24 | key & 0xff_ffff).to_le_bytes()
}

/// How far a value has come; `None` if it is not a whole one of this key.
pub(super) fn progress(key: u64, value: &Value) -> Option<u64> {
    match key % 3 {
        0 => {
            let progress = u64::from_le_bytes(value.get(WORD..2 * WORD)?.try_into().ok()?);
            (**value == whole(key, progress)).then_some(progress)
        }
        1 => {
            let last = u64::from_le_bytes(*value.last_chunk()?) >> 24;
            let count = value.len() as u64 / WORD as u64;
            let all: Vec<u8> = (last.checked_sub(count)? + 1..=last).flat_map(|progress| word(key, progress)).collect();
            (**value == all).then_some(last)
        }
        _ => value.number()?.try_into().ok(),
    }
}

/// As the tables have them.
pub(super) fn key(number: u64) -> Key<'static> {
    Key::Integer(number)
}
