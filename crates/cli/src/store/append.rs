//! `hammerspace store append STORE KEY VALUE`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Append to the value of a key, and print its length
#[derive(Args)]
pub(crate) struct Append {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// What to append
    #[arg(allow_hyphen_values = true)]
    value: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Append {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let len = self.place.own()?.append(key.as_key(), bytes(&self.value, false)?)?;
        if out.json() {
            out.object(&json!({ "length": len }))?;
        } else {
            out.bytes(format!("{len}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
