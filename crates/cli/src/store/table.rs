//! `hammerspace store table STORE NAME`: tables come, go, and are emptied.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::TableOptions;
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
    /// Empty it
    #[arg(long, conflicts_with = "drop")]
    empty: bool,
    /// Drop it
    #[arg(long)]
    drop: bool,
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
            store.create_table(&self.name, TableOptions { versions: !self.no_versions, ..TableOptions::default() })?;
            "created"
        };
        if out.json() {
            out.object(&json!({ done: self.name }))?;
        }
        Ok(Outcome::Found)
    }
}
