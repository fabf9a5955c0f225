//! What fullness costs who writes, with one writer and one cleaner: the rate of overwrites at 80, 90 and 95 % beside that at 50 %, the
//! processor time of a put with the cleaner's in it, and how long single puts take.
//!
//! Long values are overwritten in holes (`crates/memory/src/alloc/holes.rs`), so that a store which may be half empty stays as full as
//! one that must be: as the share of closed segments that is live says, which is told beside. At 90 % they are compared with a half empty
//! store without holes as well.

use std::fmt;
use std::time::{Duration, Instant};

use hammerspace_memory::{Key, Options};
use hammerspace_workloads::{Picker, Skew};

use super::{Scratch, TABLE, float, options};
use crate::Result;
use crate::measure::{millions_a_second, percentile, quantile, spent_by_all};
use crate::report::Row;
use crate::scale::Scale;

/// How often everything is overwritten before the rate is taken.
const TURNS: u64 = 3;
/// Times that the two which are compared take turns, and what each overwrites in all: everything, or so many records where there are fewer.
const SLICES: u64 = 9;
const PUTS_MIN: u64 = 1 << 20;
/// Segments beside those that are full: open ones, and what writers and a pass of the cleaner need.
const BESIDE: u64 = 6 + 8;

/// What is put: values of this length, or of lengths that are so on average.
#[derive(Clone, Copy)]
struct Values {
    size: usize,
    /// From half of it to one and a half.
    vary: bool,
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, vary } = *self;
        if vary { write!(f, "{} to {} B", size / 2, size * 3 / 2) } else { write!(f, "{size} B") }
    }
}

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let skews = [("Zipf", Skew::Zipf(0.99)), ("uniform", Skew::Uniform)];
    let mut rows = Vec::new();
    for (size, vary, goals) in [
        (100, false, ["<= 15 %", "<= 35 %"]),
        (1_000, false, ["", ""]),
        (10_000, false, ["<= 6 %", "<= 6 %"]),
        (10_000, true, ["", ""]),
    ] {
        // Small segments would not hold several of the long ones.
        let values = Values { size: if scale.is_full() { size } else { size / 10 }, vary };
        for (skew, goal) in skews.into_iter().zip(goals) {
            rows.extend(of(scale, values, skew, goal)?);
        }
    }
    Ok(rows)
}

/// The rows of one kind of values and keys; with how long single puts take, if they are the shortest, and some hot.
fn of(scale: &Scale, values: Values, (name, skew): (&str, Skew), goal: &'static str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let full = |percent, least_hole| Full::of(scale, values, skew, percent, least_hole);
    let least_hole = options(scale, 0).least_hole;
    let mut half = full(50, least_hole)?;
    half.slice(scale)?;
    for percent in [80, 90, 95] {
        let name = format!("overwrites of {values}, {name}, {percent} % full");
        let mut full = full(percent, least_hole)?;
        let [Speed { rate, cpu }, speed] = in_turn(scale, [&mut full, &mut half])?;
        rows.push(Row::new(&name, "M/s", rate, "50 % full", speed.rate));
        let has_holes = values.size as u64 >= least_hole;
        let goal = if percent == 90 && !goal.is_empty() { scale.goal(goal) } else { None };
        rows.push(loss(&name, rate, speed.rate).goal(goal.filter(|_| !has_holes)));
        let cpu_name = format!("{name}, processor time of a put, the cleaner's in it");
        rows.push(Row::new(cpu_name, "ns", cpu, "50 % full", speed.cpu));
        let [lives, lives_of_half] = [&full, &half].map(Full::live_percent);
        rows.push(Row::new(format!("{name}, live in closed segments"), "%", lives, "50 % full", lives_of_half));
        if percent == 90 && has_holes {
            let [rates, lost] = beside_a_log(scale, &name, &mut full, skew)?;
            rows.extend([rates, lost.goal(goal)]);
        }
        if percent == 90 && skew == Skew::Zipf(0.99) && (values.size as u64) < least_hole {
            let [busy, idle] = single_puts_in_turn(&mut full, &mut half)?;
            rows.extend(single(scale, values.size, &busy, &idle));
        }
    }
    Ok(rows)
}

/// What of a rate of overwrites is lost beside another.
fn loss(name: &str, rate: f64, other: f64) -> Row {
    Row::alone(format!("{name}, loss"), "%", (100.0 * (1.0 - rate / other)).max(0.001))
}

/// The same beside a store that is half empty and knows no holes, and what is lost: half of that one is live indeed.
fn beside_a_log(scale: &Scale, name: &str, full: &mut Full, skew: Skew) -> Result<[Row; 2]> {
    let mut log = Full::of(scale, full.values, skew, 50, u64::MAX)?;
    let [ours, log] = in_turn(scale, [full, &mut log])?;
    let name = format!("{name}, beside a log");
    let lost = loss(&name, ours.rate, log.rate);
    Ok([Row::new(name, "M/s", ours.rate, "50 % full, without holes", log.rate), lost])
}

/// The times of single puts, in order, with the cleaner at work and without.
fn single(scale: &Scale, size: usize, busy: &[Duration], idle: &[Duration]) -> Vec<Row> {
    let percentiles = [("p50", 50.0, "<= 1.02"), ("p99", 99.0, ""), ("p99.9", 99.9, "<= 20 us"), ("max", 100.0, "")];
    let row = |(name, percent, goal): (_, _, &'static str)| {
        let [busy, idle] = [busy, idle].map(|times| quantile(times, percent).as_secs_f64() * 1e6);
        let row = Row::new(format!("a put of {size} B, Zipf, {name}, 90 % full"), "us", busy, "without cleaning", idle);
        row.goal(if goal.is_empty() { None } else { scale.goal(goal) })
    };
    percentiles.map(row).into()
}

