//! `hammerspace store info STORE`.

use std::path::PathBuf;

use clap::Args;
use hammerspace::Store;
use hammerspace_error::Result;

use super::overview::Overview;
use crate::exit::Outcome;
use crate::output::Output;

/// Show what a store's memory is used for, and its tables
#[derive(Args)]
#[command(after_help = "Example: hammerspace store info visits")]
pub(crate) struct Info {
    /// The directory of the store
    store: PathBuf,
}

impl Info {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let store = Store::attach(&self.store)?;
        out.answer(&Overview::of(&self.store, &store)?)?;
        Ok(Outcome::Found)
    }
}
