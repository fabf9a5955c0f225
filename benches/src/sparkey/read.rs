//! Point reads of uncompressed tables, one key at a time and in batches, beside the C library reading the same files.

use std::path::Path;
use std::time::Duration;

use hammerspace_os::{Map, Paging};
use hammerspace_rivals::libsparkey::Cursor;
use hammerspace_sparkey::{LogOptions, Table};

use super::LIBSPARKEY;
use super::numbered::{Key, Values, keys};
use super::pair::Pair;
use super::whole;
use crate::Result;
use crate::data::weight;
use crate::measure::{millions_a_second, timed, to_and_fro};
use crate::report::Row;
use crate::scale::{Scale, in_words};

pub(super) const BATCH: usize = 64;

/// Goals for get and get_many on a plain mapping, then with both files in huge pages. A table of a million keys has one of its own.
struct Goals {
    what: &'static str,
    get: [&'static str; 2],
    get_many: [&'static str; 2],
    get_of_a_million: Option<&'static str>,
}

const HITS: Goals =
    Goals { what: "hits", get: [">= 1.3", ">= 1.7"], get_many: [">= 4", ">= 5"], get_of_a_million: Some(">= 1.8") };
const MISSES: Goals =
    Goals { what: "misses", get: [">= 1.3", ">= 1.5"], get_many: [">= 3", ">= 4"], get_of_a_million: None };

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for keys in scale.tables {
        let pair = Pair::write(scratch, *keys, LogOptions::default(), Values::Small)?;
        rows.extend(of_size(scale, &pair)?);
        if scale.tables.last() == Some(keys) {
            rows.extend(whole::rows(scale, &pair)?);
        }
    }
    Ok(rows)
}

fn of_size(scale: &Scale, pair: &Pair) -> Result<Vec<Row>> {
    let (plain, huge, c) = (pair.table(Paging::OnDemand)?, pair.table(Paging::HugePages)?, pair.c()?);
    let mut cursor = c.cursor()?;
    let mut rows = Vec::new();
    for (goals, numbers) in [(HITS, 0..pair.keys), (MISSES, pair.keys..2 * pair.keys)] {
        let keys = keys(scale.lookups * (scale.rounds_short + 1), numbers);
        let mut sums = [0; 6];
        let [many, on_two, one, in_c, one_huge, many_huge] = &mut sums;
        // Everyone sees all keys, but others than the rest do in the same round: C reads the pages of our plain mapping, so that
        // whoever came second would find in a cache what the first had waited for.
        let apart = keys.len() / scale.lookups / 6;
        let rounds = |work: usize| keys.chunks(scale.lookups).cycle().skip(work * apart);
        // The single lookups side by side with those of C, which they are held against.
        let times = to_and_fro(
            scale.rounds_short,
            &mut [
                &mut each(rounds(0), |keys| summed(many, || in_batches(&plain, keys))),
                &mut each(rounds(1), |keys| summed(on_two, || on_two_threads(&plain, keys))),
                &mut each(rounds(2), |keys| summed(one, || one_by_one(&plain, keys))),
                &mut each(rounds(3), |keys| summed(in_c, || with_c(&mut cursor, keys))),
                &mut each(rounds(4), |keys| summed(one_huge, || one_by_one(&huge, keys))),
                &mut each(rounds(5), |keys| summed(many_huge, || in_batches(&huge, keys))),
            ],
        )?;
        if sums.iter().any(|sum| *sum != sums[0]) {
            return Err(format!("{}: the values read come to {sums:?}", goals.what).into());
        }
        let rates = times.medians().map(|seconds| millions_a_second(scale.lookups, seconds));
        let [many, on_two, one, in_c, one_huge, many_huge] = std::array::from_fn(|work| work);
        let row = |how: &str, where_: &str, work: usize, goal: Option<&'static str>| {
            let name = format!("{how}, {}, {} keys{where_}", goals.what, in_words(pair.keys as usize));
            let row = Row::new(name, "M/s", rates[work], LIBSPARKEY, rates[in_c]);
            row.spread(times.spread(work, in_c)).goal(goal.and_then(|goal| scale.goal(goal)))
        };
        let large = pair.keys >= 10_000_000;
        let of_large = |goal: &'static str| large.then_some(goal);
        let get = if large { Some(goals.get[0]) } else { goals.get_of_a_million };
        rows.extend([
            row("get", "", one, get),
            row("get_many of 64", "", many, of_large(goals.get_many[0])),
            row("get_many of 64, two threads", "", on_two, None),
            row("get", ", huge pages", one_huge, of_large(goals.get[1])),
            row("get_many of 64", ", huge pages", many_huge, of_large(goals.get_many[1])),
        ]);
    }
    Ok(rows)
}

/// Work that takes the next of `rounds` each time: other keys in every round, so that no cache knows them from the last.
pub(super) fn each<'a, T>(
    mut rounds: impl Iterator<Item = T> + 'a,
    mut work: impl FnMut(T) -> Result<Duration> + 'a,
) -> impl FnMut() -> Result<Duration> + 'a {
    move || work(rounds.next().ok_or("there are keys for fewer rounds")?)
}

/// How long a pass takes; what it saw of the values is added to `sum`.
pub(super) fn summed(sum: &mut u64, pass: impl FnOnce() -> Result<u64>) -> Result<Duration> {
    let (time, result) = timed(pass);
    *sum += result?;
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

fn on_two_threads(table: &Table<Map, Map>, keys: &[Key]) -> Result<u64> {
    let (left, right) = keys.split_at(keys.len() / 2);
    std::thread::scope(|scope| {
        let left = scope.spawn(|| in_batches(table, left).map_err(|error| error.to_string()));
        let right = in_batches(table, right)?;
        Ok(right + left.join().expect("a pass does not panic")?)
    })
}

pub(super) fn with_c(cursor: &mut Cursor<'_>, keys: &[Key]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(cursor.get(key)?);
    }
    Ok(sum)
}
