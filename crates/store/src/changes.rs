//! Changes of the catalogue: one at a time.
//!
//! What a dropped table takes comes back when its records may be removed, which is after everybody's changes of records have come to their
//! end: so who finds no room meanwhile gives up, waits for the change of the catalogue, and tries again.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Who makes one, and how many were made.
#[derive(Default)]
pub(crate) struct Changes {
    turn: Mutex<()>,
    /// Odd while one is made, and after one that a panic has ended.
    count: AtomicU64,
}

impl Changes {
    /// Makes one, when those before it have come to their end.
    pub(crate) fn make<T>(&self, change: impl FnOnce() -> T) -> T {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.fetch_or(1, Relaxed);
        let made = change();
        self.count.fetch_add(1, Relaxed);
        made
    }

    /// What [`wait`](Self::wait) asks for.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Waits for the one that is being made. Says whether one was made since this was their count.
    pub(crate) fn wait(&self, count: u64) -> bool {
        if self.count() == count && count.is_multiple_of(2) {
            return false;
        }
        drop(self.turn.lock());
        self.count() != count
    }
}
