//! Threads that clean, and make segments ready, before writers have to; and one that watches the region's
//! name.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use hammerspace_error::{Doing, Result};

use crate::owner::Owner;
use crate::sync::{Condvar, Mutex, lock, wait_while};

/// How long a thread sleeps that nobody wakes.
const NAP: Duration = Duration::from_millis(100);

/// How often the watcher looks whether the region's file still has its name.
const WATCH: Duration = Duration::from_millis(250);

/// What wakes the threads, and what ends them.
#[derive(Default)]
pub(crate) struct Wakeup {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    is_rung: bool,
    is_over: bool,
}

impl Wakeup {
    /// Wakes the threads.
    pub(crate) fn ring(&self) {
        lock(&self.state).is_rung = true;
        self.rung.notify_all();
    }

    fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    /// Waits for so long. `false` once all is over.
    fn sleep(&self, time: Duration) -> bool {
        !wait_while(&self.state, &self.rung, time, |state| !state.is_over).is_over
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
        lock(&self.wakeup.state).is_over = true;
        self.wakeup.rung.notify_all();
    }

    /// Starts a thread that cleans whenever free segments become few.
    pub(crate) fn spawn_cleaner(self: Arc<Self>, number: usize) -> Result<JoinHandle<()>> {
        let work = move || {
            while !self.wakeup.is_over() {
                while !self.wakeup.is_over() && self.work(number) {}
                if !self.wakeup.wait() {
                    lock(&self.pool).retry_memory();
                }
            }
        };
        Builder::new().name("hammerspace-cleaner".to_string()).spawn(work).doing("start a thread")
    }

    /// Starts a thread that finds out when somebody deletes the region's file: no reader will find it any
    /// more, and nor will the next owner, so writes are refused from then on.
    pub(crate) fn spawn_watcher(self: Arc<Self>) -> Result<JoinHandle<()>> {
        let work = move || {
            while self.wakeup.sleep(WATCH) && !self.is_deleted.load(Relaxed) {
                self.is_deleted.store(self.file.is_deleted(), Relaxed);
            }
        };
        Builder::new().name("hammerspace-watcher".to_string()).spawn(work).doing("start a thread")
    }

    /// Does some of what there is to do. `false` if that is nothing. What keeps a thread from its work keeps
    /// writers from writing, and they say so.
    fn work(&self, number: usize) -> bool {
        self.prepare().unwrap_or(false)
            || self.purge() | (self.is_short() && self.clean_with(number).unwrap_or(false))
            || self.collapse()
    }

    fn is_short(&self) -> bool {
        lock(&self.pool).is_short(&self.region)
    }

    fn clean_with(&self, number: usize) -> Result<bool> {
        self.pass(lock(&self.cleaners[number]))
    }
}
