//! `hammerspace store repair STORE`.

use std::fmt;
use std::path::PathBuf;

use bytesize::ByteSize;
use clap::Args;
use hammerspace::Store;
use hammerspace_error::Result;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;

/// Recover what can be read of a damaged log
///
/// What is lost is listed. The store has a new log then, and the damaged one is deleted: copy the directory
/// first if you want to keep it.
#[derive(Args)]
#[command(after_help = "Example: hammerspace store repair visits")]
pub(crate) struct Repair {
    /// The directory of the store
    store: PathBuf,
    /// How much memory it may take, where the manifest of the log is damaged, too
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    limit: ByteSize,
}

impl Repair {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let working = Progress::unknown("repair");
        let (store, lost) = Store::repair(&self.store, self.limit.as_u64())?;
        drop(working);
        out.answer(&Repaired { keys: store.keys(), lost: &lost })?;
        Ok(if lost.is_empty() { Outcome::Found } else { Outcome::Broken })
    }
}

#[derive(Serialize)]
struct Repaired<'r> {
    keys: u64,
    lost: &'r [String],
}

impl fmt::Display for Repaired<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lost.iter().try_for_each(|lost| writeln!(f, "lost: {lost}"))?;
        writeln!(f, "recovered: {} keys", self.keys)
    }
}
