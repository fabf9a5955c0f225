//! What `export` and `store export` share: records to a file, to standard output, or to one file per value.

use std::io::Write;

use clap::{Args, ValueEnum};
use hammerspace::{Error, Kind, Result};
use hammerspace_error::Doing;
use serde_json::json;

use crate::destination::{Destination, write_file};
use crate::interrupt;
use crate::output::Output;
use crate::records::{Form, Lines, Record, object};
use crate::splitting::{self, Splitting};

/// Where records go.
#[derive(Args)]
pub(crate) struct Exporting {
    /// Where to: a file, which is replaced when the export is complete; a pipe or a device, which is written into;
    /// or - for standard output; with --by, a directory
    #[arg(long, short, value_name = "FILE", default_value_t = Destination::Stdout)]
    pub(crate) output: Destination,
    #[command(flatten)]
    splitting: Splitting,
}

/// What records are written in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One object per line
    Ndjson,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Tab-separated values (text/tab-separated-values)
    Tsv,
    /// Striped columns
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// Lines of it, if it consists of lines.
    fn lines(self) -> Option<Lines> {
        Some(Lines::new(match self {
            Self::Ndjson => Form::Ndjson,
            Self::Csv => Form::Csv,
            Self::Tsv => Form::Tsv,
            #[cfg(feature = "parquet")]
            Self::Parquet => return None,
        }))
    }
}

/// What is exported.
pub(crate) struct Records<'a> {
    pub(crate) format: Format,
    /// Parquet's, in its message syntax.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has one"))]
    pub(crate) schema: &'a str,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "lines are not compressed"))]
    pub(crate) compression: Option<&'a str>,
    /// What a first row names the columns, if there is to be one.
    pub(crate) header: Option<&'a [&'static str]>,
    /// Hands each record to what it is given.
    #[expect(clippy::type_complexity, reason = "a walk over records")]
    pub(crate) each: &'a (dyn Fn(&mut dyn FnMut(&Record) -> Result<()>) -> Result<()> + Sync),
}

const WRITING: &str = "write the export";

impl Exporting {
    /// Whether there is to be one file per value.
    pub(crate) fn is_split(&self) -> bool {
        self.splitting.is_wanted()
    }

    /// Says what was written to the file, if it is one.
    pub(crate) fn said(&self, entries: u64, out: &mut Output) -> Result<()> {
        if !out.json() || self.output == Destination::Stdout {
            return Ok(());
        }
        out.object(&json!({ "output": self.output.to_string(), "entries": entries }))
    }

    /// Writes the records, and says what was written where.
    pub(crate) fn write(&self, records: &Records, out: &mut Output) -> Result<()> {
        if records.header.is_some() && self.is_split() {
            return Err(
                Error::new(Kind::Invalid, "files by value have no header row").remedy("leave out --header-row or --by")
            );
        }
        if out.json() && self.output == Destination::Stdout && records.format != Format::Ndjson {
            return Err(Error::new(Kind::Invalid, "standard output cannot hold both this format and JSON")
                .remedy("give --output, or leave out --json"));
        }
        let Some(lines) = records.format.lines() else { return self.write_columns(records, out) };
        if let Some((by, mut split)) = self.splitting.begin(self.output.file(), records.format.extension())? {
            let (mut lines, mut seen) = (lines, Vec::new());
            (records.each)(&mut |record| {
                seen.clear();
                object(record, &mut seen)?;
                lines.line(record, |line| split.append(&by.of_json(&seen), line))
            })?;
            let directory = self.output.file().expect("it is one");
            return splitting::answer(directory, split.commit()?, out);
        }
        match self.output.file() {
            None => text(records, lines, out).map(drop),
            Some(path) => {
                interrupt::keeps_files(&[path])?;
                let mut entries = 0;
                write_file(path, |file| {
                    entries = text(records, lines, file)?;
                    Ok(())
                })?;
                self.said(entries, out)
            }
        }
    }

    #[cfg(not(feature = "parquet"))]
    fn write_columns(&self, _: &Records, _: &mut Output) -> Result<()> {
        unreachable!("without Parquet all formats consist of lines")
    }

    #[cfg(feature = "parquet")]
    fn write_columns(&self, records: &Records, out: &mut Output) -> Result<()> {
        use crate::striping::{Columns, Count};
        let columns = Columns::of_text(records.schema, records.compression)?;
        if let Some((by, split)) = self.splitting.begin(self.output.file(), records.format.extension())? {
            let directory = self.output.file().expect("it is one");
            return splitting::answer(directory, columns.write_files(split, |router| records.route(by, router))?, out);
        }
        if let Some(path) = self.output.file() {
            interrupt::keeps_files(&[path])?;
        }
        let Count(entries) = columns.write_file(&self.output, |put| records.batch(put))?;
        self.said(entries, out)
    }
}

fn text(records: &Records, mut lines: Lines, to: &mut impl Write) -> Result<u64> {
    if let Some(names) = records.header {
        lines.header(names, |line| to.write_all(line).doing(WRITING))?;
    }
    let mut count = 0;
    (records.each)(&mut |record| {
        count += 1;
        lines.line(record, |line| {
            // Readers of tables drop a byte order mark at the start. A first key that begins with one needs another.
            if count == 1 && line.starts_with(MARK) {
                to.write_all(MARK).doing(WRITING)?;
            }
            to.write_all(line).doing(WRITING)
        })
    })?;
    Ok(count)
}

const MARK: &[u8] = b"\xef\xbb\xbf";
