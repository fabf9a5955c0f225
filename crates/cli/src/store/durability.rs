//! `hammerspace store durability STORE LEVEL`.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace::store::Durability;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Change when a store's changes are on disk
///
/// A store that had no log gets one, with all that is in it. With none, the log is deleted.
#[derive(Args)]
#[command(after_help = "Example: hammerspace store durability visits commit")]
pub(crate) struct Level {
    /// The directory of the store, which nobody owns
    store: PathBuf,
    /// Within a second (interval), before the command that makes them ends (commit), or never (none)
    level: Durability,
}

impl Level {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = Store::open_durable(&self.store, self.level)?;
        if out.json() {
            out.object(&json!({ "durability": store.durability()?.name() }))?;
        }
        Ok(Outcome::Found)
    }
}
