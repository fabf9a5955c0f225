//! `hammerspace split --by FIELD -o DIR`: lines to one file for each value of a field.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_split::{By, Split as Files, Value};

use crate::exit::Outcome;
use crate::output::Output;
use crate::splitting::{self, Directory};

/// Write lines to one file for each value of a field
///
/// Several processes may write to one directory at once. Each file becomes visible when it is complete. As a filter this
/// is the last step of a job that counts by day: see the guide to stripes.
#[derive(Args)]
pub(crate) struct Split {
    /// Files of records, one on each line; - is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// What they are in
    #[arg(long, value_enum, default_value_t = Form::Ndjson)]
    format: Form,
    /// The field: by its path, as in user.state, in CSV and TSV by its number, as in 1; or the hour, day or month of one that
    /// holds a time, as in 'day(ts)'
    #[arg(long, value_name = "FIELD")]
    by: By,
    /// The directory, made if it is missing
    #[arg(long, short, value_name = "DIRECTORY")]
    output: PathBuf,
    #[command(flatten)]
    directory: Directory,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One object per line
    Ndjson,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Tab-separated values
    Tsv,
}

impl Split {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let extension = match self.format {
            Form::Ndjson => "ndjson",
            Form::Csv => "csv",
            Form::Tsv => "tsv",
        };
        let field = match self.format {
            Form::Ndjson => None,
            Form::Csv | Form::Tsv => Some(self.by.number().ok_or_else(|| {
                Error::new(Kind::Invalid, format!("rows have no field `{}`", self.by))
                    .remedy("give the number of a column, as in 1 or 'day(1)'")
            })?),
        };
        let mut files = self.directory.begin(&self.output, extension)?;
        for file in &self.files {
            let from: Box<dyn BufRead> = if file == Path::new("-") {
                Box::new(io::stdin().lock())
            } else {
                let file = fs::File::open(file).doing("open").map_err(|error| error.file(file))?;
                Box::new(BufReader::with_capacity(1 << 16, file))
            };
            self.split(from, field, &mut files).map_err(|error| error.file(file))?;
        }
        splitting::answer(&self.output, files.commit()?, out)?;
        Ok(Outcome::Found)
    }

    fn split(&self, from: Box<dyn BufRead>, field: Option<usize>, files: &mut Files) -> Result<()> {
        match (self.format, field) {
            (Form::Csv, Some(field)) => self.split_quoted(from, field, files),
            (_, field) => self.split_lines(from, field, files),
        }
    }

    fn split_lines(&self, mut from: Box<dyn BufRead>, field: Option<usize>, files: &mut Files) -> Result<()> {
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).doing("read")? > 0 {
            let bare = line.strip_suffix(b"\n").unwrap_or(&line);
            if !bare.is_empty() {
                let value = match field {
                    None => self.by.of_json(bare),
                    Some(field) => self.of_field(bare.split(|byte| *byte == b'\t').nth(field - 1)),
                };
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                files.append(&value, &line)?;
            }
            line.clear();
        }
        Ok(())
    }

    /// Rows of CSV may hold line ends in quotes.
    fn split_quoted(&self, from: Box<dyn BufRead>, field: usize, files: &mut Files) -> Result<()> {
        let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(from);
        let (mut row, mut line) = (csv::ByteRecord::new(), Vec::new());
        while rows.read_byte_record(&mut row).map_err(io::Error::from).doing("read")? {
            line.clear();
            csv::Writer::from_writer(&mut line).write_byte_record(&row).map_err(io::Error::from).doing("write")?;
            files.append(&self.of_field(row.get(field - 1)), &line)?;
        }
        Ok(())
    }

    fn of_field(&self, field: Option<&[u8]>) -> Value {
        match field.map(std::str::from_utf8) {
            None => Value::Missing,
            Some(Ok(text)) => self.by.of_text(text.to_owned()),
            Some(Err(_)) => Value::Unfit,
        }
    }
}
