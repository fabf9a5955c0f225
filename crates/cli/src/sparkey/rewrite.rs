//! `sparkey rewrite INPUT OUTPUT`: the live entries of one pair as a new pair, in log order.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_sparkey::{Compression, LogHeader, LogOptions, LogWriter};
use hammerspace_tables::{Pair, replace};
use serde_json::json;

use super::{Ignored, build_index};
use crate::effort::Indexing;
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::values::{BLOCK_SIZE, block_sizes, compressions};

/// Write a new pair that holds the live entries only, compressed as before or otherwise
#[derive(Args)]
pub(crate) struct Rewrite {
    #[command(flatten)]
    packing: Packing,
    /// The index to read, NAME.spi; its log lies beside it
    input: PathBuf,
    /// The index to write, OTHER.spi; its log goes beside it
    output: PathBuf,
    #[command(flatten)]
    indexing: Indexing,
    #[command(flatten)]
    _ignored: Ignored,
}

impl Rewrite {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        if self.input == self.output {
            return Err(Error::new(Kind::Invalid, "input and output must be different"));
        }
        let (source, target) = (Pair::of_index(&self.input)?, Pair::of_index(&self.output)?);
        let table = source.open()?;
        let options = self.packing.options(table.log().header());
        interrupt::keeps_files(&[&target.log, &target.index])?;
        let progress = Progress::entries("rewrite", table.len());
        let header = replace(&target.log, |file| {
            let mut log = LogWriter::create(file, &options)?;
            for entry in &table {
                let entry = entry?;
                log.put(&entry.key, &entry.value)?;
                progress.add(1);
            }
            Ok(log.finish()?.1)
        })?;
        build_index(&target, &self.indexing.effort())?;
        if out.json() {
            let dropped = table.log().header().num_puts - header.num_puts;
            out.object(&json!({
                "output": target.index.to_string_lossy(),
                "entries": header.num_puts,
                "dropped_puts": dropped,
                "dropped_deletes": table.log().header().num_deletes,
            }))?;
        }
        Ok(Outcome::Found)
    }
}

/// How the entries of one table are packed in another.
#[derive(Args)]
pub(super) struct Packing {
    /// How entries are packed [default: as before]
    #[arg(short, value_name = "none|snappy|zstd", value_parser = compressions())]
    compression: Option<Compression>,
    /// The most bytes of entries that are compressed together [default: as before]
    #[arg(short, value_name = "BYTES", value_parser = block_sizes())]
    block_size: Option<u32>,
}

impl Packing {
    /// What was asked for, else what was; but a log that was not compressed has no block size to keep.
    pub(super) fn options(&self, source: &LogHeader) -> LogOptions {
        let kept = if source.compression == Compression::None { BLOCK_SIZE } else { source.block_size };
        LogOptions {
            compression: self.compression.unwrap_or(source.compression),
            block_size: self.block_size.unwrap_or(kept),
        }
    }
}
