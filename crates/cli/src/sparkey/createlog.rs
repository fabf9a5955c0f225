//! `sparkey createlog LOG`: a log without entries.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_sparkey::{Compression, LogOptions};
use hammerspace_tables::LogFile;

use super::Ignored;
use super::info::{Described, Header};
use crate::exit::Outcome;
use crate::output::Output;
use crate::values::{BLOCK_SIZE, block_sizes, compressions};

/// Create an empty log; one that is there is replaced, and its readers keep it
#[derive(Args)]
pub(crate) struct Createlog {
    /// How entries are packed
    #[arg(short, value_name = "none|snappy|zstd", default_value = "none", value_parser = compressions())]
    compression: Compression,
    /// The most bytes of entries that are compressed together
    #[arg(short, value_name = "BYTES", default_value_t = BLOCK_SIZE, value_parser = block_sizes())]
    block_size: u32,
    /// The log, NAME.spl
    log: PathBuf,
    #[command(flatten)]
    _ignored: Ignored,
}

impl Createlog {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let options = LogOptions { compression: self.compression, block_size: self.block_size };
        let header = LogFile::create(&self.log, &options)?.finish()?;
        if out.json() {
            out.object(&Described { file: &self.log, header: &Header::Log(header) })?;
        }
        Ok(Outcome::Found)
    }
}
