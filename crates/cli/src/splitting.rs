//! `--by FIELD`: one file per value of a field, in a directory.

use std::fmt;
use std::path::Path;

use clap::{Args, ValueEnum};
use hammerspace::Result;
use hammerspace_split::{By, Committed, OnExisting, Options, Split, Written};
use serde::Serialize;

use crate::output::Output;

/// How records become files by value.
#[derive(Args)]
pub(crate) struct Splitting {
    /// Write one file for each value of a field, into the directory that --output names: a field by its path, as in
    /// user.state, or the hour, day or month of one that holds a time, as in 'day(ts)'
    #[arg(long, value_name = "FIELD", requires = "output")]
    by: Option<By>,
    #[command(flatten)]
    directory: Directory,
}

/// How a directory of files by value is written.
#[derive(Args)]
pub(crate) struct Directory {
    /// What becomes of a file that exists
    #[arg(long, value_enum, default_value_t = Existing::Error)]
    on_existing: Existing,
    /// Files that are open at a time, at most
    #[arg(long, value_name = "N", default_value_t = 64)]
    open_files: usize,
    /// A name for this run, as of a task that may be tried again: a directory takes a run of one name once
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Existing {
    /// It stays, and nothing is written
    Error,
    /// It is replaced
    Replace,
    /// New records are put behind those that are there
    Merge,
}

impl Splitting {
    pub(crate) fn is_wanted(&self) -> bool {
        self.by.is_some()
    }

    /// A run into `directory`, if files by value are wanted, and what records go by.
    pub(crate) fn begin(&self, directory: Option<&Path>, extension: &str) -> Result<Option<(&By, Split)>> {
        let (Some(by), Some(directory)) = (&self.by, directory) else { return Ok(None) };
        Ok(Some((by, self.directory.begin(directory, extension)?)))
    }
}

impl Directory {
    pub(crate) fn begin(&self, directory: &Path, extension: &str) -> Result<Split> {
        let on_existing = match self.on_existing {
            Existing::Error => OnExisting::Error,
            Existing::Replace => OnExisting::Replace,
            Existing::Merge => OnExisting::Merge,
        };
        let options =
            Options { on_existing, open_max: self.open_files, id: self.run.clone(), ..Options::new(extension) };
        Split::begin(directory, options)
    }
}

/// What was written where.
#[derive(Serialize)]
struct Answer {
    directory: String,
    files: Vec<Part>,
    /// A run of this name had been here before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    done_before: bool,
}

#[derive(Serialize)]
struct Part {
    #[serde(rename = "file")]
    name: String,
    records: u64,
    /// Where the name is not the value as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Part { name, records, value } in &self.files {
            write!(f, "{name}: {records} records")?;
            match value {
                Some(value) => writeln!(f, ", of the value {value:?}")?,
                None => writeln!(f)?,
            }
        }
        if self.done_before { writeln!(f, "a run of this name was here before; nothing was written") } else { Ok(()) }
    }
}

/// Says what a run has written.
pub(crate) fn answer(directory: &Path, committed: Committed, out: &mut Output) -> Result<()> {
    let directory = directory.to_string_lossy().into_owned();
    let answer = match committed {
        Committed::Before => Answer { directory, files: Vec::new(), done_before: true },
        Committed::Done(files) => {
            let part = |(name, Written { records, value })| Part { name, records, value };
            Answer { directory, files: files.into_iter().map(part).collect(), done_before: false }
        }
    };
    out.done(&answer)
}
