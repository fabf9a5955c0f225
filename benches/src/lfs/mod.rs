//! The bench `lfs`: what cleaning costs, by simulation. First the published tables, then the questions whose answers are the
//! store's cleaner (`docs/design/cleaner.md`).

mod published;
mod store;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

use hammerspace_lfs_sim::{Cost, Setup, simulate};

use crate::Result;
use crate::plot::Line;
use crate::report::{Report, Row};
use crate::scale::Scale;

/// All rows.
#[expect(clippy::unnecessary_wraps, reason = "as all benches are")]
pub(crate) fn rows(scale: &Scale, _scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = published::rows(scale);
    rows.extend(store::rows(scale));
    Ok(rows)
}

/// The endings of the files of charts, and the charts: the cost curves of the published tables that have one.
pub(crate) fn plots(report: &Report) -> Vec<(String, String)> {
    published::plots(report)
}

/// The costs of setups, in their order. They are independent, so they run on all cores.
fn simulate_all(setups: &[Setup]) -> Vec<Cost> {
    let next = AtomicUsize::new(0);
    let costs = Mutex::new(vec![Cost::default(); setups.len()]);
    let work = || {
        while let Some((at, setup)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, setups.get(at)?)))
        {
            let cost = simulate(setup);
            costs.lock().expect("no thread panics")[at] = cost;
        }
    };
    thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(work);
        }
    });
    costs.into_inner().expect("no thread panicked")
}
