//! The same work many times, on all processors.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hammerspace_error::Result;

/// As many threads as there are processors to run them.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does `work` for every number below `count`. After an error nothing new is begun.
pub(crate) fn each(count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let (next, failure) = (AtomicUsize::new(0), OnceLock::new());
    let take_turns = || {
        while failure.get().is_none() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            if let Err(error) = work(number) {
                // Should another thread have failed first, its error is as good.
                drop(failure.set(error));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads().min(count) {
            scope.spawn(take_turns);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammerspace_error::{Error, Kind};

    #[test]
    fn every_number_has_its_turn_once_and_a_failure_ends_it() {
        let turns: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        each(turns.len(), |number| {
            turns[number].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(turns.iter().all(|turns| turns.load(Ordering::Relaxed) == 1));

        let begun = AtomicUsize::new(0);
        let outcome = each(1_000_000, |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            Err(Error::new(Kind::Io, "no"))
        });
        assert!(outcome.is_err() && begun.into_inner() <= threads());
    }
}
