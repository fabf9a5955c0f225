//! Walking over all live pairs in log order, and opening a table, beside the C library on the same files.

use std::path::Path;
use std::time::Duration;

use hammerspace_os::Paging;
use hammerspace_sparkey::{Effort, LogOptions};

use super::LIBSPARKEY;
use super::numbered::{Values, key};
use super::pair::Pair;
use super::read::summed;
use crate::Result;
use crate::data::weight;
use crate::measure::{in_turn, millions_a_second, timed_ok};
use crate::report::Row;
use crate::scale::{Scale, in_words};

/// Of so many keys, one was overwritten and one deleted.
const DEAD: u64 = 10;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let clean = Pair::write(scratch, scale.build, LogOptions::default(), Values::Small)?;
    let dirty = dirty(scratch, scale.build)?;
    let mut rows = Vec::new();
    for (what, pair, goal) in [("nothing dead", &clean, ">= 20"), ("some dead", &dirty, ">= 4")] {
        let (table, c) = (pair.table(Paging::OnDemand)?, pair.c()?);
        let mut sums = [0; 2];
        let [ours, theirs] = &mut sums;
        let ours = &mut || {
            summed(ours, || {
                table
                    .iter()
                    .try_fold(0, |sum, entry| entry.map(|entry| sum + weight(Some(&entry.value))))
                    .map_err(Into::into)
            })
        };
        let theirs = &mut || {
            summed(theirs, || {
                let (mut cursor, mut sum) = (c.cursor()?, 0);
                while let Some((_, value)) = cursor.next()? {
                    sum += weight(Some(value));
                }
                Ok(sum)
            })
        };
        let seconds = in_turn(scale.rounds_large, &mut [ours, theirs])?;
        if sums[0] != sums[1] {
            return Err(format!("{what}: the values come to {sums:?}").into());
        }
        let [ours, c] = seconds.map(|seconds| millions_a_second(table.len() as usize, seconds));
        let name = format!("iterate, {what}, {} keys", in_words(pair.keys as usize));
        rows.push(Row::new(name, "M/s", ours, LIBSPARKEY, c).goal(scale.goal(goal)));
    }
    rows.push(open(scale, &clean)?);
    Ok(rows)
}

/// A table where some keys were overwritten and some deleted.
fn dirty(scratch: &Path, keys: u64) -> Result<Pair> {
    let pair = Pair::named(scratch, "dirty", keys);
    let (mut writer, mut value) = (pair.writer(LogOptions::default())?, Vec::new());
    for number in (0..keys).chain((0..keys).step_by(DEAD as usize)) {
        Values::Small.of(number, &mut value);
        writer.put(&key(number), &value)?;
    }
    for number in (1..keys).step_by(DEAD as usize) {
        writer.delete(&key(number))?;
    }
    writer.finish()?;
    pair.write_index(&Effort::default())?;
    Ok(pair)
}

/// Opening and closing again.
fn open(scale: &Scale, pair: &Pair) -> Result<Row> {
    const OFTEN: u32 = 100;
    let each = |open: &dyn Fn() -> Result| -> Result<Duration> {
        Ok(timed_ok(|| (0..OFTEN).try_for_each(|_| open()))? / OFTEN)
    };
    let seconds = in_turn(
        scale.rounds,
        &mut [&mut || each(&|| pair.table(Paging::OnDemand).map(drop)), &mut || each(&|| pair.c().map(drop))],
    )?;
    let [ours, c] = seconds.map(|seconds| seconds * 1e6);
    let name = format!("open and close, {} keys", in_words(pair.keys as usize));
    Ok(Row::new(name, "us", ours, LIBSPARKEY, c).goal(scale.goal("<= 100 us")))
}
