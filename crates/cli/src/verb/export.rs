//! `hammerspace export SPACE`: the current version in another form.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hammerspace::{Compression, Effort, Error, Kind, Result, Snapshot};
use hammerspace_error::Doing;
use hammerspace_os::File;
use hammerspace_sparkey::{LogOptions, LogWriter};
use hammerspace_tables::{Pair as LogAndIndex, replace};
use serde::Serializer as _;
use serde::ser::SerializeMap;

use crate::destination::write_file;
use crate::exit::Outcome;
use crate::exporting::{Exporting, Format, Records};
use crate::interrupt;
use crate::output::{Output, Pair};
use crate::paging::Reading;
use crate::progress::Progress;
use crate::records::{Record, unfit};
use crate::sparkey::build_index;
use crate::values::{BLOCK_SIZE, block_sizes, compressions};

/// Write the current version as NDJSON, JSON, CSV, TSV, Parquet or a Sparkey pair
///
/// With --json and no --output, the NDJSON or JSON itself is the answer.
#[derive(Args)]
pub(crate) struct Export {
    /// The directory of the space
    space: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// In what form
    #[arg(long, value_enum, default_value_t = Form::Ndjson)]
    format: Form,
    #[command(flatten)]
    exporting: Exporting,
    /// How entries of a Sparkey pair or pages of a Parquet file are packed [default: none; snappy in Parquet]
    #[arg(long, value_name = "none|snappy|zstd", value_parser = compressions())]
    compression: Option<Compression>,
    /// The most bytes of entries of a Sparkey pair that are compressed together
    #[arg(long, value_name = "BYTES", default_value_t = BLOCK_SIZE, value_parser = block_sizes())]
    block_size: u32,
    /// Say in the schema of a Parquet file that keys and values are text; all of them must be
    #[arg(long)]
    text: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One object {"key": …, "value": …} per line
    Ndjson,
    /// One flat object
    Json,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Tab-separated values (text/tab-separated-values)
    Tsv,
    /// Striped columns
    #[cfg(feature = "parquet")]
    Parquet,
    /// A log and its index, NAME.spl and NAME.spi
    Sparkey,
}

impl Export {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let snapshot = self.reading.open(&self.space)?.snapshot();
        let progress = Progress::entries("export", snapshot.len());
        let format = match self.format {
            Form::Ndjson => Format::Ndjson,
            Form::Csv => Format::Csv,
            Form::Tsv => Format::Tsv,
            #[cfg(feature = "parquet")]
            Form::Parquet => Format::Parquet,
            Form::Json | Form::Sparkey => return self.whole(&snapshot, &progress, out),
        };
        let records = Records {
            format,
            schema: if self.text { TEXT } else { BYTES },
            compression: self.compression.map(Compression::name),
            header: None,
            each: &|put| each(&snapshot, &progress, |key, value| put(&Record::Pair(Pair { key, value: Some(value) }))),
        };
        self.exporting.write(&records, out)?;
        Ok(Outcome::Found)
    }

    /// Writes what is more than a row of records.
    fn whole(&self, snapshot: &Snapshot, progress: &Progress, out: &mut Output) -> Result<Outcome> {
        if self.exporting.is_split() {
            return Err(Error::new(Kind::Invalid, "this format cannot be split by a field")
                .remedy("give --format ndjson, csv, tsv or parquet"));
        }
        match (self.exporting.output.file(), self.format) {
            (None, Form::Sparkey) => {
                return Err(Error::new(Kind::Invalid, "standard output cannot hold a log and its index")
                    .remedy("give --output NAME.spl"));
            }
            (None, _) => json(snapshot, progress, out)?,
            (Some(path), Form::Sparkey) => {
                let pair = LogAndIndex::of_either(path)?;
                interrupt::keeps_files(&[&pair.log, &pair.index])?;
                replace(&pair.log, |log| self.sparkey(snapshot, progress, log))?;
                build_index(&pair, &Effort::default()).map(drop)?;
            }
            (Some(path), _) => {
                interrupt::keeps_files(&[path])?;
                write_file(path, |file| json(snapshot, progress, file))?;
            }
        }
        self.exporting.said(snapshot.len(), out)?;
        Ok(Outcome::Found)
    }

    fn sparkey(&self, snapshot: &Snapshot, progress: &Progress, log: &mut File) -> Result<()> {
        let compression = self.compression.unwrap_or(Compression::None);
        let mut log = LogWriter::create(log, &LogOptions { compression, block_size: self.block_size })?;
        each(snapshot, progress, |key, value| log.put(key, value))?;
        log.finish().map(drop)
    }
}

const BYTES: &str = "message pair { required binary key; required binary value; }";
const TEXT: &str = "message pair { required binary key (STRING); required binary value (STRING); }";

const WRITING: &str = "write the export";

/// Hands every pair to `put`, and counts it.
fn each(snapshot: &Snapshot, progress: &Progress, mut put: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    for pair in snapshot {
        let (key, value) = pair?;
        put(&key, &value)?;
        progress.add(1);
    }
    Ok(())
}

fn json(snapshot: &Snapshot, progress: &Progress, to: &mut impl Write) -> Result<()> {
    let mut object = serde_json::Serializer::new(&mut *to);
    let mut object = object.serialize_map(None).map_err(io::Error::from).doing(WRITING)?;
    each(snapshot, progress, |key, value| {
        object.serialize_entry(text(key)?, text(value)?).map_err(io::Error::from).doing(WRITING)
    })?;
    object.end().map_err(io::Error::from).doing(WRITING)?;
    to.write_all(b"\n").doing(WRITING)
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| unfit(bytes, "UTF-8, and a flat JSON object has no other way to say it"))
}
