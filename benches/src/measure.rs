//! Time, taken in turn.

use std::time::{Duration, Instant};

use crate::Result;

/// One way to do the work: does it once and says how long the part that counts took.
pub(crate) type Work<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// The median time of each work, in seconds. They run in turn, A B C, A B C, …, so that what disturbs one disturbs all;
/// a first turn warms them up and does not count.
pub(crate) fn in_turn<const N: usize>(rounds: usize, works: &mut [Work<'_>; N]) -> Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let time = work()?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    Ok(times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    }))
}

/// How long it takes, and what it gives.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed(), result)
}

/// How long work takes that may fail.
pub(crate) fn timed_ok(work: impl FnOnce() -> Result) -> Result<Duration> {
    let (time, result) = timed(work);
    result.map(|()| time)
}

/// Millions a second.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(crate) fn millions_a_second(count: usize, seconds: f64) -> f64 {
    (count as f64) / seconds / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works_run_in_turn_and_the_median_counts() {
        let order = std::cell::RefCell::new(String::new());
        let work = |name: char, millis: [u64; 4]| {
            let (order, mut turn) = (&order, millis.into_iter());
            move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_millis(turn.next().expect("three rounds and the first")))
            }
        };
        let [a, b] = in_turn(3, &mut [&mut work('a', [999, 1, 300, 2]), &mut work('b', [0, 7, 7, 7])]).unwrap();
        assert_eq!((a, b), (0.002, 0.007));
        assert_eq!(order.into_inner(), "abababab");
    }
}
