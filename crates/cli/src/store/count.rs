//! `hammerspace store count STORE`.

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Beginning, Place};
use crate::exit::Outcome;
use crate::output::Output;

/// Count the keys of a table, one by one
#[derive(Args)]
#[command(after_help = "Example: hammerspace store count visits --prefix user:")]
pub(crate) struct Count {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    beginning: Beginning,
}

impl Count {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let mut count = 0_u64;
        for entry in &self.place.attach()? {
            count += u64::from(self.beginning.is_of(&entry?.key));
        }
        if out.json() {
            out.object(&json!({ "keys": count }))?;
        } else {
            out.bytes(format!("{count}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
