//! `hammerspace versions SPACE`: the versions on disk.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use hammerspace::{Space, VersionInfo};
use hammerspace_error::Result;
use humantime::format_rfc3339_seconds;
use indicatif::HumanBytes;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// List the versions on disk, newest first
#[derive(Args)]
pub(crate) struct Versions {
    /// The directory of the space
    space: PathBuf,
}

impl Versions {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let versions = Answer { versions: Space::open(&self.space)?.versions()?.into_iter().map(Listed).collect() };
        out.answer(&versions)?;
        Ok(if versions.versions.is_empty() { Outcome::NotFound } else { Outcome::Found })
    }
}

#[derive(Serialize)]
struct Answer {
    versions: Vec<Listed>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.versions.iter().try_for_each(|version| writeln!(f, "{version}"))
    }
}

/// A version as a line or an object.
struct Listed(VersionInfo);

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VersionInfo { number, uid, is_current, entries, bytes, published } = &self.0;
        let number = number.map_or("-".into(), |number| number.to_string());
        let (mark, published) = (if *is_current { '*' } else { ' ' }, format_rfc3339_seconds(*published));
        write!(f, "{mark} {number:>4}  {published}  {entries:>10} entries  {:>11}  {uid}", HumanBytes(*bytes))
    }
}

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let VersionInfo { number, uid, is_current, entries, bytes, published } = &self.0;
        json!({
            "number": number,
            "uid": uid,
            "current": is_current,
            "entries": entries,
            "bytes": bytes,
            "published": format_rfc3339_seconds(*published).to_string(),
        })
        .serialize(to)
    }
}
