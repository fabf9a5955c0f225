//! `hammerspace clear SPACE`: nothing left, in one step.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Options;
use hammerspace_error::Result;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::Output;

/// Empty the space in one step, and drop every version of it
///
/// There is nothing to roll back to after that. Readers keep what they read until they refresh.
#[derive(Args)]
#[command(after_help = "Example: hammerspace clear words")]
pub(crate) struct Clear {
    /// The directory of the space
    space: PathBuf,
}

impl Clear {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let space = Options::new().mend().open(&self.space)?;
        let dropped = space.versions()?.len();
        space.clear()?;
        if out.json() {
            out.object(&json!({ "dropped": dropped }))?;
        } else {
            out.bytes(format!("dropped {dropped} versions\n").as_bytes())?;
        }
        Ok(Outcome::Found)
    }
}
