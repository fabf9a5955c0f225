//! `sparkey get INDEX KEY`: the value of a key, byte for byte.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_tables::Pair;

use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Print the value of a key
#[derive(Args)]
pub(crate) struct Get {
    /// The index, NAME.spi; its log NAME.spl lies beside it
    index: PathBuf,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The key is given in hex
    #[arg(long)]
    hex: bool,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = bytes(&self.key, self.hex)?;
        let table = Pair::of_index(&self.index)?.open()?;
        let value = table.get(&key)?;
        out.lookup(&key, value.as_deref())
    }
}
