//! `hammerspace store list`: the regions of stores on this machine, those among them that no store names any more.

use std::path::PathBuf;

use clap::Args;
use hammerspace::store::{RegionInfo, RegionState, regions};
use hammerspace_error::Result;
use indicatif::HumanBytes;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// List the regions of stores: the memory each takes, its owner, its store
///
/// A line is the region's file, its memory, its owner, and its store's directory, with tabs between. A stranded region belongs to no
/// store any more, as its directory was deleted or moved: `hammerspace store remove REGION` deletes it.
#[derive(Args)]
pub(crate) struct List {
    /// The directory that the regions lie in [default: /dev/shm]
    #[arg(long, value_name = "DIRECTORY")]
    region: Option<PathBuf>,
}

impl List {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let found = regions(self.region.as_deref())?;
        for region in &found {
            if out.json() { out.object(&described(region))? } else { out.bytes(line(region).as_bytes())? }
        }
        Ok(if found.is_empty() { Outcome::NotFound } else { Outcome::Found })
    }
}

fn line(info: &RegionInfo) -> String {
    let owner = match info.state {
        RegionState::Owned(Some(process)) => format!("owned by process {process}"),
        RegionState::Owned(None) => "owned".to_owned(),
        RegionState::Idle => "without an owner".to_owned(),
        RegionState::Stranded => "stranded".to_owned(),
        RegionState::Unknown => "unknown".to_owned(),
    };
    let store = info.store.as_deref().map_or("-".into(), |store| store.to_string_lossy());
    format!("{}\t{}\t{owner}\t{store}\n", info.region.display(), HumanBytes(info.memory))
}

fn described(info: &RegionInfo) -> serde_json::Value {
    let (state, owner) = match info.state {
        RegionState::Owned(process) => ("owned", process),
        RegionState::Idle => ("idle", None),
        RegionState::Stranded => ("stranded", None),
        RegionState::Unknown => ("unknown", None),
    };
    json!({
        "region": info.region.to_string_lossy(),
        "memory": info.memory,
        "state": state,
        "owner": owner,
        "store": info.store.as_ref().map(|store| store.to_string_lossy()),
    })
}
