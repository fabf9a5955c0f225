//! What others have published or measured with simulators of the same model: the tables that this one must reproduce.
//!
//! The write costs of the LFS simulator are those of RAMCloud's `misc/lfs_sim`, run unchanged (hot-and-cold at 95 % by RAMCloud's
//! formula: an independent simulator). Those of streams are by an independent simulator of the same model. Tolerances are in the
//! test; its cells run shorter than those of the bench.

use hammerspace_workloads::Skew;

use crate::policy::{Age, Clock, Order, Pass, Policy, Score, Shape, Streams};
use crate::simulator::{Cost, End, Setup};

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is about.
    pub policy_name: &'static str,
    /// The same.
    pub policy: Policy,
    /// The cost published, for each utilisation of the table.
    pub costs: &'static [f64],
}

/// Rows of one distribution.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What it is about.
    pub name: &'static str,
    /// What is written.
    pub skew: Skew,
    /// The geometry and the end of its runs.
    pub model: Model,
    /// In percent.
    pub utilisations: &'static [u32],
    /// By policy.
    pub rows: &'static [Row],
}

/// Whose model a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Rosenblum's, as in RAMCloud's simulator: 100 segments of 512 records; the cost is that of LFS, which reads its victims.
    Lfs,
    /// 1,000 segments of 128 records; the cost is records appended per record written.
    Memory,
}

impl Model {
    /// The run for one cell.
    pub const fn setup(self, skew: Skew, policy: Policy, percent: u32) -> Setup {
        let (live_segments, capacity, end) = match self {
            Self::Lfs => (100, 512, End::Stable),
            Self::Memory => (1000, 128, End::Turns { warm: 30, measured: 40 }),
        };
        let segments = Setup::segments_filled(live_segments, percent);
        Setup { skew, live_segments, capacity, segments, policy, end, seed: 1 }
    }

    /// The figure that its tables show.
    pub const fn figure(self, cost: Cost) -> f64 {
        match self {
            Self::Lfs => cost.lfs,
            Self::Memory => cost.appended,
        }
    }
}

const fn row(policy_name: &'static str, policy: Policy, costs: &'static [f64]) -> Row {
    Row { policy_name, policy, costs }
}

const fn shaped(age: Age, shape: Shape) -> Policy {
    let mut policy = Policy::sorted(Score::Lfs, age);
    policy.victim.shape = shape;
    policy
}

const fn batched(score: Score, age: Age, order: Order, reset: bool) -> Policy {
    let mut policy = Policy::sorted(score, age);
    policy.pass = Pass::Batch { segments: 5, order, reset };
    policy
}

const GREEDY: Policy = Policy::sorted(Score::Greedy, Age::Creation);
const GREEDY_UNSORTED: Policy = batched(Score::Greedy, Age::Creation, Order::Unsorted, false);
const YOUNGEST: Policy = Policy::sorted(Score::Lfs, Age::Youngest);
const SEGMENT_AGE: Policy = Policy::sorted(Score::Lfs, Age::Creation);
/// RAMCloud's cleaner.
pub const RAMCLOUD: Policy = Policy::sorted(Score::Ramcloud, Age::Creation);

/// The streams of the tables below: each record keeps the time it was written.
pub const STREAMS: Streams =
    Streams { writers: 1, two_user_heads: true, short_apart: true, limits: &[4.0, 16.0], clock: Clock::Record };
const STREAMED: Policy = Policy::streams(STREAMS);

