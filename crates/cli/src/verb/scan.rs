//! `hammerspace scan SPACE`: keys and values, in the order in which each key was last written.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;

use crate::exit::Outcome;
use crate::output::{Output, Pair};
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
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Leave the values out
    #[arg(long)]
    keys_only: bool,
}

impl Scan {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let prefix = bytes(&self.prefix, self.hex)?;
        let snapshot = self.reading.open(&self.space)?.snapshot();
        let (mut found, limit) = (0, self.limit.unwrap_or(u64::MAX));
        for pair in &snapshot {
            if found == limit {
                break;
            }
            let (key, value) = pair?;
            if key.starts_with(&prefix) {
                self.line(&key, &value, out)?;
                found += 1;
            }
        }
        Ok(if found > 0 { Outcome::Found } else { Outcome::NotFound })
    }

    fn line(&self, key: &[u8], value: &[u8], out: &mut Output) -> Result<()> {
        let value = (!self.keys_only).then_some(value);
        if out.json() {
            return out.object(&Pair { key, value });
        }
        out.bytes(key)?;
        if let Some(value) = value {
            out.bytes(b"\t")?;
            out.bytes(value)?;
        }
        out.bytes(b"\n")
    }
}
