//! What threads and processes meet on, in one place, so that a model checker can take its place.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) use hammerspace_os::Shared as Words;

/// Locks; what a thread that panicked has left behind is what the region's invariants allow at any instant.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
