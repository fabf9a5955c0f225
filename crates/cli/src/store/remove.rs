//! `hammerspace store remove STORE`.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Delete a store that nobody owns, and give its memory back
#[derive(Args)]
#[command(after_help = "Example: hammerspace store remove visits")]
pub(crate) struct Remove {
    /// The directory of the store; or, if that is gone, the region's file, which `store list` shows
    store: PathBuf,
}

impl Remove {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        Store::remove(&self.store)?;
        if out.json() {
            out.object(&json!({ "removed": self.store.to_string_lossy() }))?;
        }
        Ok(Outcome::Found)
    }
}
