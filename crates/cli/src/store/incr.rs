//! `hammerspace store incr STORE KEY [BY]`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::expire::after;
use super::target::{Place, Spelling};
use super::ttl::ttl;
use crate::exit::Outcome;
use crate::output::Output;

/// Add to the number of a key, and print the sum
#[derive(Args)]
#[command(after_help = "Example: hammerspace store incr visits hits 5 --ttl 1h")]
pub(crate) struct Incr {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// What to add
    #[arg(default_value_t = 1, allow_negative_numbers = true)]
    by: i64,
    /// Let it expire so many seconds from now, or so long, such as 90s or 2h [default: as before]
    #[arg(long, value_parser = ttl)]
    ttl: Option<Duration>,
    #[command(flatten)]
    spelling: Spelling,
}

impl Incr {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let expiry = self.ttl.map(after).transpose()?;
        let table = self.place.own()?;
        let sum = table.add(key.as_key(), self.by)?;
        if let Some(expiry) = expiry {
            table.expire(key.as_key(), expiry)?;
        }
        if out.json() {
            out.object(&json!({ "value": sum }))?;
        } else {
            out.bytes(format!("{sum}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
