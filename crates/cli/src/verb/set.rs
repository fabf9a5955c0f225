//! `hammerspace set SPACE KEY [VALUE]`: one key changed, and a new version published.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;
use hammerspace_error::{Doing, Result};
use serde::Serialize;

use super::publishing::{Publishing, update};
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::{Output, Pair};
use crate::values::bytes;

/// Set the value of a key and publish
#[derive(Args)]
pub(crate) struct Set {
    /// The directory of the space; made if it is missing
    space: PathBuf,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    /// The value [default: all of standard input, as it is]
    #[arg(allow_hyphen_values = true)]
    value: Option<OsString>,
    /// The key is given in hex
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    publishing: Publishing,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    key: Pair<'a>,
    version: Option<u64>,
}

impl Set {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = bytes(&self.key, self.hex)?;
        interrupt::keeps_space(&self.space)?;
        let value = self.value()?;
        let space = self.publishing.options().create(&self.space)?;
        let version = update(&space, |writer| writer.put(&key, &value))?.version;
        if out.json() {
            out.object(&Answer { key: Pair { key: &key, value: None }, version })?;
        }
        Ok(Outcome::Found)
    }

    fn value(&self) -> Result<Vec<u8>> {
        if let Some(value) = &self.value {
            return bytes(value, false);
        }
        let mut value = Vec::new();
        io::stdin().lock().read_to_end(&mut value).doing("read standard input")?;
        Ok(value)
    }
}
