//! `hammerspace store set list STORE [EXPRESSION]`.

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::Place;
use crate::exit::Outcome;
use crate::output::{Output, Pair};
use crate::progress::Progress;
use crate::store::shown::shown_key;

/// Print the ids that an expression over sets has, or the names of all sets
#[derive(Args)]
#[command(after_help = "Example: hammerspace store set list shop 'saw_ad - bought'")]
pub(crate) struct List {
    #[command(flatten)]
    place: Place,
    /// Sets and operators, as `count` takes them [default: print the names and counts of all sets]
    expression: Option<String>,
}

impl List {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let (_store, sets) = self.place.attach()?;
        let mut outcome = Outcome::NotFound;
        let Some(expression) = &self.expression else {
            for name in sets.names()? {
                let count = sets.count(&format!("\"{name}\""))?;
                if out.json() {
                    out.object(&json!({ "set": name, "count": count }))?;
                } else {
                    out.bytes(format!("{name}\t{count}\n").as_bytes())?;
                }
                outcome = Outcome::Found;
            }
            return Ok(outcome);
        };
        let progress = Progress::entries("listing", sets.count(expression)?);
        sets.each_id(expression, |id| {
            progress.add(1);
            outcome = Outcome::Found;
            let shown = shown_key(&id);
            if out.json() {
                return out.object(&Pair { key: &shown, value: None });
            }
            out.bytes(&shown)?;
            out.bytes(b"\n")
        })?;
        Ok(outcome)
    }
}
