//! What threads and processes meet on, in one place, so that another scheduler can take the place of the
//! machine's: under test, every access to a word is an instant at which another thread may go on
//! (`sync/scheduled.rs`).

#[cfg(test)]
pub(crate) mod scheduled;

pub(crate) use std::sync::atomic::{Ordering, fence};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};
#[cfg(not(test))]
pub(crate) use {
    hammerspace_os::{Shared as Words, stream},
    std::hint::spin_loop,
    std::sync::atomic::AtomicU64,
    std::thread::yield_now,
};

#[cfg(test)]
pub(crate) use scheduled::{AtomicU64, Words, lock, thread_number, wait_while, yield_now, yield_now as spin_loop};

/// To a scheduler, words are words.
#[cfg(test)]
pub(crate) use crate::region::words::store as stream;

/// Locks; what a thread that panicked has left behind is what the region's invariants allow at any instant.
#[cfg(not(test))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The same without waiting; `None` if somebody has it.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(left_behind)) => Some(left_behind.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Locks once `is_waiting` says no, or so much time has passed.
#[cfg(not(test))]
pub(crate) fn wait_while<'m, T>(
    mutex: &'m Mutex<T>,
    condvar: &Condvar,
    timeout: std::time::Duration,
    is_waiting: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'m, T> {
    let waited = condvar.wait_timeout_while(lock(mutex), timeout, is_waiting);
    waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
}

/// A number for each thread, in the order in which they ask.
#[cfg(not(test))]
#[inline]
pub(crate) fn thread_number() -> usize {
    use std::sync::atomic::AtomicUsize;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}
