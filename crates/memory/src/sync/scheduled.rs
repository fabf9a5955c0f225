//! Words under a scheduler that is seeded: all threads of a run take turns on one, and each access to a word
//! may be where a turn ends.
//!
//! Shuttle switches between the threads and chooses, at random, who goes on. How long that one does is chosen
//! here, as are its naps:
//!
//! - A turn is a number of accesses whose logarithm is uniform, up to a bound that each thread has for a run.
//!   Bounds of a few make a random walk; large ones let a thread run on for long and cut in seldom, as PCT
//!   does (Burckhardt et al., ASPLOS 2010).
//! - After a turn, a thread of the kind that naps may be left out for as long as others turn the store over.
//!   What a reader must notice, its segment freed and used again between two of its loads, comes about in no
//!   other way.
//!
//! Accesses take effect in the order of the schedule: what weaker orderings would allow is for the models
//! under loom.
//!
//! Outside of a run, words are words.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::atomic::{self, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use fastrand::Rng;
use hammerspace_error::Result;
use hammerspace_os::{Access, File};
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, Runner};

/// Turns are shorter than two to the power of this.
const TURN_BITS_MAX: u32 = 10;
/// Naps are shorter than two to the power of this, in accesses of others.
const NAP_BITS_MAX: u32 = 15;
/// One in so many turns ends in a nap, with those who nap.
const NAP_ODDS: u32 = 8;
/// What ending a turn counts for, in accesses.
const SWITCH: u64 = 16;
/// What somebody who waits for a nap to end takes off it.
const SHAKE: u64 = 100;
/// How often somebody looks again who waits for a time.
const WAITS: u32 = 100;
/// Threads that have habits of their own.
const THREADS: usize = 8;
/// In place of what is left of a turn: nobody takes turns.
const NEVER: u64 = u64::MAX;

/// How a thread takes its turns in a run.
#[derive(Clone, Copy)]
struct Habit {
    turn_bits: u32,
    naps: bool,
}

/// Chance, and what it has come to.
struct Turns {
    rng: Rng,
    habits: [Habit; THREADS],
    /// Accesses so far.
    time: u64,
}

thread_local! {
    /// Accesses that are left of the turn.
    static LEFT: Cell<u64> = const { Cell::new(NEVER) };
    static TURNS: RefCell<Option<Turns>> = const { RefCell::new(None) };
}

impl Turns {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let habits = [(); THREADS].map(|()| Habit { turn_bits: rng.u32(..=TURN_BITS_MAX), naps: rng.bool() });
        Self { rng, habits, time: 0 }
    }

    /// A number of accesses whose logarithm is uniform.
    fn duration(&mut self, bits_max: u32) -> u64 {
        let bits = self.rng.u32(..=bits_max);
        self.rng.u64(..1 << bits)
    }

    /// How long a turn of this thread is.
    fn turn(&mut self, thread: usize) -> u64 {
        let turn = self.duration(self.habits[thread].turn_bits);
        self.time += turn;
        turn
    }

    /// Until when this thread is not to have one.
    fn nap(&mut self, thread: usize) -> u64 {
        let is_nap = self.habits[thread].naps && self.rng.u32(..NAP_ODDS) == 0;
        self.time + if is_nap { self.duration(NAP_BITS_MAX) } else { 0 }
    }
}

/// Runs `play` once, where [`take_turns`] then begins.
pub(crate) fn run(seed: u64, play: impl Fn() + Send + Sync + 'static) {
    LEFT.set(NEVER);
    TURNS.set(Some(Turns::new(seed)));
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.failure_persistence = FailurePersistence::None;
    Runner::new(RandomScheduler::new_from_seed(seed, 1), config).run(play);
}

/// Lets threads take turns while `work` is at it. Before and after there should be one only.
pub(crate) fn take_turns<T>(work: impl FnOnce() -> T) -> T {
    LEFT.set(0);
    let done = work();
    LEFT.set(NEVER);
    done
}

/// An access: the turn may end before it.
#[inline]
fn step() {
    match LEFT.get() {
        NEVER => {}
        0 => end_turn(0),
        left => LEFT.set(left - 1),
    }
}

/// Waits for somebody else.
pub(crate) fn yield_now() {
    if LEFT.get() == NEVER { std::thread::yield_now() } else { end_turn(SHAKE) }
}

/// Ends the turn, for another one or the same, `haste` of whose naps are over.
#[cold]
fn end_turn(haste: u64) {
    // A thread that unwinds is not interrupted: what it was about to find is found.
    if std::thread::panicking() {
        return;
    }
    let turns = |work: &mut dyn FnMut(&mut Turns) -> u64| {
        TURNS.with_borrow_mut(|turns| work(turns.as_mut().expect("a run has begun")))
    };
    let thread = usize::from(shuttle::current::me()) % THREADS;
    let awake = turns(&mut |turns| {
        turns.time += haste;
        turns.nap(thread)
    });
    loop {
        LEFT.set(0);
        shuttle::thread::yield_now();
        let time = turns(&mut |turns| {
            turns.time += SWITCH;
            turns.time
        });
        if time > awake {
            break;
        }
    }
    LEFT.set(turns(&mut |turns| turns.turn(thread)));
}

/// Locks, and lets others go on until that is possible.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    step();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(guard)) => return guard.into_inner(),
            Err(TryLockError::WouldBlock) => yield_now(),
        }
    }
}

/// Locks once `is_waiting` says no, or others have had so many turns.
pub(crate) fn wait_while<'m, T>(
    mutex: &'m Mutex<T>,
    _: &Condvar,
    _: Duration,
    mut is_waiting: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'m, T> {
    for _ in 0..WAITS {
        if !is_waiting(&mut lock(mutex)) {
            break;
        }
        yield_now();
    }
    lock(mutex)
}

/// The same for all: so they contend for the first writer slot, and a schedule does not hang on which tests
/// run beside it.
pub(crate) fn thread_number() -> usize {
    0
}

/// A word; each access to it is a step.
#[derive(Default)]
pub(crate) struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    pub(crate) const fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    fn step(&self) -> &atomic::AtomicU64 {
        step();
        &self.0
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.step().load(order)
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.step().store(value, order);
    }

    pub(crate) fn compare_exchange(&self, from: u64, to: u64, set: Ordering, get: Ordering) -> Result<u64, u64> {
        self.step().compare_exchange(from, to, set, get)
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_add(value, order)
    }

    pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_sub(value, order)
    }

    pub(crate) fn fetch_min(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_min(value, order)
    }

    pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_max(value, order)
    }

    pub(crate) fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_or(value, order)
    }

    pub(crate) fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_and(value, order)
    }
}

/// The words of a region, in place of a mapping.
pub(crate) struct Words(Box<[AtomicU64]>);

#[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "a mapping may fail, and has a file")]
impl Words {
    pub(crate) fn zeros(len: u64) -> Result<Self> {
        assert!(len < 1 << 28, "words under a scheduler take memory: give the test a geometry");
        Ok(Self((0..len / 8).map(|_| AtomicU64::default()).collect()))
    }

    /// As if the file were new: these words lie in none.
    pub(crate) fn map(_: &File, len: u64, _: Access) -> Result<Self> {
        Self::zeros(len)
    }

    pub(crate) fn gather(&self, _: &File, _: u64, _: u64) -> Result<()> {
        Ok(())
    }

    pub(crate) fn populate(&self, _: u64, _: u64) {}

    pub(crate) fn populate_read(&self, _: u64, _: u64) -> bool {
        true
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}
