//! What was counted: a set of counters for each loop, added up when somebody asks.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The counters of a server.
#[derive(Debug)]
pub(crate) struct Stats {
    lanes: Box<[Lane]>,
    connections: AtomicU64,
    refused: AtomicU64,
}

/// Those of a loop.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Lane {
    pub(crate) input_bytes: AtomicU64,
    pub(crate) output_bytes: AtomicU64,
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    commands: Box<[Calls]>,
    families: [Histogram; FAMILIES.len()],
}

/// The families that latencies are counted by: the categories of commands, and whatever is of none of them.
pub(crate) const FAMILIES: [&str; 7] =
    ["string", "keyspace", "hyperloglog", "transaction", "pubsub", "connection", "other"];
/// Buckets of a histogram: the first takes what lasts up to a microsecond, each further one twice that.
pub(crate) const BUCKETS: usize = 24;

/// How often commands took how long.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// The same, added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    pub(crate) buckets: [u64; BUCKETS],
    pub(crate) nanos: u64,
}

impl Histogram {
    fn add(&self, calls: u64, took: Duration) {
        let micros = took.as_nanos().div_ceil(1000 * u128::from(calls.max(1))).max(1) as u64;
        let bucket = micros.next_power_of_two().ilog2() as usize;
        self.buckets[bucket.min(BUCKETS - 1)].fetch_add(calls, Relaxed);
        self.nanos.fetch_add(took.as_nanos() as u64, Relaxed);
    }
}

/// Those of a command.
#[derive(Debug, Default)]
struct Calls {
    made: AtomicU64,
    nanos: AtomicU64,
    rejected: AtomicU64,
    failed: AtomicU64,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) made: u64,
    pub(crate) micros: u64,
    /// Before it was executed.
    pub(crate) rejected: u64,
    pub(crate) failed: u64,
}

impl Stats {
    /// Counters for so many loops and commands.
    pub(crate) fn new(loops: usize, commands: usize) -> Self {
        Self {
            lanes: (0..loops).map(|_| Lane::new(commands)).collect(),
            connections: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    pub(crate) fn lane(&self, lane: usize) -> &Lane {
        &self.lanes[lane]
    }

    pub(crate) fn count_connection(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Connections that were served, and that were refused since there were too many.
    pub(crate) fn connections(&self) -> [u64; 2] {
        [&self.connections, &self.refused].map(|counter| counter.load(Relaxed))
    }

    /// A counter of all loops.
    pub(crate) fn sum(&self, counter: impl Fn(&Lane) -> &AtomicU64) -> u64 {
        self.lanes.iter().map(|lane| counter(lane).load(Relaxed)).sum()
    }

    /// What became of the command at a place of the table.
    pub(crate) fn command(&self, at: usize) -> Counted {
        let sum = |counter: fn(&Calls) -> &AtomicU64| self.sum(|lane| counter(&lane.commands[at]));
        Counted {
            made: sum(|calls| &calls.made),
            micros: sum(|calls| &calls.nanos) / 1000,
            rejected: sum(|calls| &calls.rejected),
            failed: sum(|calls| &calls.failed),
        }
    }

    /// How long the commands of a family took.
    pub(crate) fn latencies(&self, family: usize) -> Latencies {
        let mut sum = Latencies::default();
        for histogram in self.lanes.iter().map(|lane| &lane.families[family]) {
            for (sum, bucket) in sum.buckets.iter_mut().zip(&histogram.buckets) {
                *sum += bucket.load(Relaxed);
            }
            sum.nanos += histogram.nanos.load(Relaxed);
        }
        sum
    }

    /// Begins to count anew.
    pub(crate) fn reset(&self) {
        self.connections.store(0, Relaxed);
        self.refused.store(0, Relaxed);
        self.lanes.iter().for_each(Lane::reset);
    }
}

impl Lane {
    fn new(commands: usize) -> Self {
        Self {
            input_bytes: AtomicU64::new(0),
            output_bytes: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            commands: (0..commands).map(|_| Calls::default()).collect(),
            families: Default::default(),
        }
    }

    /// Counts calls of a command, of this family, which took so long together.
    pub(crate) fn count_calls(&self, at: usize, family: usize, calls: u64, took: Duration) {
        self.families[family].add(calls, took);
        self.commands[at].made.fetch_add(calls, Relaxed);
        self.commands[at].nanos.fetch_add(took.as_nanos() as u64, Relaxed);
    }

    pub(crate) fn count_lookups(&self, hits: u64, misses: u64) {
        self.hits.fetch_add(hits, Relaxed);
        self.misses.fetch_add(misses, Relaxed);
    }

    pub(crate) fn count_rejected(&self, at: usize) {
        self.commands[at].rejected.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_failed(&self, at: usize) {
        self.commands[at].failed.fetch_add(1, Relaxed);
    }

    fn reset(&self) {
        let calls = self.commands.iter().flat_map(|calls| [&calls.made, &calls.nanos, &calls.rejected, &calls.failed]);
        let own = [&self.input_bytes, &self.output_bytes, &self.hits, &self.misses];
        own.into_iter().chain(calls).for_each(|counter| counter.store(0, Relaxed));
    }
}
