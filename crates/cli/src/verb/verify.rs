//! `hammerspace verify SPACE`: every entry of the current version's log and every slot of its index.

use std::path::PathBuf;

use clap::Args;
use hammerspace_error::Result;

use crate::exit::Outcome;
use crate::output::Output;
use crate::paging::Reading;
use crate::progress::Progress;
use crate::verdict::Verdict;

/// Read the current version whole and say exactly what is wrong
#[derive(Args)]
pub(crate) struct Verify {
    /// The directory of the space
    space: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

impl Verify {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let working = Progress::unknown("verify");
        let verdict = self.verify()?;
        drop(working);
        verdict.tell(out)
    }

    fn verify(&self) -> Result<Verdict> {
        match self.reading.open(&self.space) {
            Ok(space) => {
                let snapshot = space.snapshot();
                Ok(Verdict::new(snapshot.len(), snapshot.verify()?.unwrap_or_default()))
            }
            Err(error) => Verdict::unopened(error),
        }
    }
}
