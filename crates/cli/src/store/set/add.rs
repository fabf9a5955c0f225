//! `hammerspace store set add STORE SET`.

use clap::Args;
use hammerspace::store::OwnedKey;
use hammerspace_error::Result;

use super::{Over, Place, answer};
use crate::exit::Outcome;
use crate::output::Output;
use crate::store::ids::{IdType, Ids};

/// Add ids to a set, and print how many it has now
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set add shop bought < ids.txt")]
pub(crate) struct Add {
    #[command(flatten)]
    place: Place,
    /// The set
    set: String,
    #[command(flatten)]
    over: Over,
    #[command(flatten)]
    ids: Ids,
    #[command(flatten)]
    of: IdType,
}

impl Add {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (store, sets) = self.place.own()?;
        let universe = self.over.own(&store)?;
        // An empty input makes a set too.
        sets.add(&self.set, &universe, &[])?;
        self.ids.each_chunk("adding", self.of, |ids| {
            sets.add(&self.set, &universe, &ids.iter().map(OwnedKey::as_key).collect::<Vec<_>>())
        })?;
        answer(out, "count", sets.count(&format!("\"{}\"", self.set))?)?;
        Ok(Outcome::Found)
    }
}
