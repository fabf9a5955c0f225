//! Growth from nothing: what the index takes for each key while it doubles once, and how long what splits it takes.

use hammerspace::store::{Options, OwnedKey};
use hammerspace_workloads::bigmem::mix;

use super::float;
use super::stand::Stand;
use super::windows::{Window, Windows};
use crate::Result;
use crate::report::Row;
use crate::scale::{Scale, in_words};

/// The index is looked at so often.
const WINDOWS: u64 = 100;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let (keys, limit) = if scale.is_full() { (100_000_000, 12 << 30) } else { (30_000, 64 << 20) };
    scale.settle();
    let stand = Stand::create(&Options::with_limit(limit), false)?;
    let mut windows = Windows::default();
    // Bytes for each key, during the last doubling.
    let mut index = Vec::new();
    for first in (0..keys).step_by((keys / WINDOWS) as usize) {
        let until = first + keys / WINDOWS;
        let batch: Vec<u64> = (first..until).map(mix).collect();
        windows.push(Window::of(&batch, |batch| {
            for &key in batch {
                stand.table.put(key, key.to_le_bytes())?;
            }
            Ok(())
        })?);
        if 2 * until >= keys {
            index.push(float(stand.store.usage().index) / float(until));
        }
    }
    let (stand, opened) = stand.reopen()?;
    let mut found = 0;
    for entry in &stand.table {
        let entry = entry?;
        found += u64::from(entry.key == OwnedKey::Integer(number(&entry.value.bytes)));
    }

    let name = format!("growth to {} keys", in_words(keys as usize));
    let mean = index.iter().sum::<f64>() / float(index.len() as u64);
    let bytes = [("least", least(&index)), ("mean", mean), ("most", most(&index))];
    let mut rows: Vec<Row> = bytes
        .map(|(which, bytes)| Row::alone(format!("{name}, index during the last doubling, {which}"), "B/key", bytes))
        .into();
    let [wall, cpu] = [windows.slowest().wall, windows.slowest().cpu].map(|time| time.as_secs_f64() * 1e3);
    rows.extend([
        Row::alone(format!("{name}, slowest 64 puts in processor time"), "ms", cpu).goal(scale.goal("<= 1 ms")),
        Row::alone(format!("{name}, slowest 64 puts by the clock"), "ms", wall),
        Row::alone(&*name, "M/s", windows.rate()),
        Row::alone(format!("{name}, slowest window over the median"), "x", windows.steadiness()),
        Row::alone(format!("{name}, opened anew by another owner"), "ms", opened.as_secs_f64() * 1e3)
            .goal(scale.goal("<= 10 ms")),
        Row::alone(format!("{name}, verified"), "%", 100.0 * float(found) / float(keys)).goal(scale.goal(">= 100 %")),
    ]);
    Ok(rows)
}

fn number(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_le_bytes)
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}
