//! `hammerspace store incr STORE KEY [BY]`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// Add to the number of a key, and print the sum
#[derive(Args)]
pub(crate) struct Incr {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// What to add
    #[arg(default_value_t = 1, allow_negative_numbers = true)]
    by: i64,
    #[command(flatten)]
    spelling: Spelling,
}

impl Incr {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let sum = self.place.own()?.add(key.as_key(), self.by)?;
        if out.json() {
            out.object(&json!({ "value": sum }))?;
        } else {
            out.bytes(format!("{sum}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
