//! Group commit: many threads append to a buffer, one thread writes and syncs what is there.
//!
//! While a block is under way the next one fills. So the more callers wait, the more of them share a sync,
//! and nobody has to choose how long to wait for others.
//!
//! Threads draw their numbers before they append, and may append in another order. `next` is the least number
//! that was not appended yet: a block makes the changes up to the one before durable, wherever in it they
//! stand.
//!
//! Locks: `files` before `state`. An append takes `state` alone, which no thread holds over a call to the
//! disk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hammerspace_error::{Error, Kind, Result};

use crate::block;
use crate::files::Files;
use crate::log::Mark;
use crate::manifest::Durability;

/// How long a change may wait for its sync where nobody waits for it.
const INTERVAL: Duration = Duration::from_secs(1);
/// After a full disk was met, before the next try.
const PAUSE: Duration = Duration::from_millis(50);
/// A buffer of so many bytes is written at once.
const ENOUGH: usize = 4 << 20;
/// A change waits while the buffer has this many bytes.
const MUCH: usize = 32 << 20;

/// Told up to which number changes are durable.
pub(crate) type Published = Box<dyn Fn(u64) + Send + Sync>;
type Completion = Box<dyn FnOnce(Result<()>) + Send>;

/// What threads share of a log.
pub(crate) struct Flusher {
    files: Mutex<Files>,
    state: Mutex<State>,
    /// For the thread of the log.
    wake: Condvar,
    /// Wakes the threads that wait for a number.
    done: Condvar,
    durable: Mark,
    appended: Mark,
    buffered: AtomicUsize,
    /// Whether nothing can be appended now.
    is_stopped: AtomicBool,
    publish: Published,
}

struct State {
    /// The next block, but for its head.
    buffer: Vec<u8>,
    since: Instant,
    next: u64,
    ahead: BinaryHeap<Reverse<u64>>,
    /// Syncs that were asked for, and made.
    asked: u64,
    answered: u64,
    wanted: u64,
    completions: BTreeMap<u64, Vec<Completion>>,
    /// The disk has no room.
    full: Option<Error>,
    /// Nothing is written any more.
    failure: Option<Error>,
    is_closing: bool,
    synced: Option<SystemTime>,
}

impl State {
    fn is_empty(&self) -> bool {
        self.buffer.len() <= block::HEAD
    }

    fn through(&self) -> u64 {
        self.next - 1
    }

    fn note(&mut self, number: u64) {
        self.ahead.push(Reverse(number));
        while self.ahead.peek().is_some_and(|first| first.0 <= self.next) {
            self.ahead.pop();
            self.next += 1;
        }
    }

    fn stopped(&self) -> Option<Error> {
        self.failure.clone().or_else(|| self.full.clone())
    }

