//! Aggregate Knowledge's "big memory": events of 16 bytes appended to the values of keys, most of which have few. The table is not
//! told how many keys will come; its limit is what the goal allows it.
//!
//! At most two of stores and hash map live at a time: each takes a quarter or more of the memory that the bench is meant for.

use std::time::Duration;

use hammerspace::store::{Cursor, Key, Table, ValueKind};
use hammerspace_workloads::bigmem::Record;

use super::events::{Events, Goals, Target};
use super::windows::{Window, Windows};
use crate::Result;
use crate::measure::{Lap, beside_a_toucher, millions_a_second, timed_ok};
use crate::report::Row;
use crate::scale::{Scale, in_words};

const P3: &str = include_str!("../../vectors/bigmem/table_78000000_212000000.csv");
/// Bytes for each key beyond key and value that a store may take, and with versions.
const OVERHEAD: u64 = 28;
const OVERHEAD_VERSIONED: u64 = 36;
const GOALS: Goals = Goals {
    rate: None,
    steadiness: Some(">= 0.5 x"),
    slowest: Some("<= 10 ms"),
    overhead: Some("<= 28 B/key"),
    peak: Some("<= 1.1 x"),
};

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let events = Events::of(scale, P3);
    scale.settle();
    let mut rows = with_versions(scale, &events)?;
    scale.settle();
    rows.extend(beside_a_map(scale, &events)?);
    scale.settle();
    rows.extend(one_at_a_time(scale, &events)?);
    scale.settle();
    let limit = events.limit(scale, OVERHEAD);
    let mut first = Target::create(limit, false, in_batches)?;
    let [windows] = events.append([&mut |records| first.append(records)])?;
    let goals = Goals { rate: Some(">= 2 M/s"), ..GOALS };
    rows.extend(first.rows(scale, &events, &windows, &name("batches of 64", &events), goals)?);
    rows.extend(enumerate(scale, &events, &first, &windows)?);
    Ok(rows)
}

fn name(how: &str, events: &Events) -> String {
    format!("append, {how}, {} events", in_words(events.count() as usize))
}

/// Beside a thread that touches memory of its own, and so not for its rates.
fn with_versions(scale: &Scale, events: &Events) -> Result<Vec<Row>> {
    let mut target = Target::create(events.limit(scale, OVERHEAD_VERSIONED), true, one_by_one)?;
    // More than caches hold.
    let words = if scale.is_full() { 32 << 20 } else { 1 << 10 };
    let (windows, kept) = beside_a_toucher(words, || events.append([&mut |records| target.append(records)]));
    let [windows] = windows?;
    let name = name("with versions, beside a thread that touches memory", events);
    let goals = Goals { steadiness: None, overhead: Some("<= 36 B/key"), ..GOALS };
    let mut rows = target.rows(scale, events, &windows, &name, goals)?;
    rows.extend(slowest("slowest 64 appends", windows.slowest(), "longest 64 touches of the thread beside", kept));
    Ok(rows)
}

/// The slowest of ours beside a peer's, by either clock.
fn slowest(name: &str, ours: Lap, peer: &'static str, theirs: Lap) -> [Row; 2] {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    [("by the clock", ours.wall, theirs.wall), ("in processor time", ours.cpu, theirs.cpu)]
        .map(|(by, ours, theirs)| Row::new(format!("{name} {by}"), "ms", millis(ours), peer, millis(theirs)))
}

/// Alone: a map that moves into a larger table gives gigabytes back to the system, and whoever touches memory meanwhile waits.
fn one_at_a_time(scale: &Scale, events: &Events) -> Result<Vec<Row>> {
    let mut target = Target::create(events.limit(scale, OVERHEAD), false, one_by_one)?;
    let [windows] = events.append([&mut |records| target.append(records)])?;
    let goals = Goals { rate: Some(">= 1.2 M/s"), ..GOALS };
    target.rows(scale, events, &windows, &name("one at a time", events), goals)
}

/// In turn with a hash map of vectors on the heap.
fn beside_a_map(scale: &Scale, events: &Events) -> Result<Vec<Row>> {
    let mut target = Target::create(events.limit(scale, OVERHEAD), false, one_by_one)?;
    let mut map = hashbrown::HashMap::<u64, Vec<u8>>::new();
    let mut append_to_map = |records: &[Record]| {
        Window::of(records, |records| {
            for record in records {
                map.entry(record.key).or_default().extend_from_slice(&record.event());
            }
            Ok(())
        })
    };
    let [ours, peer] = events.append([&mut |records| target.append(records), &mut append_to_map])?;
    drop(map);
    let name = name("one at a time, in turn with a map", events);
    let mut rows = vec![Row::new(&name, "M/s", ours.rate(), "hashbrown", peer.rate()).goal(scale.goal(">= 1"))];
    rows.extend(slowest(&format!("{name}, slowest 64"), ours.slowest(), "hashbrown", peer.slowest()));
    let verified = Row::alone(format!("{name}, verified"), "%", events.verify(&target.stand.table)?);
    rows.push(verified.goal(scale.goal(">= 100 %")));
    Ok(rows)
}

/// Scans the whole store into a second one: events that come to be there in a second, beside those of the first insertion.
fn enumerate(scale: &Scale, events: &Events, first: &Target, windows: &Windows) -> Result<Vec<Row>> {
    let second = Target::create(events.limit(scale, OVERHEAD), false, in_batches)?;
    let time = timed_ok(|| copy(&first.stand.table, &second.stand.table))?;
    let rate = millions_a_second(events.count() as usize, time.as_secs_f64());
    Ok(vec![
        Row::new("enumerated into a second store", "M/s", rate, "first insertion", windows.rate())
            .goal(scale.goal(">= 1")),
        Row::alone("enumerated into a second store, verified", "%", events.verify(&second.stand.table)?)
            .goal(scale.goal(">= 100 %")),
    ])
}

fn copy(from: &Table, to: &Table) -> Result {
    let mut cursor = Some(Cursor::START);
    while let Some(at) = cursor {
        let (entries, next) = from.scan(at, 1000)?;
        let operands: Vec<_> = entries.iter().map(|entry| (entry.key.as_key(), &entry.value.bytes)).collect();
        to.merge_many(ValueKind::Append, &operands)?;
        cursor = next;
    }
    Ok(())
}

fn one_by_one(table: &Table, records: &[Record]) -> Result {
    for record in records {
        table.append(record.key, record.event())?;
    }
    Ok(())
}

pub(super) fn in_batches(table: &Table, records: &[Record]) -> Result {
    let operands: Vec<_> = records.iter().map(|record| (Key::Integer(record.key), record.event())).collect();
    Ok(table.merge_many(ValueKind::Append, &operands)?)
}
