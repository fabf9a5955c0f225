//! `hammerspace store table STORE NAME`: tables come, go, and are emptied.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::TableOptions;
use hammerspace::store::hll::Params;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Create, empty or drop a table
#[derive(Args)]
#[command(after_help = "Example: hammerspace store table visits events --no-versions")]
pub(crate) struct Table {
    /// The directory of the store
    store: PathBuf,
    /// The table
    name: String,
    /// Create it without versions, which saves 8 bytes a key
    #[arg(long, conflicts_with_all = ["empty", "drop"])]
    no_versions: bool,
    #[command(flatten)]
    counting: Counting,
    /// Empty it
    #[arg(long, conflicts_with = "drop")]
    empty: bool,
    /// Drop it
    #[arg(long)]
    drop: bool,
}

/// The parameters of what `count` counts in a table.
#[derive(Args)]
struct Counting {
    /// Count with 2^N registers: 11 for a standard error of 2.3 %, 14 for 0.8 %
    #[arg(long, value_name = "N", default_value_t = 11, conflicts_with_all = ["empty", "drop"])]
    log2m: u32,
    /// Count with registers of so many bits
    #[arg(long, value_name = "BITS", default_value_t = 5, conflicts_with_all = ["empty", "drop"])]
    regwidth: u32,
    /// Keep up to so many hashes as an exact list; -1 for as many as fit in the registers' memory
    #[arg(long, value_name = "N", default_value_t = -1, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["empty", "drop"])]
    expthresh: i64,
    /// Write all registers, also where most are zero
    #[arg(long, conflicts_with_all = ["empty", "drop"])]
    no_sparse: bool,
}

impl Counting {
    fn params(&self) -> Result<Params> {
        Params::new(self.log2m, self.regwidth, self.expthresh, !self.no_sparse)
    }
}

impl Table {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = Store::open(&self.store)?;
        let done = if self.drop {
            store.drop_table(&self.name)?;
            "dropped"
        } else if self.empty {
            store.empty_table(&self.name)?;
            "emptied"
        } else {
            store
                .create_table(&self.name, TableOptions { versions: !self.no_versions, hll: self.counting.params()? })?;
            "created"
        };
        if out.json() {
            out.object(&json!({ done: self.name }))?;
        }
        Ok(Outcome::Found)
    }
}
