//! Threads that clean, and make segments ready, before writers have to.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use hammerspace_error::{Doing, Result};

use crate::owner::Owner;
use crate::sync::{Condvar, Mutex, lock, wait_while};

/// How long a thread sleeps that nobody wakes.
const NAP: Duration = Duration::from_millis(100);

/// What wakes the threads, and what ends them.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    is_rung: bool,
    is_over: bool,
}

impl Bell {
    /// Wakes the threads.
    pub(crate) fn ring(&self) {
        lock(&self.state).is_rung = true;
        self.rung.notify_all();
    }

    fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    /// Waits to be woken. `false` if nobody did, for so long.
    fn wait(&self) -> bool {
        let mut state = wait_while(&self.state, &self.rung, NAP, |state| !state.is_rung && !state.is_over);
        std::mem::take(&mut state.is_rung)
    }
}

impl Owner {
    /// Ends the threads.
    pub(crate) fn stop(&self) {
        lock(&self.bell.state).is_over = true;
        self.bell.rung.notify_all();
    }

    /// Starts a thread that cleans whenever free segments become few.
    pub(crate) fn spawn_cleaner(self: Arc<Self>, number: usize) -> Result<JoinHandle<()>> {
        let work = move || {
            while !self.bell.is_over() {
                while !self.bell.is_over() && self.work(number) {}
                if !self.bell.wait() {
                    lock(&self.pool).hope();
                }
            }
        };
        Builder::new().name("hammerspace-cleaner".to_string()).spawn(work).doing("start a thread")
    }

    /// Does some of what there is to do. `false` if that is nothing. What keeps a thread from its work keeps writers from writing, and they
    /// say so.
    fn work(&self, number: usize) -> bool {
        self.prepare().unwrap_or(false)
            || self.purge() | (self.is_short() && self.clean_with(number).unwrap_or(false))
            || self.gather()
    }

    fn is_short(&self) -> bool {
        lock(&self.pool).is_short(&self.region)
    }

    fn clean_with(&self, number: usize) -> Result<bool> {
        self.pass(lock(&self.cleaners[number]))
    }
}
