//! `sparkey writehash LOG`: the index of a log.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_tables::Pair;

use super::info::{Described, Header};
use super::{Ignored, build_index};
use crate::effort::Indexing;
use crate::exit::Outcome;
use crate::interrupt;
use crate::output::Output;

/// Write the index of a log
#[derive(Args)]
pub(crate) struct Writehash {
    /// The log, NAME.spl; the index goes to NAME.spi
    log: PathBuf,
    #[command(flatten)]
    indexing: Indexing,
    #[command(flatten)]
    _ignored: Ignored,
}

impl Writehash {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let pair = Pair::of_log(&self.log)?;
        interrupt::keeps_files(&[&pair.index])?;
        let header = build_index(&pair, &self.indexing.effort())?;
        if out.json() {
            out.object(&Described { file: &pair.index, header: &Header::Index(header) })?;
        }
        Ok(Outcome::Found)
    }
}
