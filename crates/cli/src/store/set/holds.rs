//! `hammerspace store set holds STORE ID`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::{Over, Place};
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::target::Spelling;

/// Print the names of the sets that hold an id
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set holds shop ada")]
pub(crate) struct Holds {
    #[command(flatten)]
    place: Place,
    /// The id
    #[arg(allow_hyphen_values = true)]
    id: OsString,
    #[command(flatten)]
    over: Over,
    #[command(flatten)]
    spelling: Spelling,
}

impl Holds {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (store, sets) = self.place.attach()?;
        let universe = self.over.open(&store)?;
        let names = sets.holding(&universe, self.spelling.key(&self.id)?.as_key())?;
        if out.json() {
            out.object(&json!({ "sets": names }))?;
        } else {
            names.iter().try_for_each(|name| out.bytes(format!("{name}\n").as_bytes()))?;
        }
        Ok(if names.is_empty() { Outcome::NotFound } else { Outcome::Found })
    }
}
