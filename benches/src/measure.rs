//! Time, taken in turn.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

/// One way to do the work: does it once and says how long the part that counts took.
pub(crate) type Work<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// The median time of each work, in seconds. They run in turn, A B C, A B C, …, so that what disturbs one disturbs all;
/// a first turn warms them up and does not count.
pub(crate) fn in_turn<const N: usize>(rounds: usize, works: &mut [Work<'_>; N]) -> Result<[f64; N]> {
    let mut times = Times([const { Vec::new() }; N]);
    (0..=rounds).try_for_each(|round| times.add(round, 0..N, works))?;
    Ok(times.medians())
}

/// The times of works that run to and fro, A B C, C B A, A B C, …: for rounds so short that the works of one find the machine
/// in one state. A first round warms them up and does not count.
pub(crate) fn to_and_fro<const N: usize>(rounds: usize, works: &mut [Work<'_>; N]) -> Result<Times<N>> {
    let mut times = Times([const { Vec::new() }; N]);
    for round in 0..=rounds {
        if round % 2 == 0 { times.add(round, 0..N, works)? } else { times.add(round, (0..N).rev(), works)? }
    }
    Ok(times)
}

/// How long each work took in each round, in seconds.
pub(crate) struct Times<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Times<N> {
    fn add(&mut self, round: usize, order: impl Iterator<Item = usize>, works: &mut [Work<'_>; N]) -> Result {
        for at in order {
            let time = works[at]()?;
            if round > 0 {
                self.0[at].push(time.as_secs_f64());
            }
        }
        Ok(())
    }

    /// The median of each work.
    pub(crate) fn medians(&self) -> [f64; N] {
        self.0.each_ref().map(|times| percentile(times, 50))
    }

    /// How many times as fast as the other a work was, round by round: in a tenth of them less than the first number, in a
    /// tenth more than the second.
    pub(crate) fn spread(&self, ours: usize, theirs: usize) -> [f64; 2] {
        let ratios: Vec<f64> = self.0[theirs].iter().zip(&self.0[ours]).map(|(theirs, ours)| theirs / ours).collect();
        [10, 90].map(|percent| percentile(&ratios, percent))
    }
}

/// The number that so many percent of the numbers are below.
pub(crate) fn percentile(numbers: &[f64], percent: usize) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() * percent / 100]
}

/// The time that so many percent of the times, which are in order, are below; the last for 100.
pub(crate) fn quantile(ordered: &[Duration], percent: f64) -> Duration {
    let last = ordered.len() - 1;
    #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a share of a length is one")]
    let at = (ordered.len() as f64 * percent / 100.0) as usize;
    ordered[at.min(last)]
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

/// Time by the clock, and how much of it this thread had a processor: a thread that had to wait for one has spent none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lap {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

impl Lap {
    /// The longest of two, by either measure.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { wall: self.wall.max(other.wall), cpu: self.cpu.max(other.cpu) }
    }
}

/// Takes the time of one lap after the other. A lap costs a system call, so it should be one of many operations.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: spent(ClockId::ThreadCPUTime) }
    }

    /// The time since the last lap, or since the start.
    pub(crate) fn lap(&mut self) -> Lap {
        let before = std::mem::replace(self, Self::start());
        Lap { wall: self.wall - before.wall, cpu: self.cpu.saturating_sub(before.cpu) }
    }
}

/// Processor time of all threads of this process.
pub(crate) fn spent_by_all() -> Duration {
    spent(ClockId::ProcessCPUTime)
}

fn spent(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
}

/// How many words a thread beside touches between two looks at its clocks.
pub(crate) const TOUCHES: usize = 64;