/// How fast overwriting is: millions a second, and nanoseconds of processor time for each, all threads' together.
struct Speed {
    rate: f64,
    cpu: f64,
}

/// The median speeds of two stores that take turns, so that what disturbs one disturbs both.
fn in_turn(scale: &Scale, mut stores: [&mut Full; 2]) -> Result<[Speed; 2]> {
    let mut speeds: [Vec<Speed>; 2] = Default::default();
    for _ in 0..SLICES {
        for (store, speeds) in stores.iter_mut().zip(&mut speeds) {
            speeds.push(store.slice(scale)?);
        }
    }
    Ok(speeds.map(|speeds| {
        let median = |of: fn(&Speed) -> f64| percentile(&speeds.iter().map(of).collect::<Vec<_>>(), 50);
        Speed { rate: median(|speed| speed.rate), cpu: median(|speed| speed.cpu) }
    }))
}

/// How long single puts take, in order of time: in a store whose cleaner is at work, and in one whose cleaner has nothing to do.
fn single_puts_in_turn(busy: &mut Full, idle: &mut Full) -> Result<[Vec<Duration>; 2]> {
    idle.make_room()?;
    let before = idle.store.memory.cleaned().moved;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..SLICES {
        for (store, times) in [&mut *busy, &mut *idle].into_iter().zip(&mut times) {
            store.single_puts(store.keys() / 4 / SLICES, times)?;
        }
    }
    let moved = idle.store.memory.cleaned().moved - before;
    if moved > 0 {
        return Err(format!("the cleaner moved {moved} bytes meanwhile").into());
    }
    for times in &mut times {
        times.sort_unstable();
    }
    Ok(times)
}

/// A store whose closed segments are full to some share, and which has been overwritten for a while.
struct Full {
    store: Scratch,
    /// Hot keys are not neighbours.
    order: Vec<u64>,
    picker: Picker,
    values: Values,
    /// Of the longest.
    bytes: Vec<u8>,
}

impl Full {
    fn of(scale: &Scale, values: Values, skew: Skew, percent: u64, least_hole: u64) -> Result<Self> {
        let live = if scale.is_full() { 1 << 30 } else { 256 << 10 };
        let record = (values.size as u64).next_multiple_of(8) + 16;
        let keys = live / record;
        let options = options(scale, 3 * live + (64 << 20));
        let store = Scratch::create(&Options { cleaners: 1, writers: 1, least_hole, ..options })?;
        // The lengths of values that vary.
        fastrand::seed(4);
        let mut order: Vec<u64> = (0..keys).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        let bytes = vec![7; values.size * 3 / 2];
        let mut full = Self { store, order, picker: Picker::new(skew, keys, 3), values, bytes };
        full.order.iter().try_for_each(|key| full.put(*key))?;
        let usage = full.store.memory.view().usage();
        full.store.memory.set_limit(usage.index + live * 100 / percent + BESIDE * usage.segment_size)?;
        // A store that is half empty is not cleaned before everything was written once more.
        for key in full.picks(TURNS * keys) {
            full.put(key)?;
        }
        Ok(full)
    }

    fn keys(&self) -> u64 {
        self.order.len() as u64
    }

    fn put(&self, key: u64) -> Result {
        let Values { size, vary } = self.values;
        let len = if vary { fastrand::usize(size / 2..=size * 3 / 2) } else { size };
        self.store.memory.put(TABLE, Key::Integer(key), &self.bytes[..len])?;
        Ok(())
    }

    /// How much of the closed segments is live: what utilisation is to a cleaner.
    fn live_percent(&self) -> f64 {
        let usage = self.store.memory.view().usage();
        100.0 * float(usage.closed_live) / float(usage.closed)
    }

    /// Keys to be overwritten next, drawn ahead: that takes longer than many a put.
    fn picks(&mut self, count: u64) -> Vec<u64> {
        (0..count).map(|_| self.order[self.picker.pick() as usize]).collect()
    }

    fn slice(&mut self, scale: &Scale) -> Result<Speed> {
        let least = if scale.is_full() { PUTS_MIN } else { 0 };
        let picks = self.picks(self.keys().max(least).div_ceil(SLICES));
        let (started, cpu) = (Instant::now(), spent_by_all());
        picks.iter().try_for_each(|key| self.put(*key))?;
        let (time, cpu) = (started.elapsed(), spent_by_all().saturating_sub(cpu));
        let rate = millions_a_second(picks.len(), time.as_secs_f64());
        Ok(Speed { rate, cpu: cpu.as_secs_f64() * 1e9 / float(picks.len() as u64) })
    }

    /// How long each of so many puts takes.
    fn single_puts(&mut self, count: u64, times: &mut Vec<Duration>) -> Result {
        for key in self.picks(count) {
            let started = Instant::now();
            self.put(key)?;
            times.push(started.elapsed());
        }
        Ok(())
    }

    /// Has the cleaner make so much room that it has nothing to do for the next puts, of a quarter of what there is.
    fn make_room(&self) -> Result {
        let usage = self.store.memory.view().usage();
        // Half as much again as will be written, so that the cleaner's reserve is not touched.
        let room = usage.live / 4 * 3 / 2 + BESIDE * usage.segment_size;
        // What was never used is free as well; a cleaner that is always in time leaves some.
        let free = || {
            let usage = self.store.memory.view().usage();
            usage.limit.saturating_sub(usage.in_use())
        };
        while free() < room {
            if !self.store.memory.clean()? {
                return Err("no room can be made, in a store that is half empty".into());
            }
        }
        Ok(())
    }
}
