//! `hammerspace delete SPACE KEY…`: keys removed, and a new version published if any of them was there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace::{Space, Updated, Writer};
use hammerspace_error::Result;
use serde_json::json;

use super::publishing::{Publishing, update};
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;
use crate::values::bytes;

/// Delete keys and publish
#[derive(Args)]
pub(crate) struct Delete {
    /// The directory of the space
    space: PathBuf,
    /// The keys; if some are not there the others go all the same, and the exit code says so
    #[arg(required = true)]
    keys: Vec<OsString>,
    /// The keys are given in hex
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    publishing: Publishing,
}

impl Delete {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let wanted = self.keys.iter().map(|key| bytes(key, self.hex)).collect::<Result<BTreeSet<_>>>()?;
        interrupt::keeps_space(&self.space)?;
        let space = self.publishing.options().open(&self.space)?;
        let Updated { result: deleted, version, .. } = if has_any(&space, &wanted)? {
            update(&space, |writer| delete(writer, &wanted))?
        } else {
            Updated { result: 0, version: space.snapshot().number(), is_published: false }
        };
        let missing = wanted.len() - deleted;
        if out.json() {
            out.object(&json!({ "deleted": deleted, "missing": missing, "version": version }))?;
        }
        Ok(if missing == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}

/// Whether there is anything to queue for.
fn has_any(space: &Space, keys: &BTreeSet<Vec<u8>>) -> Result<bool> {
    for key in keys {
        if space.contains(key)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes those that are there, and says how many.
fn delete(writer: &mut Writer, keys: &BTreeSet<Vec<u8>>) -> Result<usize> {
    let mut deleted = 0;
    for key in keys {
        if writer.get(key)?.is_some() {
            writer.delete(key)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}
