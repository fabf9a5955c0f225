//! `hammerspace store get STORE KEY`: the value of a key, whoever owns the store.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::shown::{record, shown_value};
use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// Print the value of a key
#[derive(Args)]
#[command(after_help = "Example: hammerspace store get visits ada")]
pub(crate) struct Get {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let value = self.place.attach()?.get(key.as_key())?;
        if out.json() {
            let mut answer = json!({ "found": value.is_some() });
            answer.as_object_mut().expect("one").extend(record(&key, value.as_ref()));
            out.object(&answer)?;
        } else if let Some(value) = &value {
            out.bytes(&shown_value(value))?;
        }
        Ok(if value.is_some() { Outcome::Found } else { Outcome::NotFound })
    }
}
