//! `hammerspace store put STORE KEY [VALUE]`.

use std::ffi::OsString;
use std::io::{self, Read};

use clap::Args;
use hammerspace::store::{self, Condition, ValueKind};
use hammerspace_error::{Doing, Error, Kind, Result};
use humantime::Duration;
use serde_json::json;

use super::shown::described;
use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Put the value of a key
#[derive(Args)]
pub(crate) struct Put {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The value [default: all of standard input, as it is]
    #[arg(allow_hyphen_values = true)]
    value: Option<OsString>,
    #[command(flatten)]
    spelling: Spelling,
    /// What the value is: bytes, append, or a number that is merged by add, min or max
    #[arg(long, default_value = "bytes")]
    kind: ValueKind,
    /// Let it expire after so long, such as 90s or 2h
    #[arg(long, value_name = "DURATION")]
    ttl: Option<Duration>,
    /// Only if the key is not there
    #[arg(long, group = "condition")]
    if_absent: bool,
    /// Only if the key is there
    #[arg(long, group = "condition")]
    if_present: bool,
    /// Only if the key has this version
    #[arg(long, group = "condition", value_name = "VERSION")]
    if_version: Option<u64>,
}

impl Put {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let value = self.value()?;
        let put = store::Put::when(self.condition()).kind(self.kind);
        let put = self.ttl.map_or(put, |ttl| put.ttl(ttl.into()));
        let (answer, outcome) = match self.place.own()?.put_with(key.as_key(), value, &put)? {
            store::Outcome::Done { version, before } => {
                (json!({ "done": true, "version": version, "replaced": before.is_some() }), Outcome::Found)
            }
            store::Outcome::Refused { there } => {
                (json!({ "done": false, "there": there.map(described) }), Outcome::NotFound)
            }
        };
        if out.json() {
            out.object(&answer)?;
        }
        Ok(outcome)
    }

    fn condition(&self) -> Condition {
        match (self.if_absent, self.if_present, self.if_version) {
            (true, ..) => Condition::Absent,
            (_, true, _) => Condition::Present,
            (.., Some(version)) => Condition::Version(version),
            _ => Condition::Always,
        }
    }

    fn value(&self) -> Result<Vec<u8>> {
        let value = if let Some(value) = &self.value {
            bytes(value, false)?
        } else {
            let mut value = Vec::new();
            io::stdin().lock().read_to_end(&mut value).doing("read standard input")?;
            value
        };
        if !self.kind.is_number() {
            return Ok(value);
        }
        let number = str::from_utf8(&value).ok().and_then(|text| text.trim().parse::<i64>().ok());
        number.map(|number| number.to_le_bytes().to_vec()).ok_or_else(|| {
            let finding = format!("{} is no number", crate::output::shown(&value));
            Error::new(Kind::Invalid, finding).remedy("give a decimal number of 64 bits")
        })
    }
}
