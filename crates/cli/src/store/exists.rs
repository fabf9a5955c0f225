//! `hammerspace store exists STORE KEY…`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// Tell by the exit code whether all of these keys are there
#[derive(Args)]
#[command(after_help = "Example: hammerspace store exists visits ada && echo 'she was here'")]
pub(crate) struct Exists {
    #[command(flatten)]
    place: Place,
    /// The keys
    #[arg(required = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    spelling: Spelling,
}

impl Exists {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let keys = self.keys.iter().map(|key| self.spelling.key(key)).collect::<Result<Vec<_>>>()?;
        let table = self.place.attach()?;
        let mut there = 0;
        for key in &keys {
            there += usize::from(table.contains(key.as_key())?);
        }
        let missing = keys.len() - there;
        if out.json() {
            out.object(&json!({ "there": there, "missing": missing }))?;
        }
        Ok(if missing == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}
