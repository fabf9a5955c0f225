//! The real cleaner on equal records, beside the simulated one with as many segments: bytes appended for each byte written.

use hammerspace_lfs_sim::{End, Policy, STORE, Setup, Skew, simulate};
use hammerspace_memory::{Geometry, Key, Memory, Options};
use hammerspace_workloads::Picker;

use super::{TABLE, float};
use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

const SEGMENT: u64 = 16 << 10;
/// With its head and its key of 8 bytes each.
const RECORD: u64 = 128;
const PER_SEGMENT: u64 = SEGMENT / RECORD;
/// Segments that those who overwrite leave to cleaners, less the one that the simulator has for its pass.
const KEPT_FREE: u64 = 3;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let live_segments = if scale.is_full() { 1000 } else { 100 };
    let skews = [
        ("hot-cold", Skew::HotAndCold, Some("<= 2.75 x")),
        ("Zipf", Skew::Zipf(0.99), Some("<= 3.06 x")),
        ("uniform", Skew::Uniform, Some("<= 5.45 x")),
        ("exponential", Skew::Exponential, None),
    ];
    let mut rows = Vec::new();
    let mut farthest: f64 = 0.0;
    for percent in [80, 90, 95] {
        for (name, skew, goal) in skews {
            let policy = Policy::streams(STORE);
            let segments = Setup::segments_closed(live_segments, percent, &policy);
            let end = if scale.is_full() {
                End::Turns { warm: 15, measured: 15 }
            } else {
                End::Turns { warm: 1, measured: 1 }
            };
            let setup = Setup { skew, live_segments, capacity: PER_SEGMENT as u32, segments, policy, end, seed: 1 };
            let (ours, peer) = (real(&setup)?, simulate(&setup).appended);
            let name = format!("bytes appended per byte written, {name}, {percent} % full");
            if percent == 90 {
                rows.push(Row::alone(&name, "x", ours).goal(goal.and_then(|goal| scale.goal(goal))));
            }
            farthest = farthest.max((ours / peer - 1.0).abs());
            rows.push(Row::new(name, "x", ours, "simulator", peer));
        }
    }
    rows.push(Row::alone("farthest from what is simulated", "%", 100.0 * farthest).goal(scale.goal("<= 3 %")));
    Ok(rows)
}

/// What a run of the real cleaner appends for each byte written.
fn real(setup: &Setup) -> Result<f64> {
    let End::Turns { warm, measured } = setup.end else { return Err("runs of the store end after some turns".into()) };
    let live = u64::from(setup.live_segments);
    let options = Options {
        geometry: Some(Geometry { segment_size: SEGMENT, segments_max: 4 * live, buckets: 128 }),
        cleaners: 0,
        writers: 1,
        // The simulator knows none.
        least_hole: u64::MAX,
        ..Options::with_limit(3 * live * SEGMENT)
    };
    let memory = Memory::anonymous(&options)?;
    let records = live * PER_SEGMENT;
    let put = |key: u64| {
        let value = [0; (RECORD - 16) as usize];
        memory.put(TABLE, Key::Integer(key), &value).map(drop)
    };
    // In order, what is cold would lie together from the beginning.
    let mut order: Vec<u64> = (0..records).collect();
    fastrand::Rng::with_seed(setup.seed).shuffle(&mut order);
    order.into_iter().try_for_each(put)?;
    let index = memory.view().usage().index / SEGMENT;
    // The store keeps as many more free as users must leave to others.
    memory.set_limit((index + u64::from(setup.segments) + KEPT_FREE) * SEGMENT)?;
    let mut picker = Picker::new(setup.skew, records, setup.seed);
    let mut turn = |turns: u32| (0..u64::from(turns) * records).try_for_each(|_| put(picker.pick()));
    turn(warm)?;
    let before = memory.cleaned().moved;
    turn(measured)?;
    let moved = memory.cleaned().moved - before;
    Ok(1.0 + float(moved) / float(u64::from(measured) * records * RECORD))
}
