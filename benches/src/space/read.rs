//! Point reads and batches: every key once, in random order, and a look at each value.

use std::collections::HashMap;
use std::path::Path;

use hammerspace::{Snapshot, Space};
use hammerspace_rivals::libsparkey::{Compression, Cursor, LogWriter, Reader, write_index};

use super::{HASH_MAP, LIBSPARKEY, filled, named};
use crate::Result;
use crate::data::{Data, weight};
use crate::measure::{Work, in_turn, millions_a_second, timed};
use crate::report::Row;
use crate::scale::Scale;

const UNIT: &str = "M/s";
const BATCH: usize = 64;

/// Reads all keys once, and gives the sum of what was looked at.
type Pass<'a> = &'a mut dyn FnMut() -> Result<u64>;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = usual(scale, &scratch.join("read"))?;
    if let Some(keys) = scale.keys_large {
        rows.extend(large(scale, &scratch.join("read-large"), keys)?);
    }
    Ok(rows)
}

/// At the size of a usual space: beside the C library, and beside the map of its own that each process would have.
fn usual(scale: &Scale, directory: &Path) -> Result<Vec<Row>> {
    let mut data = Data::new(scale.keys);
    let (present, absent) = (data.present(), data.absent());
    let (space, reader) = (filled(directory, &data)?, c_pair(directory, &data)?);
    let (snapshot, mut cursor) = (space.snapshot(), reader.cursor()?);
    let map: HashMap<Vec<u8>, Vec<u8>> = data.pairs.iter().cloned().collect();
    let in_map = |keys: &[Vec<u8>]| Ok(keys.iter().map(|key| weight(map.get(key).map(Vec::as_slice))).sum());

    let mut rows = Vec::new();
    for (what, keys, sum) in [("present", &present, data.weight()), ("absent", &absent, 0)] {
        let passes: [Pass<'_>; 4] = [
            &mut || in_space(&space, keys),
            &mut || in_snapshot(&snapshot, keys),
            &mut || in_c(&mut cursor, keys),
            &mut || in_map(keys),
        ];
        let [ours, held, c, map] = rates(scale, keys.len(), sum, passes)?;
        let [get, get_held] = ["get", "get of a snapshot"].map(|call| named(&format!("{call}, {what}"), keys.len()));
        rows.push(Row::new(&get, UNIT, ours, LIBSPARKEY, c));
        rows.push(Row::new(&get, UNIT, ours, HASH_MAP, map));
        rows.push(Row::new(&get_held, UNIT, held, LIBSPARKEY, c));
    }

    let passes: [Pass<'_>; 3] =
        [&mut || in_batches(&snapshot, &present), &mut || in_c(&mut cursor, &present), &mut || in_map(&present)];
    let [ours, c, map] = rates(scale, present.len(), data.weight(), passes)?;
    let name = named("get_many of 64, present", present.len());
    rows.push(Row::new(&name, UNIT, ours, LIBSPARKEY, c));
    rows.push(Row::new(&name, UNIT, ours, HASH_MAP, map));
    Ok(rows)
}

/// Where no cache holds it any more.
fn large(scale: &Scale, directory: &Path, keys: usize) -> Result<Vec<Row>> {
    let mut data = Data::new(keys);
    let present = data.present();
    let (space, reader) = (filled(directory, &data)?, c_pair(directory, &data)?);
    let (snapshot, mut cursor) = (space.snapshot(), reader.cursor()?);
    let passes: [Pass<'_>; 4] = [
        &mut || in_space(&space, &present),
        &mut || in_snapshot(&snapshot, &present),
        &mut || in_batches(&snapshot, &present),
        &mut || in_c(&mut cursor, &present),
    ];
    let [ours, held, batches, c] = rates(scale, keys, data.weight(), passes)?;
    Ok(vec![
        Row::new(named("get, present", keys), UNIT, ours, LIBSPARKEY, c),
        Row::new(named("get of a snapshot, present", keys), UNIT, held, LIBSPARKEY, c).goal(scale.goal(">= 1.3")),
        Row::new(named("get_many of 64, present", keys), UNIT, batches, LIBSPARKEY, c),
    ])
}

/// Reads a second, in millions, of each pass; fails if one of them does not see what is there.
fn rates<const N: usize>(scale: &Scale, keys: usize, sum: u64, passes: [Pass<'_>; N]) -> Result<[f64; N]> {
    let mut works = passes.map(|pass| {
        move || {
            let (time, seen) = timed(&mut *pass);
            let seen = seen?;
            if seen == sum { Ok(time) } else { Err(format!("the values read come to {seen}, not {sum}").into()) }
        }
    });
    let seconds = in_turn(scale.rounds, &mut works.each_mut().map(|work| work as Work<'_>))?;
    Ok(seconds.map(|seconds| millions_a_second(keys, seconds)))
}

fn in_space(space: &Space, keys: &[Vec<u8>]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(space.get(key)?.as_deref());
    }
    Ok(sum)
}

fn in_snapshot(snapshot: &Snapshot, keys: &[Vec<u8>]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(snapshot.get(key)?.as_deref());
    }
    Ok(sum)
}

fn in_batches(snapshot: &Snapshot, keys: &[Vec<u8>]) -> Result<u64> {
    let mut sum = 0;
    for batch in keys.chunks(BATCH) {
        sum += snapshot.get_many(batch)?.iter().map(|value| weight(value.as_deref())).sum::<u64>();
    }
    Ok(sum)
}

fn in_c(cursor: &mut Cursor<'_>, keys: &[Vec<u8>]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += weight(cursor.get(key)?);
    }
    Ok(sum)
}

/// The same data in a pair that the C library wrote.
fn c_pair(directory: &Path, data: &Data) -> Result<Reader<'static>> {
    let (log, index) = (directory.join("c.spl"), directory.join("c.spi"));
    let mut writer = LogWriter::create(&log, Compression::None)?;
    for (key, value) in &data.pairs {
        writer.put(key, value)?;
    }
    writer.finish()?;
    write_index(&log, &index, 0)?;
    Ok(Reader::open(&log, &index)?)
}
