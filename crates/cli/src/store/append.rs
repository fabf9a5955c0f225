//! `hammerspace store append STORE KEY VALUE`.

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
use crate::values::bytes;

/// Append to the value of a key, and print its length
#[derive(Args)]
#[command(after_help = "Example: hammerspace store append visits log 'login;' --ttl 7d")]
pub(crate) struct Append {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// What to append
    #[arg(allow_hyphen_values = true)]
    value: OsString,
    /// Let it expire so many seconds from now, or so long, such as 90s or 2h [default: as before]
    #[arg(long, value_parser = ttl)]
    ttl: Option<Duration>,
    #[command(flatten)]
    spelling: Spelling,
}

impl Append {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let expiry = self.ttl.map(after).transpose()?;
        let table = self.place.own()?;
        let len = table.append(key.as_key(), bytes(&self.value, false)?)?;
        if let Some(expiry) = expiry {
            table.expire(key.as_key(), expiry)?;
        }
        if out.json() {
            out.object(&json!({ "length": len }))?;
        } else {
            out.bytes(format!("{len}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
