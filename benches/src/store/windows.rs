//! Operations by windows, whose times are taken together: what is made ready for a window is outside of its time.
//!
//! Within a window the clocks are read once per batch. What one operation took of the thread's processor time is at most what its
//! batch took; to ask for it after each would take as long as the operation.

use std::time::{Duration, Instant};

use crate::Result;
use crate::measure::{Lap, Stopwatch, millions_a_second, spent_by_all};

/// Operations in a batch.
const BATCH: usize = 64;

/// What some operations took.
pub(super) struct Window {
    count: usize,
    time: Duration,
    /// Processor time of all threads: cleaners work beside us.
    spent: Duration,
    /// The slowest batch, by either clock.
    slowest: Lap,
}

impl Window {
    /// Works on all items, a batch at a time.
    pub(super) fn of<T>(items: &[T], mut work: impl FnMut(&[T]) -> Result) -> Result<Self> {
        let (started, spent) = (Instant::now(), spent_by_all());
        let mut watch = Stopwatch::start();
        let mut slowest = Lap::default();
        for batch in items.chunks(BATCH) {
            work(batch)?;
            slowest = slowest.max(watch.lap());
        }
        Ok(Self { count: items.len(), time: started.elapsed(), spent: spent_by_all().saturating_sub(spent), slowest })
    }

    fn rate(&self) -> f64 {
        millions_a_second(self.count, self.time.as_secs_f64())
    }
}

/// What windows took one after the other.
#[derive(Default)]
pub(super) struct Windows(Vec<Window>);

impl Windows {
    pub(super) fn push(&mut self, window: Window) {
        self.0.push(window);
    }

    /// Millions of operations a second.
    pub(super) fn rate(&self) -> f64 {
        millions_a_second(self.0.iter().map(|window| window.count).sum(), self.sum(|window| window.time))
    }

    /// How many cores the process kept busy meanwhile.
    pub(super) fn cores(&self) -> f64 {
        self.sum(|window| window.spent) / self.sum(|window| window.time)
    }

    fn sum(&self, part: impl Fn(&Window) -> Duration) -> f64 {
        self.0.iter().map(part).sum::<Duration>().as_secs_f64()
    }

    /// The rate of the slowest window over that of the median.
    pub(super) fn steadiness(&self) -> f64 {
        let mut rates: Vec<f64> = self.0.iter().map(Window::rate).collect();
        rates.sort_by(f64::total_cmp);
        rates[0] / rates[rates.len() / 2]
    }

    /// The slowest batch of all, by either clock.
    pub(super) fn slowest(&self) -> Lap {
        self.0.iter().fold(Lap::default(), |slowest, window| slowest.max(window.slowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(count: usize, millis: u64, slowest: u64) -> Window {
        let slowest = Duration::from_millis(slowest);
        let time = Duration::from_millis(millis);
        Window { count, time, spent: time * 3 / 2, slowest: Lap { wall: slowest, cpu: slowest / 2 } }
    }

    #[test]
    fn the_slowest_batch_is_seen_and_everything_is_worked_on() {
        let mut sum = 0;
        let window = Window::of(&(0..1000).collect::<Vec<u64>>(), |batch| {
            sum += batch.iter().sum::<u64>();
            if batch.contains(&500) {
                std::thread::sleep(Duration::from_millis(30));
            }
            Ok(())
        });
        let window = window.unwrap();
        assert_eq!((sum, window.count), (999 * 500, 1000));
        let slowest = window.slowest;
        assert!(slowest.wall >= Duration::from_millis(30) && slowest.wall <= window.time, "{slowest:?}");
        assert!(slowest.cpu < Duration::from_millis(15), "{slowest:?}");
    }

    #[test]
    fn rates_are_of_all_windows_and_steadiness_of_the_slowest() {
        let windows = Windows(vec![window(1_000_000, 400, 8), window(1_000_000, 200, 2), window(1_000_000, 400, 4)]);
        assert_eq!((windows.rate(), windows.steadiness(), windows.cores()), (3.0, 1.0, 1.5));
        assert_eq!(windows.slowest().wall, Duration::from_millis(8));
        let windows = Windows(vec![window(10, 100, 1), window(10, 400, 1), window(10, 100, 1)]);
        assert!((windows.steadiness() - 0.25).abs() < 1e-9);
    }
}
