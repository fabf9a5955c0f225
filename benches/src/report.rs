//! The one schema of all benches, as JSON and as a table to read.
//!
//! ```text
//! { "machine": { "cpu", "cores", "memory_bytes", "kernel", "filesystem" }, "date", "command",
//!   "rows": [ { "name", "unit", "ours", "peer", "peer_name", "ratio", "spread", "goal", "met" } ] }
//! ```
//!
//! `ratio` is ours / peer in the row's unit, of medians. `spread` is what the ratios of single rounds lie between, but for a tenth
//! below and a tenth above, where rounds are many and short; else it is null. `goal` is read by [`Goal`]; where none makes sense it is null, and so is `met`.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::Result;
use crate::goal::Goal;
use crate::machine::Machine;

/// What one run found.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    date: String,
    command: String,
    rows: Vec<Row>,
}

/// Most are in the code; benches in other languages bring theirs.
type Text = Cow<'static, str>;

/// One thing measured.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    unit: Text,
    ours: f64,
    peer: Option<f64>,
    peer_name: Option<Text>,
    ratio: Option<f64>,
    spread: Option<[f64; 2]>,
    goal: Option<Text>,
    met: Option<bool>,
}

impl Row {
    /// What we take, beside what a peer takes for the same.
    pub(crate) fn new(
        name: impl Into<String>,
        unit: impl Into<Text>,
        ours: f64,
        peer_name: impl Into<Text>,
        peer: f64,
    ) -> Self {
        let (peer, peer_name, ratio) = (Some(peer), Some(peer_name.into()), Some(ours / peer));
        Self { name: name.into(), unit: unit.into(), ours, peer, peer_name, ratio, spread: None, goal: None, met: None }
    }

    /// What we take, where there is nobody to compare with.
    pub(crate) fn alone(name: impl Into<String>, unit: &'static str, ours: f64) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            ours,
            peer: None,
            peer_name: None,
            ratio: None,
            spread: None,
            goal: None,
            met: None,
        }
    }

    /// With a goal, if there is one.
    pub(crate) fn goal(mut self, goal: Option<impl Into<Text>>) -> Self {
        self.goal = goal.map(Into::into);
        self.met = self.goal.as_deref().and_then(|words| {
            let goal = Goal::parse(words).unwrap_or_else(|| panic!("'{words}' is no goal"));
            goal.is_met(&self.unit, self.ours, self.ratio)
        });
        self
    }

    /// With what the ratios of most rounds lie between.
    pub(crate) fn spread(mut self, spread: [f64; 2]) -> Self {
        self.spread = Some(spread);
        self
    }

    fn cells(&self) -> [String; COLUMNS] {
        let met = match self.met {
            None => "",
            Some(true) => "yes",
            Some(false) => "**no**",
        };
        [
            self.name.clone(),
            self.unit.to_string(),
            significant(self.ours),
            self.peer.map(significant).unwrap_or_default(),
            self.peer_name.as_deref().unwrap_or_default().into(),
            self.ratio.map(significant).unwrap_or_default(),
            self.spread.map(|spread| spread.map(significant).join(" to ")).unwrap_or_default(),
            self.goal.as_deref().unwrap_or_default().into(),
            met.into(),
        ]
    }
}

impl Report {
    /// The rows, with where and when they were measured.
    pub(crate) fn new(command: String, scratch: &Path, rows: Vec<Row>) -> Self {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        Self { machine: Machine::this(scratch), date, command, rows }
    }

    /// Ours and the peer's number in the row of this name.
    pub(crate) fn numbers(&self, name: &str) -> Option<(f64, Option<f64>)> {
        let row = self.rows.iter().find(|row| row.name == name)?;
        Some((row.ours, row.peer))
    }

    /// The report as a table.
    pub(crate) fn markdown(&self) -> String {
        let Machine { cpu, cores, memory_bytes, kernel, filesystem } = &self.machine;
        let memory = memory_bytes >> 30;
        let where_and_when = format!(
            "`{}` on {}: {cpu}, {cores} cores, {memory} GiB, Linux {kernel}, {filesystem}\n",
            self.command, self.date
        );
        let head =
            ["name", "unit", "ours", "peer", "peer's name", "ratio", "10 to 90 %", "goal", "met"].map(String::from);
        where_and_when + "\n" + &table(&head, &self.rows.iter().map(Row::cells).collect::<Vec<_>>())
    }

    /// Keeps the report in a directory, under its day and a name: for programs and for people.
    pub(crate) fn save(&self, directory: &Path, name: &str) -> Result<PathBuf> {
        let day = self.date.split('T').next().unwrap_or_default();
        let json = directory.join(format!("{day}-{name}.json"));
        fs::create_dir_all(directory)?;
        fs::write(&json, serde_json::to_string_pretty(self)? + "\n")?;
        fs::write(json.with_extension("md"), format!("# {name}\n\n{}", self.markdown()))?;
        Ok(json)
    }
}

/// Columns of the table that people read.
const COLUMNS: usize = 9;

fn table(head: &[String; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(head[column].len());
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |cells: &[String; COLUMNS]| -> String {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("| {cell:width$} "));
        padded.collect::<String>() + "|\n"
    };
    let rule = widths.map(|width| "-".repeat(width));
    [line(head), line(&rule)].into_iter().chain(rows.iter().map(line)).collect()
}

/// Three significant digits.
fn significant(number: f64) -> String {
    let decimals = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else if number >= 1.0 {
        2
    } else {
        3
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_divides_ours_by_the_peers_and_judges_it() {
        let row = Row::new("get", "M/s", 6.5, "peer", 5.0).goal(Some(">= 1.3"));
        assert_eq!((row.ratio, row.met), (Some(1.3), Some(true)));
        let row = Row::new("publish", "ms", 6.0, "copy", 5.0).goal(Some("<= 5 ms"));
        assert_eq!((row.ratio, row.met), (Some(1.2), Some(false)));
        let row = Row::new("get", "M/s", 6.5, "peer", 5.0).goal(None::<&str>);
        assert_eq!((row.goal, row.met), (None, None));
    }

    #[test]
    fn a_saved_report_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let rows =
            vec![Row::new("get, present", "M/s", 123.4, "std HashMap", 56.78).spread([2.1, 2.34]).goal(Some(">= 3"))];
        let report = Report::new("cargo xtask bench".into(), directory.path(), rows);
        let file = report.save(directory.path(), "space").unwrap();
        assert!(file.file_name().unwrap().to_str().unwrap().ends_with("-space.json"));
        let read: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(read["rows"][0]["met"], false);
        let table = fs::read_to_string(file.with_extension("md")).unwrap();
        assert!(
            table
                .contains("| get, present | M/s  | 123  | 56.8 | std HashMap | 2.17  | 2.10 to 2.34 | >= 3 | **no** |"),
            "{table}"
        );
    }

    /// The guide shows the latest results of the bench `sparkey`, with all rows.
    #[test]
    fn the_page_on_performance_is_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let results = fs::read_dir(root.join("benches/results")).unwrap().map(|entry| entry.unwrap().path());
        let latest = results.filter(|path| path.to_str().unwrap().ends_with("-sparkey.md")).max().unwrap();
        let page = fs::read_to_string(root.join("docs/guide/performance.md")).unwrap();
        let (results, name) = (fs::read_to_string(&latest).unwrap(), latest.file_name().unwrap().to_str().unwrap());
        assert!(page.contains(name), "it does not point to {name}");
        for line in results.lines().filter(|line| line.starts_with('|')) {
            assert!(page.contains(line), "it lacks this line of {name}: {line}");
        }
    }
}
