//! `hammerspace store create STORE --limit SIZE`.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::Args;
use hammerspace::Store;
use hammerspace::store::{Durability, Options};
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
    /// When changes are on disk: within a second (interval), before they are acknowledged (commit), or never
    /// (none) [default: interval; none where the directory is in memory]
    #[arg(long, value_name = "LEVEL")]
    durability: Option<Durability>,
}

impl Create {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mode = if self.group { 0o640 } else { 0o600 };
        let limit = self.limit.as_u64();
        let options = Options { region: self.region.clone(), mode, ..Options::with_limit(limit) };
        let store = Store::create_durable(&self.store, &options, self.durability)?;
        let level = store.durability()?;
        if self.durability.is_none() && level == Durability::None {
            out.note("the store's directory is in memory: the store will not outlive a restart of the machine")?;
        }
        if out.json() {
            let (path, limit) = (self.store.to_string_lossy(), store.usage().limit);
            out.object(&json!({ "store": path, "limit": limit, "durability": level.name() }))?;
        }
        Ok(Outcome::Found)
    }
}
