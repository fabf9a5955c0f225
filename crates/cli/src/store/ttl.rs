//! `hammerspace store ttl STORE KEY`, and how long records live, as it is given.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::shown::described;
use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// Reads a time to live: a number of seconds, or numbers with units.
pub(super) fn ttl(given: &str) -> std::result::Result<Duration, String> {
    if let Ok(seconds) = given.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(given).map_err(|why| format!("{why}; give seconds, or units such as 90s or 2h 30m"))
}

/// Print how many seconds a key still lives; nothing if it does not expire
#[derive(Args)]
#[command(after_help = "Example: hammerspace store ttl visits session")]
pub(crate) struct Ttl {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Ttl {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let Some(meta) = self.place.attach()?.meta(key.as_key())? else {
            if out.json() {
                out.object(&json!({ "found": false }))?;
            }
            return Ok(Outcome::NotFound);
        };
        // What has less than a second left still lives.
        let left = |expiry: SystemTime| expiry.duration_since(SystemTime::now()).unwrap_or_default();
        let seconds = meta.expiry.map(|expiry| left(expiry).as_millis().div_ceil(1000) as u64);
        if out.json() {
            out.object(&json!({ "found": true, "ttl": seconds, "expiry": described(meta)["expiry"] }))?;
        } else if let Some(seconds) = seconds {
            out.bytes(format!("{seconds}\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
