//! `hammerspace store min STORE KEY NUMBER`, and `max`.

use std::ffi::OsString;

use clap::Args;
use hammerspace::store::{Key, Table};
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// What `min` and `max` take.
#[derive(Args)]
pub(crate) struct Bound {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The number to compare with the key's, which it becomes where there is none
    #[arg(allow_negative_numbers = true)]
    number: i64,
    #[command(flatten)]
    spelling: Spelling,
}

impl Bound {
    pub(crate) fn run(&self, out: &mut Output, merge: fn(&Table, Key<'_>, i64) -> Result<i64>) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let bound = merge(&self.place.own()?, key.as_key(), self.number)?;
        if out.json() {
            out.object(&json!({ "value": bound }))?;
        } else {
            out.bytes(format!("{bound}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
