//! `hammerspace store create STORE --limit SIZE`.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::Args;
use hammerspace::Store;
use hammerspace::store::Options;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Create a store
#[derive(Args)]
#[command(after_help = "Example: hammerspace store create visits --limit 64MiB")]
pub(crate) struct Create {
    /// The directory of the store; made if it is missing
    store: PathBuf,
    /// How much memory it may take, such as 512MiB or 4GiB
    #[arg(long, value_name = "SIZE")]
    limit: ByteSize,
    /// The directory that its memory is a file in [default: /dev/shm]
    #[arg(long, value_name = "DIRECTORY")]
    region: Option<PathBuf>,
    /// Let the group read it, too
    #[arg(long)]
    group: bool,
}

impl Create {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mode = if self.group { 0o640 } else { 0o600 };
        let limit = self.limit.as_u64();
        let options = Options { region: self.region.clone(), mode, ..Options::with_limit(limit) };
        let store = Store::create(&self.store, &options)?;
        if out.json() {
            out.object(&json!({ "store": self.store.to_string_lossy(), "limit": store.usage().limit }))?;
        }
        Ok(Outcome::Found)
    }
}
