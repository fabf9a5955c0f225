//! `hammerspace gc SPACE`: what nobody needs any more, removed without a publication.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use hammerspace::{Collected, Options};
use hammerspace_error::Result;
use indicatif::HumanBytes;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// Remove what writers left that were killed, and with --keep older versions too
///
/// Every publication does the same. This is for spaces that are published seldom.
#[derive(Args)]
#[command(after_help = "Example: hammerspace gc words --keep 3")]
pub(crate) struct Gc {
    /// The directory of the space
    space: PathBuf,
    /// Versions that stay on disk, the current one included [default: all]
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
}

#[derive(Serialize)]
struct Answer {
    removed: u64,
    bytes: u64,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "removed {}, freed {}", self.removed, HumanBytes(self.bytes))
    }
}

impl Gc {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let options = Options::new().mend().keep(self.keep.unwrap_or(usize::MAX));
        let Collected { directories, bytes } = options.open(&self.space)?.gc()?;
        out.answer(&Answer { removed: directories, bytes })?;
        Ok(Outcome::Found)
    }
}
