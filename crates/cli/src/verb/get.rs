//! `hammerspace get SPACE KEY`: the value of a key, byte for byte.

use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use clap::Args;
use hammerspace::Space;
use hammerspace_error::Result;

use crate::exit::Outcome;
use crate::output::Output;
use crate::values::bytes;

/// Print the value of a key
#[derive(Args)]
pub(crate) struct Get {
    /// The directory of the space
    space: PathBuf,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The key is given in hex
    #[arg(long)]
    hex: bool,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = bytes(&self.key, self.hex)?;
        let value = Space::open(&self.space)?.get(&key)?;
        let outcome = out.lookup(&key, value.as_deref())?;
        // A program gets the value and nothing else; a person's prompt should stand on its own line.
        if outcome == Outcome::Found && !out.json() && stdout().is_terminal() {
            out.bytes(b"\n")?;
        }
        Ok(outcome)
    }
}
