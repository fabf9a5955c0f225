//! What threads and processes meet on, in one place, so that another scheduler can take the place of the machine's: under test, every
//! access to a word is an instant at which another thread may go on (`sync/scheduled.rs`).

#[cfg(test)]
pub(crate) mod scheduled;

pub(crate) use std::sync::atomic::{Ordering, fence};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use {
    hammerspace_os::Shared as Words, std::hint::spin_loop, std::sync::atomic::AtomicU64, std::thread::yield_now,
};

#[cfg(test)]
pub(crate) use scheduled::{AtomicU64, Words, lock, yield_now, yield_now as spin_loop};

/// Locks; what a thread that panicked has left behind is what the region's invariants allow at any instant.
#[cfg(not(test))]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
