//! `hammerspace store delete STORE KEY…`.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;
use serde_json::json;

use super::target::{Place, Spelling};
use crate::exit::Outcome;
use crate::output::Output;

/// Delete keys
#[derive(Args)]
#[command(after_help = "Example: hammerspace store delete visits ada session")]
pub(crate) struct Delete {
    #[command(flatten)]
    place: Place,
    /// The keys; if some are not there the others go all the same, and the exit code says so
    #[arg(required = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    spelling: Spelling,
}

impl Delete {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let keys = self.keys.iter().map(|key| self.spelling.key(key)).collect::<Result<Vec<_>>>()?;
        let table = self.place.own()?;
        let mut deleted = 0;
        for key in &keys {
            deleted += usize::from(table.delete(key.as_key())?);
        }
        let missing = keys.len() - deleted;
        if out.json() {
            out.object(&json!({ "deleted": deleted, "missing": missing }))?;
        }
        Ok(if missing == 0 { Outcome::Found } else { Outcome::NotFound })
    }
}
