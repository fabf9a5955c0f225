//! `hammerspace store set remove STORE SET`.

use clap::Args;
use hammerspace::store::OwnedKey;
use hammerspace_error::Result;
use serde_json::json;

use super::{Place, answer};
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::ids::{IdType, Ids};

/// Remove ids from a set, and print how many it has now; or remove the set
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set remove shop bought < returned.txt")]
pub(crate) struct Remove {
    #[command(flatten)]
    place: Place,
    /// The set
    set: String,
    /// Remove the set itself; standard input is not read
    #[arg(long, conflicts_with_all = ["words", "from", "integer"])]
    all: bool,
    #[command(flatten)]
    ids: Ids,
    #[command(flatten)]
    of: IdType,
}

impl Remove {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (_store, sets) = self.place.own()?;
        if self.all {
            let was_there = sets.drop_set(&self.set)?;
            if out.json() {
                out.object(&json!({ "removed": was_there }))?;
            }
            return Ok(if was_there { Outcome::Found } else { Outcome::NotFound });
        }
        self.ids.each_chunk("removing", self.of, |ids| {
            sets.remove(&self.set, &ids.iter().map(OwnedKey::as_key).collect::<Vec<_>>())
        })?;
        answer(out, "count", sets.count(&format!("\"{}\"", self.set))?)?;
        Ok(Outcome::Found)
    }
}
