//! `hammerspace scan SPACE`: keys and values, in the order in which each key was last written.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;

use crate::exit::Outcome;
use crate::listing::Listing;
use crate::output::Output;
use crate::paging::Reading;
use crate::values::bytes;

/// Print keys and values, in the order in which each key was last written
///
/// A line is the key, a tab, the value, each as it is. Where they may hold tabs or newlines, --json tells them apart.
#[derive(Args)]
pub(crate) struct Scan {
    /// The directory of the space
    space: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Only keys that start so
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    prefix: OsString,
    /// The prefix is given in hex
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    listing: Listing,
}

impl Scan {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let prefix = bytes(&self.prefix, self.hex)?;
        let snapshot = self.reading.open(&self.space)?.snapshot();
        // Errors are listed, too: they end it.
        let pairs = snapshot.iter().filter(|pair| !pair.as_ref().is_ok_and(|(key, _)| !key.starts_with(&prefix)));
        self.listing.print(out, pairs)
    }
}
