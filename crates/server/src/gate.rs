//! Commands on several keys run alone.
//!
//! Every loop has a lock of its own. A loop holds it while a command on one key runs, so those of different
//! loops never wait for each other. A command that must run alone holds all of them, taken in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps commands that run alone from all others.
#[derive(Debug)]
pub(crate) struct Gate {
    lanes: Box<[Lane]>,
}

/// The lock of a loop, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Lane(Mutex<()>);

impl Lane {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    /// A gate for so many loops.
    pub(crate) fn new(loops: usize) -> Self {
        Self { lanes: (0..loops).map(|_| Lane::default()).collect() }
    }

    /// Lets a command of this loop run beside those of others.
    pub(crate) fn share(&self, lane: usize) -> MutexGuard<'_, ()> {
        self.lanes[lane].lock()
    }

    /// Waits until no command runs, and keeps all others out. The caller must not hold its loop's lock.
    pub(crate) fn alone(&self) -> Vec<MutexGuard<'_, ()>> {
        self.lanes.iter().map(Lane::lock).collect()
    }
}
