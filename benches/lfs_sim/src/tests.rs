//! A few cells of the published tables, on runs short enough for a test; and that the seed decides.

use crate::published::{Model, STREAMS, TABLES, Table};
use crate::{Age, Clock, End, Order, Pass, Policy, Score, Setup, Streams, simulate};

/// Runs of a test are over 20 turns of the live data after 20; the published ones are from the first write until the mean
/// stands still, which for greedy cleaning of exponential writes takes very long.
const END: End = End::Turns { warm: 20, measured: 20 };
/// The column that is tried.
const PERCENT: u32 = 80;
/// How far off they may be.
const TOLERANCE: f64 = 0.03;

fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|table| table.name == name).expect("a table of that name")
}

/// What we get, divided by what is published.
fn ratio(table: &Table, policy_name: &str) -> f64 {
    let row = table.rows.iter().find(|row| row.policy_name == policy_name).expect("a row of that name");
    let column = table.utilisations.iter().position(|known| *known == PERCENT).expect("a column");
    let cost = simulate(&Setup { end: END, ..table.model.setup(table.skew, row.policy, PERCENT) });
    table.model.figure(cost) / row.costs[column]
}

fn assert_close(name: &str, policy_names: &[&str]) {
    for policy_name in policy_names {
        let ratio = ratio(table(name), policy_name);
        assert!(
            (ratio - 1.0).abs() < TOLERANCE,
            "{name}, {policy_name} at {PERCENT} %: {ratio:.3} of what is published"
        );
    }
}

#[test]
fn hot_and_cold_costs_what_is_published() {
    assert_close(
        "hot-and-cold",
        &["greedy", "cost-benefit, youngest file", "cost-benefit, segment age", "RAMCloud's formula, segment age"],
    );
}

#[test]
fn so_do_other_ages() {
    assert_close(
        "hot-and-cold, other ages",
        &[
            "mean file age",
            "logarithm of youngest file age",
            "root of segment age",
            "reset at cleaning",
            "segment decay rate",
        ],
    );
}

#[test]
fn so_do_other_distributions() {
    assert_close("uniform", &["greedy"]);
    assert_close("exponential", &["cost-benefit, segment age"]);
    assert_close("Zipf 90/15", &["RAMCloud's formula, segment age"]);
}

#[test]
fn so_do_streams() {
    assert_close("hot-and-cold, 1,000 segments", &["streams by inferred lifetime"]);
    assert_close("Zipf 0.99, 1,000 segments", &["streams by inferred lifetime"]);
}

/// Another cleaner is told from the one published: the tolerance is tight enough.
#[test]
fn canary_unsorted_survivors_are_noticed() {
    let hot_and_cold = table("hot-and-cold, other ages");
    let sorted = hot_and_cold.model.setup(hot_and_cold.skew, Policy::sorted(Score::Lfs, Age::Creation), 80);
    let cost = simulate(&Setup { end: END, ..sorted });
    let unsorted = hot_and_cold.rows.iter().find(|row| row.policy_name == "segment age, unsorted").unwrap();
    assert!((cost.lfs / unsorted.costs[0] - 1.0).abs() > TOLERANCE);
}

#[test]
fn an_oracle_beats_them_all() {
    let with = |order| {
        let mut policy = Policy::sorted(Score::Lfs, Age::Creation);
        policy.pass = Pass::Batch { segments: 5, order, reset: false };
        simulate(&Setup { end: END, ..Model::Lfs.setup(crate::Skew::HotAndCold, policy, 80) }).lfs
    };
    assert!(with(Order::Oracle) < 0.95 * with(Order::OldestFirst));
}

#[test]
fn the_seed_decides() {
    let policy = Policy::streams(Streams { clock: Clock::Creation, writers: 2, ..STREAMS });
    let setup = Setup {
        live_segments: 50,
        capacity: 32,
        segments: Setup::segments_closed(50, 90, &policy),
        end: END,
        ..Model::Memory.setup(crate::Skew::Zipf(0.99), policy, 90)
    };
    assert_eq!(simulate(&setup), simulate(&setup));
    assert_ne!(simulate(&setup), simulate(&Setup { seed: 2, ..setup }));
}
