//! W1 to W8: objects whose sizes change, which leaves allocators with holes of the wrong size. What counts is the least memory, beside
//! the bytes of the records that live at most, in which a workload runs to its end.

use hammerspace_memory::{Change, Key, Options};
use hammerspace_workloads::allocations::{Allocations, Operation, all};

use super::{Scratch, TABLE, float, options};
use crate::Result;
use crate::report::Row;
use crate::scale::Scale;

/// Bytes of a record beside its value: head and key.
const BESIDE: u64 = 16;
/// Shares of the live records that are tried, in hundredths. A small store has its open heads beside it, which are most of it.
const TRIED: &[u64] = &[106, 108, 110, 115, 120, 200];
const TRIED_SMALL: &[u64] = &[400];
const SEED: u64 = 1;

pub(super) fn rows(scale: &Scale) -> Result<Vec<Row>> {
    let live = if scale.is_full() { 1 << 30 } else { 256 << 10 };
    let mut rows = Vec::new();
    for workload in all() {
        let most = most_live(&workload, live);
        let tried = if scale.is_full() { TRIED } else { TRIED_SMALL };
        let fits = tried.iter().find(|percent| run(scale, &workload, live, most, **percent).is_ok_and(|ran| ran));
        let percent = *fits.ok_or("no memory was enough")?;
        let name = format!("{}, segments over live records", workload.name);
        rows.push(Row::alone(name, "x", float(percent) / 100.0).goal(scale.goal("<= 1.1 x")));
    }
    Ok(rows)
}

/// The most bytes of records that live at a time.
fn most_live(workload: &Allocations, live: u64) -> u64 {
    let mut sizes = std::collections::HashMap::new();
    let (mut now, mut most) = (0, 0);
    for operation in workload.operations(live, SEED) {
        match operation {
            Operation::Allocate { id, size } => {
                sizes.insert(id, u64::from(size) + BESIDE);
                now += u64::from(size) + BESIDE;
                most = most.max(now);
            }
            Operation::Free { id } => now -= sizes.remove(&id).unwrap_or(0),
        }
    }
    most
}

/// Whether a workload runs to its end in segments of this share of its most live bytes, with an index beside them.
fn run(scale: &Scale, workload: &Allocations, live: u64, most: u64, percent: u64) -> Result<bool> {
    let segments = most * percent / 100;
    // The index is counted apart: as many segments more as it takes, whenever it takes one.
    let store = Scratch::create(&Options { cleaners: 0, ..options(scale, segments + (64 << 20)) })?;
    let memory = &store.memory;
    let value = vec![0xab; 16 << 10];
    let mut index = 0;
    for operation in workload.operations(live, SEED) {
        match operation {
            Operation::Allocate { id, size } => {
                if id.is_multiple_of(1024) {
                    let now = memory.view().usage().index;
                    if now != index {
                        index = now;
                        memory.set_limit(segments + index + memory.view().usage().segment_size)?;
                    }
                }
                if memory.put(TABLE, Key::Integer(id), 0, &value[..size as usize], None, |_| true).is_err() {
                    return Ok(false);
                }
            }
            Operation::Free { id } => drop(memory.update(TABLE, Key::Integer(id), |_| Change::Delete)?),
        }
    }
    Ok(true)
}
