//! Changes of the catalogue: one at a time.
//!
//! What a dropped table takes comes back when its records may be removed, which is after everybody's changes
//! of records have come to their end: so who finds no room meanwhile gives up, waits for the change of the
//! catalogue, and tries again.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who makes one, and how many were made.
#[derive(Default)]
pub(crate) struct CatalogueLock {
    turn: Mutex<()>,
    made: AtomicU64,
}

impl CatalogueLock {
    /// Makes one, when those before it have come to their end.
    pub(crate) fn make<T>(&self, change: impl FnOnce() -> T) -> T {
        let _turn = self.turn();
        let made = change();
        self.made.fetch_add(1, Relaxed);
        made
    }

    /// How many were made.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.made.load(Relaxed)
    }

    /// Waits for the one that is being made. Says whether there are more by then than `count`.
    pub(crate) fn wait_for_more(&self, count: u64) -> bool {
        drop(self.turn());
        self.count() != count
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
