//! Records by day, and what is found of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use hammerspace_split::{Committed, OnExisting, Options, Result, Split, Value};

/// The records of each visible file, in order.
pub(crate) type Found = BTreeMap<String, Vec<String>>;

/// Random records, by day and out of order; no two are alike.
pub(crate) fn records(run: u64, count: usize) -> Vec<(Value, String)> {
    let mut rng = Rng::with_seed(run);
    let record = |at| {
        let day = format!("2011-06-{:02}", rng.u8(1..6));
        (Value::Text(day.clone()), format!("{day},run {run},record {at}\n"))
    };
    (0..count).map(record).collect()
}

pub(crate) fn options(id: Option<u64>) -> Options {
    let id = id.map(|id| format!("task_{id}"));
    Options { on_existing: OnExisting::Merge, open_max: 2, id, ..Options::new("csv") }
}

/// One run that merges its records with what is there.
pub(crate) fn run(dir: &Path, records: &[(Value, String)], options: Options) -> Result<Committed> {
    let mut split = Split::begin(dir, options)?;
    for (value, record) in records {
        split.append(value, record.as_bytes())?;
    }
    split.commit()
}

/// What is visible; each line belongs to the day that its file is of.
pub(crate) fn visible(dir: &Path) -> Result<Found, String> {
    let mut found = Found::new();
    for entry in fs::read_dir(dir).map_err(|error| error.to_string())? {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with('.') {
            continue;
        }
        let text = fs::read_to_string(dir.join(&name)).unwrap();
        let day = name.strip_suffix(".csv").unwrap();
        if !text.ends_with('\n') || text.lines().any(|line| !line.starts_with(day) || !line.contains(",record ")) {
            return Err(format!("{name} is not whole"));
        }
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        found.insert(name, lines);
    }
    Ok(found)
}

/// What should be found of these records.
pub(crate) fn expected<'r>(records: impl IntoIterator<Item = &'r (Value, String)>) -> Found {
    let mut found = Found::new();
    for (value, record) in records {
        let Value::Text(day) = value else { panic!("each has a day") };
        found.entry(format!("{day}.csv")).or_default().push(record.trim_end().to_owned());
    }
    for lines in found.values_mut() {
        lines.sort();
    }
    found
}
