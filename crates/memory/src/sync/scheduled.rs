//! Words under a scheduler that is seeded: all threads of a run take turns on one, and each access to a word may be where a turn ends.
//!
//! Shuttle switches between the threads and chooses, at random, who goes on. How long a turn is, is chosen here: a number of accesses
//! whose logarithm is uniform, up to a bound that is chosen for each run. Bounds of a few make a random walk; large ones
//! let threads run on for long and cut in seldom, as PCT does (Burckhardt et al., ASPLOS 2010). A lock that is taken ends the turn.
//!
//! Accesses take effect in the order of the schedule: what weaker orderings would allow is for the models under loom.
//!
//! Outside of a run, words are words.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::atomic::{self, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use fastrand::Rng;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Access, File};
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, Runner};

/// Turns are shorter than two to the power of this.
const TURN_BITS_MAX: u32 = 12;

/// The turn of the thread that is running: where there is none, nobody takes turns.
const NEVER: u64 = u64::MAX;

thread_local! {
    /// Accesses that are left of the turn.
    static LEFT: Cell<u64> = const { Cell::new(NEVER) };
    /// What says how long turns are: chance, and their bound.
    static TURNS: RefCell<(Rng, u32)> = RefCell::new((Rng::with_seed(0), 0));
}

/// Runs `play` once, where [`take_turns`] then begins.
pub(crate) fn run(seed: u64, play: impl Fn() + Send + Sync + 'static) {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            LEFT.set(NEVER);
        }
    }
    let _reset = Reset;
    let mut rng = Rng::with_seed(seed);
    let bits = rng.u32(..=TURN_BITS_MAX);
    TURNS.set((rng, bits));
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
        0 => yield_now(),
        left => LEFT.set(left - 1),
    }
}

/// Ends the turn, for another one or the same.
#[cold]
pub(crate) fn yield_now() {
    if LEFT.get() == NEVER {
        return std::thread::yield_now();
    }
    // A thread that unwinds is not interrupted: what it was about to find is found.
    if !std::thread::panicking() {
        LEFT.set(TURNS.with_borrow_mut(|(rng, bits)| {
            let bits = rng.u32(..=*bits);
            rng.u64(..1 << bits)
        }));
        shuttle::thread::yield_now();
    }
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

    pub(crate) fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_or(value, order)
    }

    pub(crate) fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        self.step().fetch_and(value, order)
    }
}

/// The words of a region, in place of a mapping.
pub(crate) struct Words(Box<[AtomicU64]>);

impl Words {
    pub(crate) fn anonymous(len: u64) -> Result<Self> {
        Ok(Self((0..len / 8).map(|_| AtomicU64::default()).collect()))
    }

    pub(crate) fn map(file: &File, _: u64, _: Access) -> Result<Self> {
        Err(Error::new(Kind::Unsupported, "words under a scheduler lie in no file").file(file.path()))
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}