/// What work gives, and the longest that a thread beside it took to touch [`TOUCHES`] words of its own `count`, by either clock: what the
/// machine did to everybody who uses memory. Where it is a guest, what its host takes counts as the thread's processor time; and a host
/// that gives memory to one thread may keep another from its own.
pub(crate) fn beside_a_toucher<T>(count: usize, work: impl FnOnce() -> T) -> (T, Lap) {
    let running = Arc::new(());
    let watched = running.clone();
    // Before the work begins: to take memory is what it must not do to it.
    let mut words = vec![1_u64; count];
    let toucher = thread::spawn(move || {
        let mut rng = fastrand::Rng::with_seed(1);
        let (mut longest, mut watch) = (Lap::default(), Stopwatch::start());
        loop {
            for _ in 0..TOUCHES {
                words[rng.usize(..count)] += 1;
            }
            longest = longest.max(watch.lap());
            // The work is over, or has panicked.
            if Arc::strong_count(&watched) == 1 {
                black_box(words);
                return longest;
            }
        }
    });
    let result = work();
    drop(running);
    (result, toucher.join().expect("no word is touched often enough to overflow"))
}

/// Millions a second.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
pub(crate) fn millions_a_second(count: usize, seconds: f64) -> f64 {
    (count as f64) / seconds / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A work that takes so long, in milliseconds, and leaves its name.
    fn work(name: char, millis: [u64; 4], order: &RefCell<String>) -> impl FnMut() -> Result<Duration> {
        let mut turn = millis.into_iter();
        move || {
            order.borrow_mut().push(name);
            Ok(Duration::from_millis(turn.next().expect("three rounds and the first")))
        }
    }

    #[test]
    fn works_run_in_turn_and_the_median_counts() {
        let order = RefCell::default();
        let mut works = (work('a', [999, 1, 300, 2], &order), work('b', [0, 7, 7, 7], &order));
        let [a, b] = in_turn(3, &mut [&mut works.0, &mut works.1]).unwrap();
        assert_eq!((a, b), (0.002, 0.007));
        assert_eq!(order.take(), "abababab");
    }

    #[test]
    fn a_thread_that_waits_spends_no_processor_time_and_one_that_works_does() {
        let mut watch = Stopwatch::start();
        thread::sleep(Duration::from_millis(40));
        let slept = watch.lap();
        assert!(slept.wall >= Duration::from_millis(40) && slept.cpu < Duration::from_millis(20), "{slept:?}");
        let (mut worked, until) = (Lap::default(), Duration::from_millis(5));
        while worked.cpu < until {
            let lap = watch.lap();
            worked = Lap { wall: worked.wall + lap.wall, cpu: worked.cpu + lap.cpu };
        }
        assert!(worked.wall > until / 2, "{worked:?}");
        let longest = slept.max(worked);
        assert_eq!((longest.wall, longest.cpu), (slept.wall.max(worked.wall), worked.cpu));
    }

    #[test]
    fn a_toucher_ends_with_the_work_beside_it() {
        let (result, longest) = beside_a_toucher(1000, || 7);
        assert!(result == 7 && longest.wall > Duration::ZERO);
        let panicked = std::panic::catch_unwind(|| beside_a_toucher(1000, || panic!("planted")));
        assert!(panicked.is_err());
    }

    #[test]
    fn a_quantile_is_one_of_the_numbers() {
        let times: Vec<Duration> = (1..=1000).map(Duration::from_millis).collect();
        let at = |percent| quantile(&times, percent).as_millis();
        assert_eq!([at(0.0), at(50.0), at(99.9), at(100.0)], [1, 501, 1000, 1000]);
    }

    #[test]
    fn works_run_to_and_fro_and_rounds_are_compared_one_by_one() {
        let order = RefCell::default();
        let mut works = (work('a', [0, 1, 100, 2], &order), work('b', [0, 3, 100, 8], &order));
        let times = to_and_fro(3, &mut [&mut works.0, &mut works.1]).unwrap();
        assert_eq!((times.medians(), times.spread(0, 1)), ([0.002, 0.008], [1.0, 4.0]));
        assert_eq!(order.take(), "abbaabba");
    }
}
