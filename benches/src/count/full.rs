//! FULL values: united, and estimated. java-hll gets the same bytes in a file, and takes the time itself.

use std::cell::RefCell;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hammerspace_interop::JavaHll;
use hammerspace_sketch::hll::{Hll, HllBuf, Params};

use super::JAVA_HLL;
use crate::measure::{in_turn, millions_a_second, timed};
use crate::report::Row;
use crate::scale::{Scale, in_words};
use crate::{Result, jvm};

/// Hashes of one value, of its own: enough for FULL.
const HASHES: usize = 4096;

/// The same values in memory, and in a file for java-hll.
struct Values {
    ours: Vec<Vec<u8>>,
    file: PathBuf,
    java: RefCell<JavaHll>,
    /// How many estimates make a round.
    estimates: usize,
}

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let (count, estimates) = if scale.is_full() { (10_000, 20_000) } else { (50, 100) };
    let values = Values::write(count, estimates, scratch)?;
    for _ in 0..if scale.is_full() { jvm::WARM_UP } else { 1 } {
        values.united_by_java(false)?;
        values.united_by_java(true)?;
        values.estimated_by_java()?;
    }
    let [ours, from_bytes, decoded] = in_turn(
        scale.rounds,
        &mut [&mut || values.united(), &mut || values.united_by_java(false), &mut || values.united_by_java(true)],
    )?;
    let [estimate, estimate_by_java] =
        in_turn(scale.rounds, &mut [&mut || values.estimated(), &mut || values.estimated_by_java()])?;

    let name = |how: &str| format!("HyperLogLog, unite {} full values{how}", in_words(count));
    let rate = |seconds| millions_a_second(count, seconds);
    let micros = |seconds: f64| seconds * 1e6 / f64::from(estimates as u32);
    Ok(vec![
        Row::new(name(""), "M/s", rate(ours), JAVA_HLL, rate(from_bytes)).goal(scale.goal(">= 5")),
        Row::new(name(", the peer's decoded before"), "M/s", rate(ours), JAVA_HLL, rate(decoded))
            .goal(scale.goal(">= 5")),
        Row::new("HyperLogLog, estimate of a full value", "µs", micros(estimate), JAVA_HLL, micros(estimate_by_java))
            .goal(scale.goal("<= 2 µs")),
    ])
}

impl Values {
    fn write(count: usize, estimates: usize, scratch: &Path) -> Result<Self> {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut value = || {
            let mut value = HllBuf::new(Params::default());
            value.add_many(&(0..HASHES).map(|_| rng.u64(..)).collect::<Vec<_>>());
            value.into_bytes()
        };
        let (ours, file): (Vec<_>, _) = ((0..count).map(|_| value()).collect(), scratch.join("values"));
        std::fs::write(&file, ours.concat())?;
        let java = JavaHll::start_to_measure(&jvm::built()?)?;
        Ok(Self { ours, file, java: java.into(), estimates })
    }

    /// From bytes to bytes, each value checked.
    fn united(&self) -> Result<Duration> {
        let (time, union) = timed(|| -> Result<HllBuf> {
            let mut union = HllBuf::read(&self.ours[0])?;
            for value in &self.ours {
                union.union(&Hll::parse(value)?)?;
            }
            Ok(union)
        });
        let estimate = union?.as_hll().estimate().unwrap_or_default();
        checked(time, estimate, self.ours.len())
    }

    fn united_by_java(&self, is_decoded: bool) -> Result<Duration> {
        let (time, cardinality) = self.java.borrow_mut().time_union(&self.file, self.ours[0].len(), is_decoded)?;
        checked(time, f64::from(cardinality as u32), self.ours.len())
    }

    fn estimated(&self) -> Result<Duration> {
        let (time, estimate) = timed(|| -> Result<f64> {
            let mut last = 0.0;
            for _ in 0..self.estimates {
                last = Hll::parse(black_box(&self.ours[0]))?.estimate().unwrap_or_default();
            }
            Ok(last)
        });
        checked(time, estimate?, 1)
    }

    fn estimated_by_java(&self) -> Result<Duration> {
        let (time, cardinality) = self.java.borrow_mut().time_estimate(&self.ours[0], self.estimates)?;
        checked(time, f64::from(cardinality as u32), 1)
    }
}

/// The time, if about as many hashes were counted as so many values have.
fn checked(time: Duration, estimate: f64, values: usize) -> Result<Duration> {
    let hashes = f64::from((values * HASHES) as u32);
    if (estimate / hashes - 1.0).abs() < 0.1 { Ok(time) } else { Err(format!("{estimate} for {hashes}").into()) }
}
