//! What fullness costs who writes: the rate of overwrites at 80, 90 and 95 % beside that at 50 %, one writer and one cleaner.

use std::time::Instant;

use hammerspace_memory::{Key, Options};
use hammerspace_workloads::{Picker, Skew};

use super::{Scratch, TABLE, float, options};
use crate::Result;
use crate::measure::millions_a_second;
use crate::report::Row;
use crate::scale::Scale;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let live = if scale.is_full() { 1 << 30 } else { 1 << 18 };
    let skews = [("Zipf", Skew::Zipf(0.99)), ("uniform", Skew::Uniform)];
    let mut rows = Vec::new();
    for (size, goals) in [(100, ["<= 15 %", "<= 35 %"]), (1_000, ["", ""]), (10_000, ["<= 6 %", "<= 6 %"])] {
        // Small segments would not hold several of the long ones.
        let size = if scale.is_full() { size } else { size / 10 };
        for ((name, skew), goal) in skews.into_iter().zip(goals) {
            let half = rate(scale, live, size, skew, 50)?;
            for percent in [80, 90, 95] {
                let rate = rate(scale, live, size, skew, percent)?;
                let name = format!("overwrites of {size} B, {name}, {percent} % full");
                rows.push(Row::new(&name, "M/s", rate, "50 % full", half));
                let loss = Row::alone(format!("{name}, loss"), "%", (100.0 * (1.0 - rate / half)).max(0.001));
                rows.push(loss.goal(if percent == 90 && !goal.is_empty() { scale.goal(goal) } else { None }));
            }
        }
    }
    Ok(rows)
}

/// Millions of overwrites a second in a store whose closed segments are full to this share.
fn rate(scale: &Scale, live: u64, size: usize, skew: Skew, percent: u64) -> Result<f64> {
    let record = (size as u64).next_multiple_of(8) + 16;
    let keys = live / record;
    let store = Scratch::create(&Options { cleaners: 1, writers: 1, ..options(scale, 3 * live + (64 << 20)) })?;
    let memory = &store.memory;
    let value = vec![7; size];
    let put = |key: u64| memory.put(TABLE, Key::Integer(key), 0, &value, None, |_| true).map(drop);
    let mut order: Vec<u64> = (0..keys).collect();
    fastrand::Rng::with_seed(1).shuffle(&mut order);
    order.iter().copied().try_for_each(put)?;
    let usage = memory.view().usage();
    let (heads, kept_free) = (6, 8);
    memory.set_limit(usage.index + live * 100 / percent + (heads + kept_free) * usage.segment_size)?;
    let mut picker = Picker::new(skew, keys, 3);
    // Hot keys are not neighbours.
    let mut overwrite = |turns: u64| (0..turns * keys).try_for_each(|_| put(order[picker.pick() as usize]));
    overwrite(3)?;
    let started = Instant::now();
    overwrite(2)?;
    Ok(millions_a_second(2 * keys as usize, started.elapsed().as_secs_f64()).max(float(1) / 1e9))
}
