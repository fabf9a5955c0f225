//! `sparkey verify FILE|DIRECTORY`: every entry of the log and every slot of the index, held against each other.

use std::path::{Path, PathBuf};

use clap::Args;
use hammerspace_error::Result;
use hammerspace_sparkey::Effort;
use hammerspace_tables::{Pair, open_log, open_shards, scratch};

use crate::effort::Indexing;
use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::Progress;
use crate::verdict::Verdict;

/// Read log and index whole and say exactly what is wrong
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    indexing: Indexing,
    /// The index, NAME.spi, with its log; or the log, NAME.spl, alone; or a directory of shards
    file: PathBuf,
}

impl Verify {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let working = Progress::unknown("verify");
        let effort = self.indexing.effort();
        let verdict = match Pair::of_index(&self.file) {
            _ if self.file.is_dir() => verify_shards(&self.file, &effort)?,
            Ok(pair) => verify_pair(&pair, &effort)?,
            Err(_) => verify_log(&Pair::of_either(&self.file)?)?,
        };
        drop(working);
        verdict.tell(out)
    }
}

/// An index that cannot be opened says nothing about its log, which is then looked at alone.
fn verify_pair(pair: &Pair, effort: &Effort) -> Result<Verdict> {
    match pair.open() {
        Ok(table) => Ok(Verdict::new(table.len(), table.verify_within(effort, scratch)?)),
        Err(error) => {
            let unopened = Verdict::unopened(error)?;
            Ok(match open_log(&pair.log) {
                Ok(log) => unopened.and(log.verify()),
                Err(_) => unopened,
            })
        }
    }
}

fn verify_log(pair: &Pair) -> Result<Verdict> {
    match open_log(&pair.log) {
        Ok(log) => Ok(Verdict::new(log.header().num_puts.saturating_add(log.header().num_deletes), log.verify())),
        Err(error) => Verdict::unopened(error),
    }
}

fn verify_shards(directory: &Path, effort: &Effort) -> Result<Verdict> {
    match open_shards(directory) {
        Ok(shards) => Ok(Verdict::new(shards.len(), shards.verify_within(effort, scratch)?)),
        Err(error) => Verdict::unopened(error),
    }
}
