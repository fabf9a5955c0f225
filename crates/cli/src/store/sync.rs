//! `hammerspace store sync STORE`.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::open;
use crate::exit::Outcome;
use crate::output::Output;

/// Make changes durable; after a restart, recover the store
#[derive(Args)]
#[command(after_help = "Example: hammerspace store sync visits")]
pub(crate) struct Sync {
    /// The directory of the store
    store: PathBuf,
}

impl Sync {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = open(&self.store)?;
        store.sync()?;
        if out.json() {
            out.object(&json!({ "durability": store.durability()?.name(), "durable": store.durable() }))?;
        }
        Ok(Outcome::Found)
    }
}
