//! The store's cleaner and what it was chosen from: 1,000 segments of live data, one victim a pass, and nothing known but what
//! the store knows of a segment.

use hammerspace_lfs_sim::published::Model;
use hammerspace_lfs_sim::{Age, Clock, Policy, STORE, Setup, Skew, Streams};

use super::{Row, Scale, simulate_all};

/// Live data in percent, what is written, and how much the store's cleaner may append for each byte.
type Load = (u32, &'static str, Skew, Option<&'static str>);

const LOADS: [Load; 9] = [
    (80, "hot-and-cold", Skew::HotAndCold, None),
    (80, "Zipf 0.99", Skew::Zipf(0.99), None),
    (90, "hot-and-cold", Skew::HotAndCold, Some("<= 2.75 appended")),
    (90, "Zipf 0.99", Skew::Zipf(0.99), Some("<= 3.06 appended")),
    (90, "uniform", Skew::Uniform, Some("<= 5.2 appended")),
    (90, "exponential", Skew::Exponential, None),
    (95, "hot-and-cold", Skew::HotAndCold, None),
    (95, "Zipf 0.99", Skew::Zipf(0.99), None),
    (95, "uniform", Skew::Uniform, None),
];

/// How open heads are counted.
#[derive(Clone, Copy)]
enum Heads {
    LeftOut,
    Counted,
}

/// What the store does, first; then what it might do instead.
fn candidates() -> Vec<(&'static str, Policy, Heads)> {
    let streams = |streams| (Policy::streams(streams), Heads::LeftOut);
    let survivors = |short_apart, limits| streams(Streams { short_apart, limits, ..STORE });
    let by_birth = |clock| {
        let mut policy = Policy::streams(Streams { clock, ..STORE });
        policy.victim.age = Age::Inherited;
        (policy, Heads::LeftOut)
    };
    let one_user_head = Streams { two_user_heads: false, ..STORE };
    let named = [
        ("the store's cleaner", streams(STORE)),
        ("open heads counted", (Policy::streams(STORE), Heads::Counted)),
        ("two writers", streams(Streams { writers: 2, ..STORE })),
        ("one user head", streams(one_user_head)),
        ("one user head, one for survivors", streams(Streams { short_apart: false, limits: &[], ..one_user_head })),
        ("survivors: one head", survivors(false, &[])),
        ("survivors: short, rest", survivors(true, &[])),
        ("survivors: short, < 2 l, rest", survivors(true, &[2.0])),
        ("survivors: short, < 4 l, rest", survivors(true, &[4.0])),
        ("survivors: < 2 l, < 16 l, rest", survivors(false, &[2.0, 16.0])),
        ("survivors: short, < 2 l, < 8 l, rest", survivors(true, &[2.0, 8.0])),
        ("survivors: short, < 4 l, < 16 l, rest", survivors(true, &[4.0, 16.0])),
        ("survivors: short, < 2 l, < 8 l, < 32 l, rest", survivors(true, &[2.0, 8.0, 32.0])),
        ("each record keeps its time", streams(Streams { clock: Clock::Record, ..STORE })),
        ("streams by inherited birth", streams(Streams { clock: Clock::Inherited, ..STORE })),
        ("victims and streams by inherited birth", by_birth(Clock::Inherited)),
        ("victims by inherited birth", by_birth(STORE.clock)),
    ];
    named.into_iter().map(|(name, (policy, heads))| (name, policy, heads)).collect()
}

fn setup(skew: Skew, percent: u32, policy: Policy, heads: Heads) -> Setup {
    let setup = Model::Memory.setup(skew, policy, percent);
    match heads {
        Heads::Counted => setup,
        Heads::LeftOut => Setup { segments: Setup::segments_closed(setup.live_segments, percent, &policy), ..setup },
    }
}

/// Rows of what the store does, with the goals; rows of everything else, beside it.
pub(super) fn rows(scale: &Scale) -> Vec<Row> {
    let candidates = candidates();
    let mut setups = Vec::new();
    for (_, policy, heads) in &candidates {
        setups.extend(LOADS.map(|(percent, _, skew, _)| scale.simulation(setup(skew, percent, *policy, *heads))));
    }
    let costs = simulate_all(&setups);
    let (chosen, _) = costs.split_at(LOADS.len());
    let mut rows = Vec::new();
    for ((name, ..), costs) in candidates.iter().zip(costs.chunks(LOADS.len())) {
        for (((percent, load, _, goal), cost), chosen) in LOADS.iter().zip(costs).zip(chosen) {
            let row_name = format!("{name}, {load}, {percent} %");
            rows.push(if rows.len() < LOADS.len() {
                Row::alone(row_name, "appended", cost.appended).goal(goal.and_then(|goal| scale.goal(goal)))
            } else {
                Row::new(row_name, "appended", cost.appended, candidates[0].0, chosen.appended)
            });
        }
    }
    rows
}
