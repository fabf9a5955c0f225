//! `sparkey delete FILE KEY…`: deletes appended to the log, and the index brought up to them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_tables::{LogFile, Pair};
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Delete keys: append to the log, then bring the index up to date
#[derive(Args)]
pub(crate) struct Delete {
    /// The index, NAME.spi, or the log, NAME.spl
    file: PathBuf,
    /// The keys; if some are not there the others go all the same, and the exit code says so
    #[arg(required = true)]
    keys: Vec<OsString>,
    /// The keys are given in hex
    #[arg(long)]
    hex: bool,
}

impl Delete {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let wanted = self.keys.iter().map(|key| bytes(key, self.hex)).collect::<Result<BTreeSet<_>>>()?;
        let pair = Pair::of_either(&self.file)?;
        // The log may have grown since the index was written; only an index that is up to date knows what is there.
        pair.update_index()?;
        let deleted = delete(&pair, &wanted)?;
        let missing = wanted.len() - deleted;
        if out.json() {
            out.object(&json!({ "deleted": deleted, "missing": missing }))?;
        }
        Ok(if missing == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}

/// Deletes those of the keys that are there, and counts them.
fn delete(pair: &Pair, wanted: &BTreeSet<Vec<u8>>) -> Result<usize> {
    let table = pair.open()?;
    let mut present = Vec::new();
    for key in wanted {
        if table.contains(key)? {
            present.push(key);
        }
    }
    if !present.is_empty() {
        let mut log = LogFile::append(&pair.log)?;
        present.iter().try_for_each(|key| log.delete(key))?;
        log.finish()?;
        pair.update_index()?;
    }
    Ok(present.len())
}
