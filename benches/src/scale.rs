//! How much a bench does: enough to mean something, or little enough for a test.

use std::thread;
use std::time::Duration;

use hammerspace_lfs_sim::{End, Setup};

/// A guest with 6 GB to give back took 17 seconds.
const REST: Duration = Duration::from_secs(30);

/// How much a bench does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Keys in a space of the usual size.
    pub(crate) keys: usize,
    /// Keys in a large one, if large ones are measured at all.
    pub(crate) keys_large: Option<usize>,
    /// Keys in the Sparkey tables that are read.
    pub(crate) tables: &'static [u64],
    /// Lookups in a round over one of them.
    pub(crate) lookups: usize,
    /// Keys in the compressed ones, and lookups in a round.
    pub(crate) compressed: u64,
    pub(crate) compressed_lookups: usize,
    /// Keys in those that C reads, through our library and through Spotify's, and lookups in a round.
    pub(crate) abi: u64,
    pub(crate) abi_lookups: usize,
    /// Keys in those that are built and walked over.
    pub(crate) build: u64,
    /// How often each side runs.
    pub(crate) rounds: usize,
    /// The same where a work takes some milliseconds. Other virtual machines share the cores, and what they leave changes that often,
    /// or stays for minutes: so many short rounds rather than few long ones.
    pub(crate) rounds_short: usize,
    /// The same where a round takes seconds.
    pub(crate) rounds_large: usize,
    /// Whether simulations are cut short: an eighth of the records, and two turns of them.
    short_simulations: bool,
    /// Whether the goals are meant for this size.
    has_goals: bool,
}

impl Scale {
    /// What the goals are meant for.
    pub(crate) const FULL: Self = Self {
        keys: 100_000,
        keys_large: Some(1_000_000),
        tables: &[1_000_000, 10_000_000, 100_000_000],
        lookups: 20_000,
        compressed: 1_000_000,
        compressed_lookups: 100_000,
        abi: 100_000,
        abi_lookups: 20_000,
        build: 10_000_000,
        rounds: 21,
        rounds_short: 201,
        rounds_large: 5,
        short_simulations: false,
        has_goals: true,
    };
    /// What a test has time for.
    pub(crate) const SMALL: Self = Self {
        keys: 2_000,
        keys_large: None,
        tables: &[2_000],
        lookups: 2_000,
        compressed: 2_000,
        compressed_lookups: 500,
        abi: 2_000,
        abi_lookups: 500,
        build: 2_000,
        rounds: 3,
        rounds_short: 3,
        rounds_large: 2,
        short_simulations: true,
        has_goals: false,
    };

    /// A simulation as it is to be run.
    pub(crate) fn simulation(&self, setup: Setup) -> Setup {
        if self.short_simulations {
            Setup { capacity: setup.capacity / 8, end: End::Turns { warm: 1, measured: 1 }, ..setup }
        } else {
            setup
        }
    }

    /// Whether it is the size that goals are meant for.
    pub(crate) fn is_full(&self) -> bool {
        self.has_goals
    }

    /// Waits until the machine is at rest. What a process frees, a guest may give back to its host over the next seconds (free page
    /// reporting), and meanwhile any access to memory may wait for milliseconds.
    pub(crate) fn settle(&self) {
        if self.is_full() {
            thread::sleep(REST);
        }
    }

    /// The goal, if goals make sense at this size.
    pub(crate) fn goal(&self, goal: &'static str) -> Option<&'static str> {
        self.has_goals.then_some(goal)
    }
}

/// A number of keys as one says it.
pub(crate) fn in_words(keys: usize) -> String {
    match keys {
        1_000_000.. => format!("{} M", keys / 1_000_000),
        1_000.. => format!("{} k", keys / 1_000),
        _ => keys.to_string(),
    }
}
