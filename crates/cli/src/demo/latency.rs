//! How long reads take.
//!
//! Each read is timed by itself: the clock is read before and after, and what reading the clock costs is taken off. Batches
//! would be easier on the clock, but their percentiles are not those of reads.

use std::time::{Duration, Instant};

use hammerspace_error::{Error, Kind, Result};
use hdrhistogram::Histogram;

/// A read of a minute would be counted as one.
const LONGEST_NS: u64 = 60_000_000_000;

/// Times reads one after the other.
pub(super) struct Stopwatch {
    clock_ns: u64,
    histogram: Histogram<u32>,
    since: Instant,
}

impl Stopwatch {
    pub(super) fn new() -> Self {
        Self { clock_ns: clock_ns(), histogram: empty(), since: Instant::now() }
    }

    /// The next read starts now.
    #[inline]
    pub(super) fn start(&mut self) {
        self.since = Instant::now();
    }

    /// A read ends, and the next one starts.
    #[inline]
    pub(super) fn lap(&mut self) {
        let took = self.since.elapsed().as_nanos() as u64;
        self.histogram.saturating_record(took.saturating_sub(self.clock_ns).max(1));
        self.since = Instant::now();
    }

    /// What was timed, as pairs of nanoseconds and reads.
    pub(super) fn laps(&self) -> Vec<(u64, u32)> {
        self.histogram.iter_recorded().map(|lap| (lap.value_iterated_to(), lap.count_at_value())).collect()
    }
}

/// Exact up to 255 ns, and to 1 in 100 above.
fn empty() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LONGEST_NS, 2).expect("these bounds make sense")
}

/// What the clock alone takes: the median of a thousand looks at it.
fn clock_ns() -> u64 {
    let mut looks: Vec<u64> = (0..1001).map(|_| Instant::now().elapsed().as_nanos() as u64).collect();
    looks.sort_unstable();
    looks[looks.len() / 2]
}

/// The median and the 99th percentile of what several workers timed.
pub(super) fn p50_p99<'a>(laps: impl IntoIterator<Item = &'a (u64, u32)>) -> Result<(Duration, Duration)> {
    let mut all = empty();
    for (ns, reads) in laps {
        all.saturating_record_n(*ns, *reads);
    }
    if all.is_empty() {
        return Err(Error::new(Kind::Busy, "the workers came to no read").remedy("give it more --seconds"));
    }
    let quantile = |q| Duration::from_nanos(all.value_at_quantile(q));
    Ok((quantile(0.50), quantile(0.99)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_over_all_workers() {
        let (one, other) = ([(100, 98)], [(200, 1), (5000, 1)]);
        assert_eq!(p50_p99(one.iter().chain(&other)).unwrap(), (Duration::from_nanos(100), Duration::from_nanos(200)));
        assert_eq!(p50_p99([]).unwrap_err().kind(), Kind::Busy);
    }

    #[test]
    fn a_slow_read_is_seen() {
        let mut stopwatch = Stopwatch::new();
        stopwatch.lap();
        std::thread::sleep(Duration::from_millis(5));
        stopwatch.lap();
        let laps = stopwatch.laps();
        assert!(laps.iter().any(|(ns, _)| *ns >= 4_900_000), "{laps:?}");
        assert_eq!(laps.iter().map(|(_, reads)| reads).sum::<u32>(), 2);
    }
}