    /// Takes the completions that are due: those up to `number`.
    fn due(&mut self, number: u64) -> Vec<Completion> {
        let later = self.completions.split_off(&(number + 1));
        std::mem::replace(&mut self.completions, later).into_values().flatten().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flusher {
    pub(crate) fn new(files: Files, next: u64, publish: Published) -> Self {
        let mut buffer = Vec::new();
        block::begin(&mut buffer);
        let state = State {
            buffer,
            since: Instant::now(),
            next,
            ahead: BinaryHeap::new(),
            asked: 0,
            answered: 0,
            wanted: 0,
            completions: BTreeMap::new(),
            full: None,
            failure: None,
            is_closing: false,
            synced: None,
        };
        let durable = Mark::default();
        durable.raise(next - 1);
        Self {
            files: Mutex::new(files),
            state: Mutex::new(state),
            wake: Condvar::new(),
            done: Condvar::new(),
            durable,
            appended: Mark::default(),
            buffered: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            publish,
        }
    }

    #[inline]
    pub(crate) fn admit(&self) -> Result<()> {
        let is_open = !self.is_stopped.load(Ordering::Relaxed) && self.buffered.load(Ordering::Relaxed) < MUCH;
        if is_open { Ok(()) } else { self.wait_for_room() }
    }

    #[cold]
    fn wait_for_room(&self) -> Result<()> {
        let mut state = lock(&self.state);
        loop {
            match state.stopped() {
                Some(error) => return Err(error),
                None if state.buffer.len() < MUCH => return Ok(()),
                None => state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    pub(crate) fn append(&self, bytes: &[u8], numbers: impl IntoIterator<Item = u64>) {
        let mut state = lock(&self.state);
        numbers.into_iter().for_each(|number| state.note(number));
        if state.failure.is_some() {
            return;
        }
        if state.is_empty() {
            state.since = Instant::now();
        }
        state.buffer.extend_from_slice(bytes);
        self.buffered.store(state.buffer.len(), Ordering::Relaxed);
        self.appended.add(bytes.len() as u64);
        // The first one lets the thread count the time from here.
        let is_urgent = state.wanted > self.durable.get() || state.asked > state.answered;
        if is_urgent || state.buffer.len() >= ENOUGH || state.buffer.len() == block::HEAD + bytes.len() {
            self.wake.notify_one();
        }
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable.get()
    }

    pub(crate) fn seen(&self) -> (u64, Option<SystemTime>) {
        (self.appended.get(), lock(&self.state).synced)
    }

    pub(crate) fn wait(&self, number: u64) -> Result<()> {
        let mut state = lock(&self.state);
        while self.durable.get() < number {
            if let Some(error) = state.stopped() {
                return Err(error);
            }
            state.wanted = state.wanted.max(number);
            self.wake.notify_one();
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    pub(crate) fn when_durable(&self, number: u64, then: Completion) {
        let mut state = lock(&self.state);
        let answer = match &state.failure {
            _ if self.durable.get() >= number => Ok(()),
            Some(error) => Err(error.clone()),
            None => {
                state.wanted = state.wanted.max(number);
                state.completions.entry(number).or_default().push(then);
                self.wake.notify_one();
                return;
            }
        };
        drop(state);
        then(answer);
    }

    /// Makes durable whatever is in the buffer, or under way.
    pub(crate) fn sync(&self) -> Result<()> {
        let mut state = lock(&self.state);
        state.asked += 1;
        let asked = state.asked;
        self.wake.notify_one();
        while state.answered < asked {
            if let Some(error) = state.stopped() {
                return Err(error);
            }
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    pub(crate) fn close(&self) -> Result<()> {
        if std::mem::replace(&mut lock(&self.state).is_closing, true) {
            return Ok(());
        }
        let synced = self.sync();
        self.is_stopped.store(true, Ordering::Relaxed);
        synced
    }

    /// Does something with the files between two blocks.
    pub(crate) fn with_files<T>(&self, work: impl FnOnce(&mut Files) -> Result<T>) -> Result<T> {
        work(&mut lock(&self.files))
    }

    /// The thread of the log: until it is closed, or can write no more.
    pub(crate) fn run(&self) {
        let mut block = Vec::new();
        while let Some((through, asked, is_last)) = self.next_block(&mut block) {
            let written = self.write(&mut block, through, is_last);
            if !self.tell(through, asked, &written) {
                return;
            }
            if is_last {
                lock(&self.state).failure = Some(Error::new(Kind::Invalid, "the log is closed"));
                return;
            }
        }
    }

    /// Waits until there is something to do. Gives what is durable once the block is, which syncs that
    /// answers, and whether it is the last block. `None` after a failure.
    fn next_block(&self, block: &mut Vec<u8>) -> Option<(u64, u64, bool)> {
        let mut state = lock(&self.state);
        loop {
            if state.failure.is_some() {
                return None;
            }
            let is_asked = state.asked > state.answered || state.is_closing;
            let is_wanted = state.wanted > self.durable.get() && state.through() > self.durable.get();
            let left = INTERVAL.saturating_sub(state.since.elapsed());
            let is_due = !state.is_empty() && (left.is_zero() || state.buffer.len() >= ENOUGH);
            if is_asked || is_wanted || is_due {
                break;
            }
            state = if state.is_empty() {
                self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            };
        }
        block::begin(block);
        std::mem::swap(&mut state.buffer, block);
        self.buffered.store(0, Ordering::Relaxed);
        Some((state.through(), state.asked, state.is_closing))
    }

    /// Writes a block and makes it durable. While the disk is full it tries again, unless the log is to be
    /// closed.
    fn write(&self, block: &mut [u8], through: u64, is_last: bool) -> Result<()> {
        loop {
            match self.try_write(block, through, is_last) {
                Err(error) if error.kind() == Kind::Full && !lock(&self.state).is_closing => {
                    self.stop(&error);
                    std::thread::sleep(PAUSE);
                }
                written => return written,
            }
        }
    }

    fn try_write(&self, block: &mut [u8], through: u64, is_last: bool) -> Result<()> {
        let mut files = lock(&self.files);
        if block.len() == block::HEAD && !is_last {
            return Ok(());
        }
        if files.is_full() {
            files.roll()?;
        }
        files.append(block, through)?;
        files.sync(block.len()).map_err(|error| {
            // Whatever its reason, nobody knows what is on the disk now.
            let finding = format!("the log can be written no more: {}", error.finding());
            let error = Error::new(Kind::Io, finding).file(error.path().unwrap_or(std::path::Path::new("log")));
            error.remedy("close the store and open it again, which writes its log anew; reads go on meanwhile")
        })
    }

    /// Tells all waiting threads that the disk is full.
    fn stop(&self, full: &Error) {
        let mut state = lock(&self.state);
        state.full = Some(full.clone());
        self.is_stopped.store(true, Ordering::Relaxed);
        self.done.notify_all();
    }

    /// Tells all waiting threads what came of a block. Says whether to go on.
    fn tell(&self, through: u64, asked: u64, written: &Result<()>) -> bool {
        let mut state = lock(&self.state);
        let is_written = written.is_ok();
        let due = match written {
            Ok(()) => {
                if state.full.take().is_some() {
                    self.is_stopped.store(false, Ordering::Relaxed);
                }
                (self.publish)(through);
                self.durable.raise(through);
                state.answered = asked;
                state.synced = Some(SystemTime::now());
                state.due(through)
            }
            Err(error) => {
                state.failure = Some(error.clone());
                self.is_stopped.store(true, Ordering::Relaxed);
                state.due(u64::MAX - 1)
            }
        };
        self.done.notify_all();
        drop(state);
        for then in due {
            then(written.clone());
        }
        is_written
    }
}

/// One thread syncs for all levels. A caller that waits makes a sync urgent.
impl Durability {
    /// Whether the call that makes a change waits until it is durable.
    pub fn waits(self) -> bool {
        self == Self::Commit
    }
}
