//! Point reads of uncompressed tables, one key at a time and in batches, beside the C library reading the same files.

use std::path::Path;

use hammerspace_os::Map;
use hammerspace_rivals::libsparkey::Cursor;
use hammerspace_sparkey::{LogOptions, Table};

use super::LIBSPARKEY;
use super::numbered::{Key, keys};
use super::pair::Pair;
use crate::Result;
use crate::data::weight;
use crate::measure::{in_turn, millions_a_second, timed};
use crate::report::Row;
use crate::scale::{Scale, in_words};

const BATCH: usize = 64;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for keys in scale.tables {
        rows.extend(of_size(scale, &Pair::write(scratch, *keys, LogOptions::default())?)?);
    }
    Ok(rows)
}

fn of_size(scale: &Scale, pair: &Pair) -> Result<Vec<Row>> {
    let (table, c) = (pair.table()?, pair.c()?);
    let mut cursor = c.cursor()?;
    let mut rows = Vec::new();
    for (what, numbers) in [("hits", 0..pair.keys), ("misses", pair.keys..2 * pair.keys)] {
        let keys = keys(scale.lookups, numbers);
        let mut sums = [0; 3];
        let [one, many, c] = &mut sums;
        let seconds = in_turn(
            scale.rounds,
            &mut [
                &mut || summed(one, || one_by_one(&table, &keys)),
                &mut || summed(many, || in_batches(&table, &keys)),
                &mut || summed(c, || in_c(&mut cursor, &keys)),
            ],
        )?;
        if sums[0] != sums[2] || sums[1] != sums[2] {
            return Err(format!("{what}: the values read come to {sums:?}").into());
        }
        let [one, many, c] = seconds.map(|seconds| millions_a_second(keys.len(), seconds));
        let named = |how: &str| format!("{how}, {what}, {} keys", in_words(pair.keys as usize));
        rows.push(Row::new(named("get"), "M/s", one, LIBSPARKEY, c));
        rows.push(Row::new(named("get_many of 64"), "M/s", many, LIBSPARKEY, c));
    }
    Ok(rows)
}

fn summed(sum: &mut u64, pass: impl FnOnce() -> Result<u64>) -> Result<std::time::Duration> {
    let (time, result) = timed(pass);
    *sum = result?;
    Ok(time)
}

fn one_by_one(table: &Table<Map, Map>, keys: &[Key]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(table.get(key)?.as_deref());
    }
    Ok(sum)
}

fn in_batches(table: &Table<Map, Map>, keys: &[Key]) -> Result<u64> {
    let mut sum = 0;
    for batch in keys.chunks(BATCH) {
        sum += table.get_many(batch)?.iter().map(|value| weight(value.as_deref())).sum::<u64>();
    }
    Ok(sum)
}

fn in_c(cursor: &mut Cursor<'_>, keys: &[Key]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(cursor.get(key)?);
    }
    Ok(sum)
}
