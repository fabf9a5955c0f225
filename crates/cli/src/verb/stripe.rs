//! `hammerspace stripe --schema SCHEMA FILE… -o OUT`: lines of JSON to striped columns.

use std::fmt;
use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace_error::{Doing, Result};
use hammerspace_stripe::{Files, Inference, lines};
use serde::Serialize;

use crate::destination::{Destination, write_file};
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::splitting::{self, Splitting};
use crate::striping::{Columns, Effort, Rejects, read_schema};

/// Write lines of JSON as striped columns: a Parquet file
///
/// Each field becomes a column that can be read alone. `unstripe` puts records together again.
#[derive(Args)]
pub(crate) struct Stripe {
    /// Files of JSON, an object on each line; - is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// The schema, in Parquet's message syntax
    #[arg(long, value_name = "FILE", required_unless_present = "infer")]
    schema: Option<PathBuf>,
    /// Print a schema that fits all records, instead of striping them
    #[arg(long, conflicts_with_all = ["schema", "output", "by", "rejects"])]
    infer: bool,
    /// Where to: a file, which is replaced when it is complete; - is standard output; with --by, a directory
    #[arg(long, short, value_name = "FILE", required_unless_present = "infer")]
    output: Option<Destination>,
    /// Set lines aside that do not fit the schema, in this file, instead of ending with an error
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    #[command(flatten)]
    splitting: Splitting,
    #[command(flatten)]
    effort: Effort,
}

#[derive(Serialize)]
struct Answer {
    output: String,
    records: u64,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} records", self.output, self.records)
    }
}

impl Stripe {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (Some(schema), Some(output)) = (&self.schema, &self.output) else { return self.print_schema(out) };
        let columns = Columns { schema: read_schema(schema)?, options: self.effort.options() };
        match &self.rejects {
            None => self.stripe(&columns, output, None, out)?,
            Some(path) => write_file(path, |to| self.stripe(&columns, output, Some(to), out))?,
        }
        Ok(Outcome::Found)
    }

    fn stripe(
        &self,
        columns: &Columns,
        output: &Destination,
        to: Option<&mut dyn Write>,
        out: &mut Output,
    ) -> Result<()> {
        let mut rejects = Rejects::new(to);
        let progress = Progress::bytes("stripe", self.files.iter().map(|file| len(file)).sum());
        if let Some((by, split)) = self.splitting.begin(output.file(), "parquet")? {
            let mut files = Files::new(split, &columns.schema, &columns.options);
            for file in &self.files {
                columns.add_lines_by(open(file, &progress)?, file, by, &mut files, &mut rejects)?;
            }
            let committed = files.commit()?;
            drop(progress);
            splitting::answer(output.file().expect("a directory"), committed, out)?;
        } else {
            if let Some(path) = output.file() {
                interrupt::keeps_files(&[path])?;
            }
            let count = columns.open(output, |writer| {
                self.files
                    .iter()
                    .try_for_each(|file| columns.add_lines(open(file, &progress)?, file, writer, &mut rejects))
            })?;
            drop(progress);
            if output.file().is_some() {
                out.done(&Answer { output: output.to_string(), records: count.0 })?;
            }
        }
        if let Some(first) = rejects.first {
            out.note(&format!("{} lines do not fit the schema and were set aside; the first: {first}", rejects.count))?;
        }
        Ok(())
    }

    fn print_schema(&self, out: &mut Output) -> Result<Outcome> {
        let mut inference = Inference::default();
        for file in &self.files {
            let mut text = Vec::new();
            open(file, &Progress::unknown("read"))?
                .read_to_end(&mut text)
                .doing("read")
                .map_err(|error| error.file(file))?;
            for (line, number) in lines(&text, 1) {
                inference.add(line, number).map_err(|error| error.file(file))?;
            }
        }
        out.bytes(inference.schema("record")?.text().as_bytes())?;
        Ok(Outcome::Found)
    }
}

fn open(file: &Path, progress: &Progress) -> Result<impl Read + Send + use<>> {
    let input: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(fs::File::open(file).doing("open").map_err(|error| error.file(file))?)
    };
    Ok(BufReader::with_capacity(1 << 16, progress.reading(input)))
}

/// Bytes of a file; nobody knows how many will come from standard input.
fn len(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |about| about.len())
}
