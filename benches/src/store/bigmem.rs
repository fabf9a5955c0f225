//! Aggregate Knowledge's "big memory": events of 16 bytes appended to the values of keys, most of which have few. The table is not
//! told how many keys will come; its limit is what the goal allows it.

use std::time::{Duration, Instant};

use hammerspace_memory::{Cursor, Key, Memory, Options, OwnedKey};
use hammerspace_workloads::bigmem::{BigMemory, EVENT, Record};

use super::{Scratch, TABLE, float};
use crate::Result;
use crate::measure::millions_a_second;
use crate::report::Row;
use crate::scale::Scale;

const SMALL: &str = include_str!("../../vectors/bigmem/table_78000_212000.csv");
const P3: &str = include_str!("../../vectors/bigmem/table_78000000_212000000.csv");
/// Events whose time is taken together.
const WINDOW: usize = 1_000_000;
const BATCH: usize = 64;
/// Bytes for each key beyond key and value that the store may take.
const OVERHEAD: u64 = 27;

/// What a run took.
struct Run {
    windows: Vec<Duration>,
    slowest: Duration,
}

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let work = BigMemory::parse(if scale.is_full() { P3 } else { SMALL }, 1);
    let raw = work.keys() * 8 + work.events() * EVENT as u64;
    // A small store has its reserve beside it, which would be most of it.
    let limit = raw + work.keys() * OVERHEAD + if scale.is_full() { 0 } else { 16 << 20 };
    let mut rows = Vec::new();
    for (name, batch, goal) in [("batches of 64", BATCH, ">= 2 M/s"), ("one at a time", 1, ">= 1.2 M/s")] {
        let store = Scratch::create(&Options::with_limit(limit))?;
        let run = run(&work, |records| append(&store.memory, records, batch));
        let name = format!("append, {name}, {} M events", work.events() / 1_000_000);
        let mut windows = run.windows.clone();
        windows.sort();
        let rate = |time: Duration| millions_a_second(WINDOW.min(work.events() as usize), time.as_secs_f64());
        let total: Duration = run.windows.iter().sum();
        let mean = millions_a_second(work.events() as usize, total.as_secs_f64());
        if batch == 1 {
            let peer = hashbrown(&work);
            rows.push(Row::new(&name, "M/s", mean, "hashbrown", peer).goal(scale.goal(">= 1")));
        }
        rows.push(Row::alone(&name, "M/s", mean).goal(scale.goal(goal)));
        let (median, worst) = (rate(windows[windows.len() / 2]), rate(windows[windows.len() - 1]));
        rows.push(
            Row::alone(format!("{name}, slowest window over the median"), "x", worst / median)
                .goal(scale.goal(">= 0.5 x")),
        );
        rows.push(Row::alone(format!("{name}, slowest append, by the clock"), "ms", run.slowest.as_secs_f64() * 1e3));
        let usage = store.memory.view().usage();
        let overhead = float(usage.in_use()) - float(raw);
        rows.push(
            Row::alone(format!("{name}, memory beyond keys and values"), "B/key", overhead / float(work.keys()))
                .goal(scale.goal("<= 28 B/key")),
        );
        rows.push(
            Row::alone(
                format!("{name}, largest over final memory"),
                "x",
                float(usage.in_use() + usage.free) / float(usage.in_use()),
            )
            .goal(scale.goal("<= 1.1 x")),
        );
        rows.push(
            Row::alone(format!("{name}, verified"), "%", verify(&work, &store.memory)?).goal(scale.goal(">= 100 %")),
        );
    }
    Ok(rows)
}

/// Appends everything, by windows; records are made outside of the time taken.
fn run(work: &BigMemory, mut append: impl FnMut(&[Record]) -> Duration) -> Run {
    let mut records = vec![Record::default(); WINDOW];
    let mut run = Run { windows: Vec::new(), slowest: Duration::ZERO };
    let mut first = 0;
    while first < work.events() {
        let count = (work.events() - first).min(WINDOW as u64) as usize;
        work.fill(first, &mut records[..count]);
        let started = Instant::now();
        run.slowest = run.slowest.max(append(&records[..count]));
        let time = started.elapsed();
        if count == WINDOW || run.windows.is_empty() {
            run.windows.push(time);
        }
        first += count as u64;
    }
    run
}

/// Gives the time of the slowest batch.
fn append(memory: &Memory, records: &[Record], batch: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    for records in records.chunks(batch) {
        let started = Instant::now();
        let key = |at: usize| Key::Integer(records[at].key);
        let append = |at: usize| memory.append(TABLE, key(at), 0, &records[at].event()).map(drop);
        let result = if batch > 1 { memory.in_turn(TABLE, batch.min(records.len()), key, append) } else { append(0) };
        result.expect("there is room");
        slowest = slowest.max(started.elapsed());
    }
    slowest
}

/// The same in a hash map of vectors on the heap: its rate.
fn hashbrown(work: &BigMemory) -> f64 {
    let mut map = hashbrown::HashMap::<u64, Vec<u8>>::new();
    let run = run(work, |records| {
        for record in records {
            map.entry(record.key).or_default().extend_from_slice(&record.event());
        }
        Duration::ZERO
    });
    millions_a_second(work.events() as usize, run.windows.iter().sum::<Duration>().as_secs_f64())
}

/// How much of what must be there is there, in hundredths.
fn verify(work: &BigMemory, memory: &Memory) -> Result<f64> {
    let (mut items, mut cursor, mut right) = (Vec::new(), Some(Cursor::START), 0);
    while let Some(at) = cursor {
        items.clear();
        cursor = memory.view().scan(TABLE.number, at, 1000, &mut items)?;
        for item in &items {
            let OwnedKey::Integer(key) = item.key else { return Err("a key that nobody put".into()) };
            work.check(key, &item.value, 1).map_err(|fault| format!("key {key:016x}: {fault:?}"))?;
            right += 1;
        }
    }
    Ok(100.0 * float(right) / float(work.keys()))
}
