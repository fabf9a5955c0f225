//! Every cell of the published tables, simulated anew.

use hammerspace_lfs_sim::published::{Model, TABLES, Table};
use hammerspace_lfs_sim::{Score, Setup};
use hammerspace_workloads::Skew;

use super::{Line, Report, Row, Scale, simulate_all};
use crate::plot;

/// How far a cell may be from what is published; the sources differ among themselves by up to 3 %.
const GOAL: &str = "<= 3 %";
/// The same for greedy cleaning of exponential writes, whose cost rises for very long: there they differ by up to 11 %.
const GOAL_RISING: &str = "<= 11 %";

/// One cell of a table.
struct Cell<'a> {
    table: &'a Table,
    policy_name: &'a str,
    percent: u32,
    published: f64,
    setup: Setup,
}

impl Cell<'_> {
    fn name(&self) -> String {
        name(self.table, self.policy_name, self.percent)
    }

    fn is_rising(&self) -> bool {
        self.setup.skew == Skew::Exponential && self.setup.policy.victim.score == Score::Greedy
    }
}

fn name(table: &Table, policy_name: &str, percent: u32) -> String {
    format!("{}, {policy_name}, {percent} %", table.name)
}

fn cells(scale: &Scale) -> Vec<Cell<'static>> {
    let cells = TABLES.iter().flat_map(|table| {
        table.rows.iter().flat_map(move |row| {
            table.utilisations.iter().zip(row.costs).map(move |(&percent, &published)| {
                let setup = scale.simulation(table.model.setup(table.skew, row.policy, percent));
                Cell { table, policy_name: row.policy_name, percent, published, setup }
            })
        })
    });
    cells.collect()
}

/// One row for each cell, and two for the farthest.
pub(super) fn rows(scale: &Scale) -> Vec<Row> {
    let cells = cells(scale);
    let costs = simulate_all(&cells.iter().map(|cell| cell.setup).collect::<Vec<_>>());
    let (mut farthest, mut farthest_rising): (f64, f64) = (0.0, 0.0);
    let mut rows = Vec::new();
    for (cell, cost) in cells.iter().zip(costs) {
        let (unit, source) = match cell.table.model {
            Model::Lfs => ("write cost", "RAMCloud's simulator"),
            Model::Memory => ("appended", "another simulator"),
        };
        let ours = cell.table.model.figure(cost);
        let farthest = if cell.is_rising() { &mut farthest_rising } else { &mut farthest };
        *farthest = farthest.max((ours / cell.published - 1.0).abs());
        rows.push(Row::new(cell.name(), unit, ours, source, cell.published));
    }
    let summary = |name: &str, farthest: f64, goal| Row::alone(name, "%", 100.0 * farthest).goal(scale.goal(goal));
    rows.push(summary("farthest from what is published", farthest, GOAL));
    rows.push(summary("the same, greedy cleaning of exponential writes", farthest_rising, GOAL_RISING));
    rows
}

/// Write cost against utilisation, one chart for each table of the LFS model with enough columns to draw a curve.
pub(super) fn plots(report: &Report) -> Vec<(String, String)> {
    let tables = TABLES.iter().filter(|table| table.model == Model::Lfs && table.utilisations.len() > 2);
    tables.filter_map(|table| Some((format!("{}.svg", table.name), plot(report, table)?))).collect()
}

fn plot(report: &Report, table: &Table) -> Option<String> {
    let line = |policy_name: &str| -> Option<Line> {
        let cost = |percent: &u32| Some(report.numbers(&name(table, policy_name, *percent))?.0);
        Some(Line { name: policy_name.into(), rates: table.utilisations.iter().map(cost).collect::<Option<_>>()? })
    };
    let lines: Vec<Line> = table.rows.iter().map(|row| line(row.policy_name)).collect::<Option<_>>()?;
    let utilisations: Vec<String> = table.utilisations.iter().map(|percent| format!("{percent} %")).collect();
    Some(plot::svg(&format!("Cleaning {} writes", table.name), "LFS write cost", &utilisations, &lines))
}
