//! `hammerspace unstripe --fields A,B.C FILE…`: striped columns to lines of JSON.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::{Doing, Result};
use hammerspace_stripe::Reader;

use crate::destination::{Destination, write_file};
use crate::exit::Outcome;
use crate::output::Output;

/// Put records together from Parquet files, as lines of JSON
///
/// Only the columns of the fields asked for are read. A field that is null or missing is left out.
#[derive(Args)]
pub(crate) struct Unstripe {
    /// Parquet files, of any writer
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The fields, by their paths, as in EmpId,Dept.Loc.Floor; a group stands for all below it [default: all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    fields: Vec<String>,
    /// Print the schema of each file instead
    #[arg(long, conflicts_with_all = ["fields", "output"])]
    schema: bool,
    /// Where to: a file, which is replaced when it is complete; - is standard output
    #[arg(long, short, value_name = "FILE", default_value_t = Destination::Stdout)]
    output: Destination,
    /// Threads that read [default: as many as the machine runs at once]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

impl Unstripe {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match self.output.file() {
            None => self.write(out)?,
            Some(path) => write_file(path, |file| self.write(file))?,
        }
        Ok(Outcome::Found)
    }

    fn write(&self, to: &mut impl Write) -> Result<()> {
        for file in &self.files {
            let reader = Reader::open(file)?;
            if self.schema {
                to.write_all(reader.schema().text().as_bytes()).doing("write the schema")?;
                continue;
            }
            let leaves = if self.fields.is_empty() {
                (0..reader.schema().leaves().len()).collect()
            } else {
                reader.schema().select(&self.fields).map_err(|error| error.file(file))?
            };
            let put = |lines: &[u8]| to.write_all(lines).doing("write the records");
            reader.unstripe(&leaves, self.threads, put).map_err(|error| error.file(file))?;
        }
        Ok(())
    }
}
