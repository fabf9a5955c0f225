//! `sparkey get INDEX|DIRECTORY KEY`: the value of a key, byte for byte.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;

use super::Ignored;
use super::source::Source;
use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Print the value of a key
#[derive(Args)]
pub(crate) struct Get {
    /// The index, NAME.spi, whose log NAME.spl lies beside it; or a directory of shards
    index: PathBuf,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The key is given in hex
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    _ignored: Ignored,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = bytes(&self.key, self.hex)?;
        let source = Source::open(&self.index)?;
        let value = source.get(&key)?;
        out.lookup(&key, value.as_deref())
    }
}
