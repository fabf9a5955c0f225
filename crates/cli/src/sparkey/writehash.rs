//! `sparkey writehash LOG`: the index of a log.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;
use hammerspace_sparkey::IndexHeader;

use super::info::{Described, Header};
use super::pair::Pair;
use crate::exit::Outcome;
use crate::output::Output;

/// Write the index of a log, or bring it up to the log's end
#[derive(Args)]
pub(crate) struct Writehash {
    /// The log, NAME.spl; the index goes to NAME.spi
    log: PathBuf,
}

impl Writehash {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let pair = Pair::of_log(&self.log)?;
        let index = pair.write_index()?;
        if out.json() {
            let header = Header::Index(IndexHeader::parse(&index)?);
            out.object(&Described { file: &pair.index, header: &header })?;
        }
        Ok(Outcome::Found)
    }
}
