//! One operation after the other, and batches of 64: by the owner, by another process, and by a hash map on the heap.

use std::time::{Duration, Instant};

use hammerspace_memory::{Key, Memory, Options, Reader, View};
use hammerspace_os::process::fork;
use hammerspace_workloads::bigmem::mix as key;

use super::{Scratch, TABLE};
use crate::Result;
use crate::measure::millions_a_second;
use crate::report::Row;
use crate::scale::{Scale, in_words};

const VALUE: [u8; 100] = [7; 100];
const BATCH: u64 = 64;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let sizes: &[u64] = if scale.is_full() { &[8_000_000, 80_000_000] } else { &[20_000] };
    let mut rows = Vec::new();
    for &keys in sizes {
        rows.extend(size(scale, keys)?);
    }
    Ok(rows)
}

fn size(scale: &Scale, keys: u64) -> Result<Vec<Row>> {
    let asked = keys.min(4_000_000);
    let store = Scratch::create(&Options { cleaners: 1, ..Options::with_limit(keys * 180 + (64 << 20)) })?;
    let memory = &store.memory;
    let rate = |time: Duration| millions_a_second(asked as usize, time.as_secs_f64());
    let put = |number: u64| memory.put(TABLE, Key::Integer(key(number)), 0, &VALUE, None, |_| true).map(drop);
    let started = Instant::now();
    (0..keys).try_for_each(put)?;
    let insert = millions_a_second(keys as usize, started.elapsed().as_secs_f64());

    let reads = Reads::of(memory.view(), keys, asked)?;
    let reader = elsewhere(&store, keys, asked)?;
    let started = Instant::now();
    (0..asked).try_for_each(|number| put(key(number + 3) % keys))?;
    let overwrite = started.elapsed();
    let append = time_appends(memory, keys, asked)?;

    let words = in_words(keys as usize);
    let mut rows = vec![
        Row::alone(format!("insert, {words} keys"), "M/s", insert),
        Row::alone(format!("overwrite, {words} keys"), "M/s", rate(overwrite)),
        Row::alone(format!("append of 16 B, {words} keys"), "M/s", rate(append)),
    ];
    let goal = |wanted: bool, goal| if wanted { scale.goal(goal) } else { None };
    for ((name, ours), theirs) in reads.named().into_iter().zip(reader.named().map(|(_, time)| time)) {
        let fast = goal(name == "get_many of 64" && keys == 8_000_000, ">= 10 M/s");
        rows.push(Row::alone(format!("{name}, {words} keys"), "M/s", rate(ours)).goal(fast));
        let name = format!("{name}, another process's time over the owner's, {words} keys");
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        rows.push(Row::alone(name, "x", ratio).goal(goal(true, "<= 1.2 x")));
    }
    Ok(rows)
}

fn time_appends(memory: &Memory, keys: u64, asked: u64) -> Result<Duration> {
    let started = Instant::now();
    for number in 0..asked {
        memory.append(TABLE, Key::Integer(key(key(number + 5) % keys)), 0, &VALUE[..16])?;
    }
    Ok(started.elapsed())
}

/// What reading took.
struct Reads {
    get: Duration,
    miss: Duration,
    get_many: Duration,
}

impl Reads {
    fn of(view: View<'_>, keys: u64, asked: u64) -> Result<Self> {
        let mut value = Vec::new();
        let mut time = |first: u64, modulus: u64, wanted: bool| -> Result<Duration> {
            let started = Instant::now();
            for number in 0..asked {
                value.clear();
                let key = Key::Integer(key(if wanted { key(number + first) % modulus } else { modulus + number }));
                if view.get(TABLE.number, key, &mut value)?.is_some() != wanted {
                    return Err(format!("{key:?} should be there: {wanted}").into());
                }
            }
            Ok(started.elapsed())
        };
        let (get, miss) = (time(1, keys, true)?, time(1, keys, false)?);
        let mut batch = Vec::new();
        let mut found = 0;
        let started = Instant::now();
        for first in (0..asked).step_by(BATCH as usize) {
            batch.clear();
            batch.extend((first..first + BATCH).map(|number| Key::Integer(key(key(number + 9) % keys))));
            view.get_many(TABLE.number, &batch, |_, value| found += u64::from(value.is_some()))?;
        }
        let get_many = started.elapsed();
        if found < asked { Err("keys are missing".into()) } else { Ok(Self { get, miss, get_many }) }
    }

    fn named(&self) -> [(&'static str, Duration); 3] {
        [("get", self.get), ("get, miss", self.miss), ("get_many of 64", self.get_many)]
    }
}

/// The same by another process, which says it through a file.
fn elsewhere(store: &Scratch, keys: u64, asked: u64) -> Result<Reads> {
    let answer = store.path().join("answer");
    let child = fork::fork(|| {
        let read = || -> Result {
            let reader = Reader::attach(store.path())?;
            let reads = Reads::of(reader.view(), keys, asked)?;
            let nanos = reads.named().map(|(_, time)| time.as_nanos().to_string());
            Ok(std::fs::write(&answer, nanos.join(" "))?)
        };
        i32::from(read().is_err())
    });
    if child.wait() != Some(0) {
        return Err("the other process failed".into());
    }
    let nanos = std::fs::read_to_string(&answer)?;
    let mut times = nanos.split(' ').map(|nanos| nanos.parse().map(Duration::from_nanos));
    let mut next = || times.next().ok_or("three times")?.map_err(Box::<dyn std::error::Error>::from);
    Ok(Reads { get: next()?, miss: next()?, get_many: next()? })
}
