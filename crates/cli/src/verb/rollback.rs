//! `hammerspace rollback SPACE [NUMBER]`: an older version made current again.

use std::path::PathBuf;

use clap::Args;
use hammerspace::{Kind, Space};
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Make an older version current again, in one step
#[derive(Args)]
pub(crate) struct Rollback {
    /// The directory of the space
    space: PathBuf,
    /// The version's number [default: the newest before the current one]
    number: Option<u64>,
}

impl Rollback {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let space = Space::open(&self.space)?;
        match space.rollback(self.number) {
            Ok(version) if out.json() => out.object(&json!({ "version": version }))?,
            Ok(version) => out.bytes(format!("version {version} is current\n").as_bytes())?,
            // The space is there, so it is the version that is not.
            Err(error) if error.kind() == Kind::Missing => {
                out.error(&error)?;
                return Ok(Outcome::NotFound);
            }
            Err(error) => return Err(error),
        }
        Ok(Outcome::Found)
    }
}
