//! A place that several threads pass one after the other, in the order of their tickets.

use hammerspace_error::Result;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Guards `T`: ticket 0 passes first, then 1, and so on, whichever thread holds them.
pub(super) struct Turnstile<T> {
    state: Mutex<State<T>>,
    moved: Condvar,
}

struct State<T> {
    /// The ticket that is due; `None` once it is closed.
    due: Option<usize>,
    guarded: T,
}

impl<T: Send> Turnstile<T> {
    pub(super) fn new(guarded: T) -> Self {
        Self { state: Mutex::new(State { due: Some(0), guarded }), moved: Condvar::new() }
    }

    /// Waits until `ticket` is due, and works with what is guarded. `None` if somebody before it failed, who says why.
    pub(super) fn pass<R>(&self, ticket: usize, work: impl FnOnce(&mut T) -> Result<R>) -> Result<Option<R>> {
        let state = self.lock();
        let waits = |state: &mut State<T>| state.due.is_some_and(|due| due < ticket);
        let mut state = self.moved.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        if state.due.is_none() {
            return Ok(None);
        }
        let worked = work(&mut state.guarded);
        state.due = worked.is_ok().then_some(ticket + 1);
        drop(state);
        self.moved.notify_all();
        worked.map(Some)
    }

    /// Lets `work` run in so many threads, this one among them. The first to fail closes the turnstile for all.
    pub(super) fn crew(&self, threads: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
        let work = || {
            let closing = Closing(self);
            work()?;
            std::mem::forget(closing);
            Ok(())
        };
        thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work);
            // Where no thread is to be had, those that there are do the work.
            let others: Vec<_> = (1..threads).map_while(|number| spawn(number).ok()).collect();
            let ours = work();
            let theirs =
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            theirs.fold(ours, Result::and)
        })
    }

    pub(super) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).guarded
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the turnstile when it is dropped: whoever leaves with an error or a panic will not use their ticket.
struct Closing<'a, T: Send>(&'a Turnstile<T>);

impl<T: Send> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.lock().due = None;
        self.0.moved.notify_all();
    }
}
