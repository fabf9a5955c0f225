//! The largest table as a whole: indexed and verified within 256 MiB, every key of it read back, and how much of it all processes
//! have in huge pages.
//!
//! Memory is the private memory of this process, all that is in use, at its highest: what is mapped belongs to the page cache. Whatever
//! is wrong with the table ends the bench.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hammerspace_os::{Map, Paging};
use hammerspace_rivals::glibc;
use hammerspace_sparkey::{Effort, Table};

use super::numbered::{Values, key};
use super::pair::Pair;
use super::read::BATCH;
use crate::Result;
use crate::measure::{millions_a_second, timed};
use crate::report::Row;
use crate::scale::{Scale, in_words};

pub(super) fn rows(scale: &Scale, pair: &Pair) -> Result<Vec<Row>> {
    let named = |what: &str| format!("{what}, {} keys", in_words(pair.keys as usize));
    let rate = |time: Duration| millions_a_second(pair.keys as usize, time.as_secs_f64());
    let within = scale.goal("<= 256 MiB");

    let (building, written) = at_most(|| pair.write_index(&Effort::default()))?;
    written?;
    let table = pair.table(Paging::OnDemand)?;
    let (verifying, (verify_time, report)) =
        at_most(|| timed(|| table.verify_within(&Effort::default(), || pair.scratch())))?;
    if let Some(finding) = report?.findings.first() {
        return Err(format!("verify: {finding}").into());
    }
    let (read_time, read) = timed(|| read_back(&table, pair.keys));
    let percent = read? * 100.0;
    let (huge, all) = mapped_kib(&table)?;
    Ok(vec![
        Row::alone(named("build the index, memory"), "MiB", building).goal(within),
        Row::alone(named("verify, memory"), "MiB", verifying).goal(within),
        Row::alone(named("verify"), "M/s", rate(verify_time)),
        Row::alone(named("read back with their values"), "%", percent).goal(scale.goal(">= 100 %")),
        Row::alone(named("read back, compared with values made anew"), "M/s", rate(read_time)),
        Row::alone(named("in small pages, when all is mapped"), "%", 100.0 - huge * 100.0 / all),
    ])
}

/// The share of keys that have their values.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn read_back(table: &Table<Map, Map>, keys: u64) -> Result<f64> {
    let (mut right, mut value) = (0, Vec::new());
    for first in (0..keys).step_by(BATCH) {
        let numbers = first..keys.min(first + BATCH as u64);
        let batch: Vec<_> = numbers.clone().map(key).collect();
        for (number, found) in numbers.zip(table.get_many(&batch)?) {
            Values::Small.of(number, &mut value);
            right += u64::from(found.as_deref() == Some(&value));
        }
    }
    Ok(right as f64 / keys as f64)
}

/// How much of the table's two files this process has mapped in huge pages, and how much at all, once it has looked at everything.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn mapped_kib(table: &Table<Map, Map>) -> Result<(f64, f64)> {
    let maps = fs::read_to_string("/proc/self/smaps")?;
    let (mut huge, mut all) = (0, 0);
    for bytes in [table.log().bytes(), table.index().bytes()] {
        let start = format!("{:x}-", bytes.as_ptr().addr());
        let fields = maps.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
        for line in fields.take_while(|line| line.split(' ').next().is_some_and(|name| name.ends_with(':'))) {
            huge += line.strip_prefix("FilePmdMapped:").and_then(kib).unwrap_or(0);
            all += line.strip_prefix("Rss:").and_then(kib).unwrap_or(0);
        }
    }
    if all < (table.log().bytes().len() + table.index().bytes().len()) as u64 >> 10 {
        return Err(format!("{all} KiB of the table are in memory").into());
    }
    Ok((huge as f64, all as f64))
}

/// The most MiB of private memory that this process has during `work`, looked at every few milliseconds; at the start, of what is in
/// use alone.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn at_most<T>(work: impl FnOnce() -> T) -> Result<(f64, T)> {
    glibc::trim();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = private_kib();
            while !is_done.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(3));
                most = most.max(private_kib());
            }
            most
        });
        let worked = work();
        is_done.store(true, Ordering::Relaxed);
        let most = watcher.join().ok().flatten().ok_or("the system does not say what memory we have")?;
        Ok((most as f64 / 1024.0, worked))
    })
}

fn private_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    kib(line)
}

/// What the kernel gives in KiB.
fn kib(field: &str) -> Option<u64> {
    field.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_memory_that_is_taken_and_given_back_is_noticed() {
        let (before, ()) = at_most(|| ()).unwrap();
        let (most, ()) = at_most(|| {
            let held = std::hint::black_box(vec![1_u8; 64 << 20]);
            thread::sleep(Duration::from_millis(50));
            drop(held);
        })
        .unwrap();
        assert!(most > before + 60.0, "{before} -> {most}");
    }
}
