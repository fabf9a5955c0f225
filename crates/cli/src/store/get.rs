//! `hammerspace store get STORE KEY`: the value of a key, whoever owns the store.

use std::ffi::OsString;

use clap::Args;
use hammerspace_error::Result;

use super::target::{Place, Spelling, shown_key, shown_value};
use crate::exit::Outcome;
use crate::output::Output;

/// Print the value of a key
#[derive(Args)]
pub(crate) struct Get {
    #[command(flatten)]
    place: Place,
    /// The key
    #[arg(allow_hyphen_values = true)]
    key: OsString,
    #[command(flatten)]
    spelling: Spelling,
}

impl Get {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let key = self.spelling.key(&self.key)?;
        let value = self.place.attach()?.get(key.as_key())?;
        out.lookup(&shown_key(&key), value.as_ref().map(shown_value).as_deref())
    }
}
