//! `hammerspace export SPACE`: the current version in another form.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hammerspace::{Compression, Effort, Error, Kind, Result, Snapshot};
use hammerspace_error::Doing;
use hammerspace_os::File;
use hammerspace_sparkey::{LogOptions, LogWriter};
use hammerspace_tables::{Pair, replace};
use serde::Serializer as _;
use serde::ser::SerializeMap;
use serde_json::json;

use crate::destination::{Destination, write_file};
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::{self, Output, shown};
use crate::paging::Reading;
use crate::progress::Progress;
use crate::sparkey::build_index;
use crate::values::{BLOCK_SIZE, block_sizes, compressions};

/// Write the current version as NDJSON, JSON, CSV, TSV or a Sparkey pair
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
    /// Where to: a file, which is replaced when the export is complete; a pipe or a device, which is written into;
    /// or - for standard output
    #[arg(long, short, value_name = "FILE", default_value_t = Destination::Stdout)]
    output: Destination,
    /// How entries of a Sparkey pair are packed
    #[arg(long, value_name = "none|snappy|zstd", default_value = "none", value_parser = compressions())]
    compression: Compression,
    /// The most bytes of entries of a Sparkey pair that are compressed together
    #[arg(long, value_name = "BYTES", default_value_t = BLOCK_SIZE, value_parser = block_sizes())]
    block_size: u32,
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
    /// A log and its index, NAME.spl and NAME.spi
    Sparkey,
}

impl Export {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let snapshot = self.reading.open(&self.space)?.snapshot();
        match self.output.file() {
            None => self.to_stdout(&snapshot, out)?,
            Some(path) => {
                self.to_file(&snapshot, path)?;
                if out.json() {
                    out.object(&json!({ "output": path.to_string_lossy(), "entries": snapshot.len() }))?;
                }
            }
        }
        Ok(Outcome::Found)
    }

    fn to_stdout(&self, snapshot: &Snapshot, out: &mut Output) -> Result<()> {
        if self.format == Form::Sparkey {
            return Err(Error::new(Kind::Invalid, "standard output cannot hold a log and its index")
                .remedy("give --output NAME.spl"));
        }
        if out.json() && !matches!(self.format, Form::Ndjson | Form::Json) {
            return Err(Error::new(Kind::Invalid, "standard output cannot hold both this format and JSON")
                .remedy("give --output, or leave out --json"));
        }
        self.text(snapshot, out, &mut || ())
    }

    fn to_file(&self, snapshot: &Snapshot, path: &Path) -> Result<()> {
        let progress = Progress::entries("export", snapshot.len());
        let mut tick = || progress.add(1);
        if self.format == Form::Sparkey {
            let pair = Pair::of_either(path)?;
            interrupt::keeps_files(&[&pair.log, &pair.index])?;
            replace(&pair.log, |log| self.sparkey(snapshot, log, &mut tick))?;
            return build_index(&pair, &Effort::default()).map(drop);
        }
        interrupt::keeps_files(&[path])?;
        write_file(path, |file| self.text(snapshot, file, &mut tick))
    }

    fn sparkey(&self, snapshot: &Snapshot, log: &mut File, tick: &mut dyn FnMut()) -> Result<()> {
        let options = LogOptions { compression: self.compression, block_size: self.block_size };
        let mut log = LogWriter::create(log, &options)?;
        each(snapshot, tick, |key, value| log.put(key, value))?;
        log.finish().map(drop)
    }

    fn text(&self, snapshot: &Snapshot, to: &mut impl Write, tick: &mut dyn FnMut()) -> Result<()> {
        match self.format {
            Form::Ndjson => ndjson(snapshot, to, tick),
            Form::Json => json(snapshot, to, tick),
            Form::Csv => csv(snapshot, to, tick),
            Form::Tsv => tsv(snapshot, to, tick),
            Form::Sparkey => unreachable!("it goes to files of its own"),
        }
    }
}

const WRITING: &str = "write the export";

/// Hands every pair to `put`, and ticks.
fn each(snapshot: &Snapshot, tick: &mut dyn FnMut(), mut put: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    for pair in snapshot {
        let (key, value) = pair?;
        put(&key, &value)?;
        tick();
    }
    Ok(())
}

fn ndjson(snapshot: &Snapshot, to: &mut impl Write, tick: &mut dyn FnMut()) -> Result<()> {
    each(snapshot, tick, |key, value| {
        serde_json::to_writer(&mut *to, &output::Pair { key, value: Some(value) })
            .map_err(io::Error::from)
            .doing(WRITING)?;
        to.write_all(b"\n").doing(WRITING)
    })
}

fn json(snapshot: &Snapshot, to: &mut impl Write, tick: &mut dyn FnMut()) -> Result<()> {
    let mut object = serde_json::Serializer::new(&mut *to);
    let mut object = object.serialize_map(None).map_err(io::Error::from).doing(WRITING)?;
    each(snapshot, tick, |key, value| {
        object.serialize_entry(text(key)?, text(value)?).map_err(io::Error::from).doing(WRITING)
    })?;
    object.end().map_err(io::Error::from).doing(WRITING)?;
    to.write_all(b"\n").doing(WRITING)
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| unfit(bytes, "UTF-8, and a flat JSON object has no other way to say it"))
}

fn csv(snapshot: &Snapshot, to: &mut impl Write, tick: &mut dyn FnMut()) -> Result<()> {
    keep_mark(snapshot, to)?;
    let mut rows = csv::Writer::from_writer(to);
    each(snapshot, tick, |key, value| rows.write_record([key, value]).map_err(io::Error::from).doing(WRITING))?;
    rows.flush().doing(WRITING)
}

fn tsv(snapshot: &Snapshot, to: &mut impl Write, tick: &mut dyn FnMut()) -> Result<()> {
    keep_mark(snapshot, to)?;
    each(snapshot, tick, |key, value| {
        for field in [key, value] {
            if field.iter().any(|byte| b"\t\r\n".contains(byte)) {
                return Err(unfit(field, "free of tabs and line ends, and TSV has no quotes"));
            }
        }
        for piece in [key, b"\t", value, b"\n"] {
            to.write_all(piece).doing(WRITING)?;
        }
        Ok(())
    })
}

/// Readers of tables drop a byte order mark at the start. If the first key begins with one, it needs another before it.
fn keep_mark(snapshot: &Snapshot, to: &mut impl Write) -> Result<()> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let first = snapshot.iter().next().transpose()?;
    if first.is_some_and(|(key, _value)| key.starts_with(MARK)) { to.write_all(MARK).doing(WRITING) } else { Ok(()) }
}

fn unfit(bytes: &[u8], what: &str) -> Error {
    Error::new(Kind::Invalid, format!("`{}` is not {what}", shown(bytes))).remedy("export it as ndjson, csv or sparkey")
}