/// All of them.
pub const TABLES: &[Table] = &[
    Table {
        name: "hot-and-cold",
        skew: Skew::HotAndCold,
        model: Model::Lfs,
        utilisations: &[50, 60, 70, 75, 80, 85, 90, 95],
        rows: &[
            row("greedy, unsorted", GREEDY_UNSORTED, &[2.72, 3.26, 4.17, 4.87, 5.87, 7.83, 11.16, 22.45]),
            row("greedy", GREEDY, &[2.64, 3.06, 3.90, 4.54, 5.45, 7.28, 10.24, 20.44]),
            row("cost-benefit, youngest file", YOUNGEST, &[2.98, 3.39, 4.08, 4.64, 5.54, 7.41, 10.85, 23.12]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[2.54, 2.70, 3.04, 3.32, 3.75, 4.64, 6.23, 11.70]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[2.38, 2.58, 2.98, 3.25, 3.69, 4.61, 6.22, 11.71]),
        ],
    },
    Table {
        name: "uniform",
        skew: Skew::Uniform,
        model: Model::Lfs,
        utilisations: &[50, 60, 70, 75, 80, 85, 90, 95],
        rows: &[
            row("greedy", GREEDY, &[2.58, 3.07, 3.93, 4.58, 5.57, 7.49, 10.82, 21.85]),
            row("cost-benefit, youngest file", YOUNGEST, &[2.67, 3.26, 4.41, 5.36, 6.89, 10.20, 16.50, 48.2]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[2.58, 3.07, 3.93, 4.58, 5.57, 7.50, 10.84, 21.95]),
        ],
    },
    Table {
        name: "exponential",
        skew: Skew::Exponential,
        model: Model::Lfs,
        utilisations: &[50, 60, 70, 75, 80, 85, 90],
        rows: &[
            row("greedy", GREEDY, &[2.11, 2.18, 2.31, 2.42, 2.68, 3.46, 4.33]),
            row("cost-benefit, youngest file", YOUNGEST, &[2.12, 2.18, 2.28, 2.36, 2.48, 2.71, 3.02]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[2.09, 2.15, 2.23, 2.29, 2.39, 2.56, 2.90]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[2.09, 2.15, 2.23, 2.29, 2.38, 2.56, 2.90]),
        ],
    },
    Table {
        name: "hot-and-cold, other ages",
        skew: Skew::HotAndCold,
        model: Model::Lfs,
        utilisations: &[80, 90],
        rows: &[
            row("mean file age", Policy::sorted(Score::Lfs, Age::Mean), &[6.48, 12.86]),
            row("logarithm of youngest file age", shaped(Age::Youngest, Shape::Log), &[4.54, 8.42]),
            row("root of youngest file age", shaped(Age::Youngest, Shape::Root), &[3.79, 6.60]),
            row("reset at cleaning", batched(Score::Lfs, Age::Youngest, Order::OldestFirst, true), &[3.77, 6.36]),
            row("root of segment age", shaped(Age::Creation, Shape::Root), &[3.73, 6.42]),
            row("segment decay rate", Policy::sorted(Score::Decay, Age::Creation), &[3.70, 6.21]),
            row("segment age, unsorted", batched(Score::Lfs, Age::Creation, Order::Unsorted, false), &[4.06, 7.49]),
        ],
    },
    Table {
        name: "Zipf 90/15",
        skew: Skew::ZipfPercent(90.0, 15.0),
        model: Model::Lfs,
        utilisations: &[80, 90],
        rows: &[
            row("greedy", GREEDY, &[4.47, 7.01]),
            row("cost-benefit, youngest file", YOUNGEST, &[6.47, 12.98]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[4.14, 6.31]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[3.93, 6.03]),
        ],
    },
    Table {
        name: "hot-and-cold, 1,000 segments",
        skew: Skew::HotAndCold,
        model: Model::Memory,
        utilisations: &[80, 90, 95],
        rows: &[
            row("greedy", GREEDY, &[2.86, 5.26, 9.79]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[1.77, 2.82, 5.01]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[1.74, 2.82, 5.01]),
            row("streams by inferred lifetime", STREAMED, &[1.69, 2.75, 5.03]),
        ],
    },
    Table {
        name: "Zipf 0.99, 1,000 segments",
        skew: Skew::Zipf(0.99),
        model: Model::Memory,
        utilisations: &[80, 90, 95],
        rows: &[
            row("greedy", GREEDY, &[2.77, 4.89, 8.98]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[2.27, 3.56, 6.02]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[2.17, 3.43, 5.88]),
            row("streams by inferred lifetime", STREAMED, &[1.86, 3.06, 5.67]),
        ],
    },
    Table {
        name: "exponential, 1,000 segments",
        skew: Skew::Exponential,
        model: Model::Memory,
        utilisations: &[90],
        rows: &[
            row("greedy", GREEDY, &[2.08]),
            row("cost-benefit, segment age", SEGMENT_AGE, &[1.21]),
            row("RAMCloud's formula, segment age", RAMCLOUD, &[1.19]),
            row("streams by inferred lifetime", STREAMED, &[1.14]),
        ],
    },
];
