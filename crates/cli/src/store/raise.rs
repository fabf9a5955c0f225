//! `hammerspace store raise STORE SIZE`.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::Args;
use hammerspace::Store;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Raise or lower the memory limit
#[derive(Args)]
#[command(after_help = "Example: hammerspace store raise visits 128MiB")]
pub(crate) struct Raise {
    /// The directory of the store
    store: PathBuf,
    /// How much memory it may take from now on; what it holds, at least
    limit: ByteSize,
}

impl Raise {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = Store::open(&self.store)?;
        store.set_limit(self.limit.as_u64())?;
        if out.json() {
            out.object(&json!({ "limit": store.usage().limit }))?;
        }
        Ok(Outcome::Found)
    }
}
