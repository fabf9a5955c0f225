//! `hammerspace delete SPACE KEY…`: keys removed, and a new version published if any of them was there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace::Space;
use hammerspace_error::Result;
use serde_json::json;

use super::publishing::Publishing;
use crate::exit::Outcome;
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
        let space = self.publishing.options().open(&self.space)?;
        let present = present(&space, &wanted)?;
        let version = if present.is_empty() { space.snapshot().number() } else { Some(delete(&space, &present)?) };
        let missing = wanted.len() - present.len();
        if out.json() {
            out.object(&json!({ "deleted": present.len(), "missing": missing, "version": version }))?;
        }
        Ok(if missing == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}

fn present<'k>(space: &Space, wanted: &'k BTreeSet<Vec<u8>>) -> Result<Vec<&'k [u8]>> {
    let mut present = Vec::new();
    for key in wanted {
        if space.contains(key)? {
            present.push(key.as_slice());
        }
    }
    Ok(present)
}

fn delete(space: &Space, keys: &[&[u8]]) -> Result<u64> {
    let mut writer = space.writer()?;
    keys.iter().try_for_each(|key| writer.delete(key))?;
    writer.publish()
}
