//! `sparkey dump FILE`: the live entries of an index, or the history in a log.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_sparkey::{Entry, EntryKind};
use hammerspace_tables::{Pair, open_log};
use serde::Serialize;

use super::source::Source;
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::values::delimiter;

/// Print all live entries (of an index or of shards), or every put and delete in order (of a log)
///
/// Of an index NAME.spi, or of a directory of shards: key, delimiter and value of each live entry, as appendlog reads them. Of a log NAME.spl: put or
/// delete goes first. Keys and values are printed as they are; where they may hold delimiters or newlines, --json tells
/// them apart.
#[derive(Args)]
pub(crate) struct Dump {
    /// The byte between key and value [default: TAB]
    #[arg(short, value_name = "CHAR", value_parser = delimiter, default_value = "\t", hide_default_value = true)]
    #[arg(allow_hyphen_values = true)]
    delimiter: u8,
    /// The index, NAME.spi, or the log, NAME.spl; or a directory of shards
    file: PathBuf,
}

impl Dump {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        match Pair::of_log(&self.file) {
            Ok(pair) if !self.file.is_dir() => self.history(&pair, out)?,
            _ => self.live(out)?,
        }
        Ok(Outcome::Found)
    }

    fn live(&self, out: &mut Output) -> Result<()> {
        let source = Source::open(&self.file)?;
        for entry in source.entries() {
            let Entry { key, value, .. } = entry?;
            if out.json() {
                out.object(&output::Pair { key: &key, value: Some(&value) })?;
            } else {
                self.line(&[&key, &value], out)?;
            }
        }
        Ok(())
    }

    fn history(&self, pair: &Pair, out: &mut Output) -> Result<()> {
        let log = open_log(&pair.log)?;
        let mut entries = log.entries();
        while let Some(entry) = entries.lend()? {
            if out.json() {
                out.object(&Event::of(&entry))?;
            } else if entry.is_put() {
                self.line(&[b"put", &entry.key, &entry.value], out)?;
            } else {
                self.line(&[b"delete", &entry.key], out)?;
            }
        }
        Ok(())
    }

    fn line(&self, fields: &[&[u8]], out: &mut Output) -> Result<()> {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                out.bytes(&[self.delimiter])?;
            }
            out.bytes(field)?;
        }
        out.bytes(b"\n")
    }
}

/// One entry of a log.
#[derive(Serialize)]
struct Event<'a> {
    op: &'static str,
    #[serde(flatten)]
    pair: output::Pair<'a>,
    offset: u64,
    index: u32,
}

impl<'a> Event<'a> {
    fn of(entry: &'a Entry<'_>) -> Self {
        let (op, value) = match entry.kind {
            EntryKind::Put => ("put", Some(&*entry.value)),
            EntryKind::Delete => ("delete", None),
        };
        let pair = output::Pair { key: &entry.key, value };
        Self { op, pair, offset: entry.address.offset, index: entry.address.index }
    }
}
