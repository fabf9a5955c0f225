//! `hammerspace push SPACE URL`: the current version, published for other machines.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use hammerspace::Options;
use hammerspace_error::Result;
use hammerspace_fleet::{Activation, Fleet, Pushed, push, run};
use indicatif::HumanBytes;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Publish the current version to an object store, for other machines to follow
///
/// Moves only what the newest version there lacks. s3:// takes credentials, region and endpoint from
/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL.
#[derive(Args)]
#[command(after_help = "Example: hammerspace push words s3://tables/words")]
pub(crate) struct Push {
    /// The directory of the space
    space: PathBuf,
    /// Where to: s3://bucket/prefix or file:///directory
    url: String,
    /// Have followers fetch it, and wait for `hammerspace fleet activate`
    #[arg(long)]
    hold: bool,
}

impl Push {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let snapshot = Options::new().mend().open(&self.space)?.snapshot();
        let fleet = Fleet::open(&self.url)?;
        let activation = if self.hold { Activation::Held } else { Activation::Immediate };
        let options = hammerspace_fleet::Push { activation, ..hammerspace_fleet::Push::default() };
        let pushed = run(push(&fleet, &snapshot, &options)).map_err(|error| error.file(&self.space))?;
        out.done(&Answer(pushed))?;
        Ok(Outcome::Found)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Answer(Pushed);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pushed { version, is_new, bytes, size, .. } = self.0;
        if !is_new {
            return writeln!(f, "version {version} has the same data already");
        }
        writeln!(f, "published version {version}: {} of {} uploaded", HumanBytes(bytes), HumanBytes(size))
    }
}
