//! Estimates against exact counts: within four standard errors, outside the range in which the estimator is
//! biased.

use hammerspace_sketch::hll::{HllBuf, Params, hash, intersection};

/// Distinct elements for each seed.
fn hashes(seed: u32, range: std::ops::Range<i64>) -> Vec<u64> {
    range.map(|element| hash::bigint(element, seed)).collect()
}

/// The relative error of an estimate.
fn error(estimate: f64, count: i64) -> f64 {
    (estimate / number(count) - 1.0).abs()
}

fn number(count: i64) -> f64 {
    f64::from(count as i32)
}

#[test]
fn estimates_are_within_four_standard_errors() {
    for (log2m, regwidth) in [(11, 5), (14, 6), (10, 8), (12, 5)] {
        let params = Params::new(log2m, regwidth, -1, true).unwrap();
        for seed in 0..8 {
            let (mut hll, mut count) = (HllBuf::new(params), 0);
            for next in [100, 1000, 3000, 10_000, 100_000, 300_000] {
                hll.add_many(&hashes(seed, count..next));
                count = next;
                // The paper's estimator is biased between 2.5 and 5 times the registers.
                let is_biased = (2 * (1 << log2m)..6 * (1 << log2m)).contains(&count);
                let estimate = hll.as_hll().estimate().unwrap();
                let allowed = if is_biased { 0.08 } else { 4.0 * params.relative_error() };
                assert!(error(estimate, count) < allowed, "{estimate} for {count} with seed {seed}: {params:?}");
            }
        }
    }
}

#[test]
fn overlaps_are_within_four_standard_errors() {
    for seed in 0..8 {
        for (left, right) in [(0..60_000, 40_000..100_000), (0..90_000, 0..30_000), (0..50_000, 50_000..90_000)] {
            let shared = number(left.end.min(right.end) - left.start.max(right.start));
            let [left, right] = [left, right].map(|range| {
                let mut hll = HllBuf::new(Params::default());
                hll.add_many(&hashes(seed, range));
                hll
            });
            let overlap = intersection(&left.as_hll(), &right.as_hll()).unwrap().unwrap();
            let error = (overlap.estimate - shared).abs();
            assert!(error < 4.0 * overlap.standard_error, "{overlap:?} for {shared} with seed {seed}");
            assert!(overlap.estimate >= 0.0 && overlap.standard_error < 3_000.0, "{overlap:?}");
        }
    }
}

/// Narrow registers end where no rank is left to raise.
#[test]
fn saturated_registers_say_so() {
    let mut hll = HllBuf::new(Params::new(4, 2, 0, true).unwrap());
    hll.add_many(&hashes(0, 0..1000));
    assert_eq!(hll.as_hll().estimate(), Some(f64::INFINITY));
    assert!(hll.as_hll().is_saturated());
    assert!(!HllBuf::new(Params::default()).as_hll().is_saturated());
}
