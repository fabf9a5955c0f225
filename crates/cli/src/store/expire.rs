//! `hammerspace store expire STORE KEY TTL`, and `persist`, which takes it back.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use clap::Args;
use hammerspace_error::{Error, Kind, Result};
use serde_json::json;

use super::target::{Place, Spelling};
use super::ttl::ttl;
use crate::exit::Outcome;
use crate::output::Output;

/// Let a key expire; one that is to live for 0 seconds is deleted
#[derive(Args)]
#[command(after_help = "Example: hammerspace store expire visits session 2h")]
pub(crate) struct Expire {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// How long it still lives, in seconds, or with units such as 90s or 2h
    #[arg(value_parser = ttl)]
    ttl: Duration,
    #[command(flatten)]
    spelling: Spelling,
}

/// Let a key stay that would have expired
#[derive(Args)]
#[command(after_help = "Example: hammerspace store persist visits session")]
pub(crate) struct Persist {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Expire {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let expiry = after(self.ttl)?;
        told(out, self.place.own()?.expire(key.as_key(), expiry)?)
    }
}

impl Persist {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        told(out, self.place.own()?.persist(key.as_key())?)
    }
}

/// The instant so long from now.
pub(super) fn after(ttl: Duration) -> Result<SystemTime> {
    SystemTime::now().checked_add(ttl).ok_or_else(|| {
        let error = Error::new(Kind::Invalid, "there is no instant that far from now");
        error.remedy("give a shorter time, or let the key stay with `hammerspace store persist`")
    })
}

fn told(out: &mut Output, is_there: bool) -> Result<Outcome> {
    if out.json() {
        out.object(&json!({ "found": is_there }))?;
    }
    Ok(if is_there { Outcome::Found } else { Outcome::NotFound })
}
