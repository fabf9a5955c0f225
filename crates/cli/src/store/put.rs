//! `hammerspace store put STORE KEY [VALUE]`, and `put STORE --from FILE`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hammerspace::store::{self, Condition, Table, ValueKind};
use hammerspace_error::{Doing, Error, Kind, Result};
use serde_json::json;

use super::records::{self, Format, Record};
use super::shown::described;
use super::target::{Place, Spelling};
use super::ttl::ttl;
use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Put the value of a key, or all records of a file
///
/// The records of a file are put one by one, in order: what comes before a line that cannot be put stays put. What `scan --json` has
/// written comes back as it was, but for versions.
#[derive(Args)]
#[command(after_help = "\
Examples: hammerspace store put visits session token --ttl 2h
          hammerspace store scan visits --json | hammerspace store put copy --from - --format ndjson")]
pub(crate) struct Put {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true, required_unless_present = "from")]
    key: Option<OsString>,
    /// The value [default: all of standard input, as it is]
    #[arg(allow_hyphen_values = true)]
    value: Option<OsString>,
    /// Put the records of this file, TSV or NDJSON; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    from: Option<PathBuf>,
    /// What that file is in [default: as its name says]
    #[arg(long, requires = "from", conflicts_with = "key")]
    format: Option<Format>,
    #[command(flatten)]
    spelling: Spelling,
    /// What the value is: bytes, append, or a number that is merged by add, min or max
    #[arg(long, default_value = "bytes")]
    kind: ValueKind,
    /// Let it expire after so many seconds, or so long, such as 90s or 2h
    #[arg(long, value_parser = ttl)]
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
        match (&self.from, &self.key) {
            (Some(file), _) => self.put_all(file, out),
            (None, Some(key)) => self.put_one(key, out),
            (None, None) => unreachable!("one of them is required"),
        }
    }

    fn put_one(&self, key: &OsString, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(key)?;
        let record = Record { key, value: self.value()?, kind: None, expiry: None };
        let (answer, outcome) = match self.put(&self.place.own()?, &record)? {
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

    fn put_all(&self, file: &Path, out: &mut Output) -> Result<Outcome> {
        let table = self.place.own()?;
        let (mut done, mut refused) = (0_u64, 0_u64);
        let read = records::each(file, self.format, &self.spelling, |record| {
            let is_done = self.put(&table, &record)?.is_done();
            (done, refused) = (done + u64::from(is_done), refused + u64::from(!is_done));
            Ok(())
        });
        read.map_err(|error| match (done, error.advice()) {
            (0, _) => error,
            (_, advice) => {
                let advice = advice.map(|advice| format!("{advice}; ")).unwrap_or_default();
                error.clone().remedy(format!("{advice}records that were put before it: {done}"))
            }
        })?;
        if out.json() {
            out.object(&json!({ "put": done, "refused": refused }))?;
        }
        Ok(if refused == 0 { Outcome::Found } else { Outcome::NotFound })
    }

    /// Puts a record as it says, and as the options say where it does not.
    fn put(&self, table: &Table, record: &Record) -> Result<store::Outcome> {
        let kind = record.kind.unwrap_or(self.kind);
        let put = store::Put::when(self.condition()).kind(kind);
        let put = match (record.expiry, self.ttl) {
            (Some(expiry), _) => put.until(expiry),
            (None, Some(ttl)) => put.ttl(ttl),
            (None, None) => put,
        };
        table.put_with(record.key.as_key(), stored(kind, &record.value)?, &put)
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
        if let Some(value) = &self.value {
            return bytes(value, false);
        }
        let mut value = Vec::new();
        io::stdin().lock().read_to_end(&mut value).doing("read standard input")?;
        Ok(value)
    }
}

/// A value as the store keeps it: numbers come in decimal.
fn stored(kind: ValueKind, value: &[u8]) -> Result<Cow<'_, [u8]>> {
    if !kind.is_number() {
        return Ok(value.into());
    }
    let number = str::from_utf8(value).ok().and_then(|text| text.trim().parse::<i64>().ok());
    number.map(|number| number.to_le_bytes().to_vec().into()).ok_or_else(|| {
        let finding = format!("{} is no number", crate::output::shown(value));
        Error::new(Kind::Invalid, finding).remedy("give a decimal number of 64 bits")
    })
}
