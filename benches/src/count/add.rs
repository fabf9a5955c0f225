//! Hashes added to many values at once, as events come: a few values get most of them and are soon FULL, most
//! stay lists.

use hammerspace_sketch::hll::{HllBuf, Params};
use hammerspace_workloads::{Picker, Skew};

use crate::Result;
use crate::measure::{in_turn, millions_a_second, timed_ok};
use crate::report::Row;
use crate::scale::{Scale, in_words};

pub(super) fn row(scale: &Scale) -> Result<Row> {
    let (values, additions) = if scale.is_full() { (1_000_000, 20_000_000) } else { (1_000, 20_000) };
    let events = events(values, additions);
    let mut add_all = || {
        let mut counts = vec![HllBuf::new(Params::default()); values];
        timed_ok(|| {
            for (key, hash) in &events {
                counts[*key as usize].add(*hash);
            }
            let first = counts[events[0].0 as usize].as_hll();
            if first.absorbs(events[0].1) { Ok(()) } else { Err("a hash was not added".into()) }
        })
    };
    let [seconds] = in_turn(scale.rounds_large, &mut [&mut add_all])?;
    let name = format!("HyperLogLog, add to {} values, Zipf", in_words(values));
    Ok(Row::alone(name, "M/s", millions_a_second(additions, seconds)).goal(scale.goal(">= 2 M/s")))
}

/// Which value, and what is added to it.
fn events(values: usize, additions: usize) -> Vec<(u32, u64)> {
    let (mut picker, mut rng) = (Picker::new(Skew::Zipf(0.99), values as u64, 1), fastrand::Rng::with_seed(2));
    // An odd factor keeps the hot values from being neighbours.
    let scattered = |key: u64| (key * 0x9e37_79b1 % values as u64) as u32;
    (0..additions).map(|_| (scattered(picker.pick()), rng.u64(..))).collect()
}
