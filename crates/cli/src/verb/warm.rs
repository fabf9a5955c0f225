//! `hammerspace warm SPACE`: the current version, in memory before anyone asks for it.

use std::fmt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use hammerspace::{IndexHeader, Options, Paging, Space};
use hammerspace_error::Result;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

/// How often a new version is looked for. Readers of one that is not locked yet read all the same.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Read the current version into memory, so that no reader waits for the disk
///
/// What the kernel has read stays until it needs the memory for something else; with --lock it stays as long as this runs.
#[derive(Args)]
pub(crate) struct Warm {
    /// The directory of the space
    space: PathBuf,
    /// Stay, and keep it in memory, and each version that follows, until interrupted
    #[arg(long)]
    lock: bool,
}

/// What is in memory.
#[derive(Serialize)]
struct Answer {
    version: Option<u64>,
    bytes: u64,
    locked: bool,
}

impl Warm {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let paging = if self.lock { Paging::Lock } else { Paging::Populate };
        let space = Options::new().paging(paging).open(&self.space)?;
        self.tell(&space, out)?;
        if !self.lock {
            return Ok(Outcome::Found);
        }
        loop {
            sleep(LOOK_EVERY);
            if space.refresh()? {
                self.tell(&space, out)?;
            }
        }
    }

    fn tell(&self, space: &Space, out: &mut Output) -> Result<()> {
        let snapshot = space.snapshot();
        let (log, index) = (snapshot.log_header(), snapshot.index_header());
        let log_bytes = log.map_or(0, |log| log.data_end);
        let table = |index: &IndexHeader| index.hash_capacity * index.slot_size() as u64;
        let index_bytes = index.map_or(0, |index| IndexHeader::SIZE as u64 + table(index));
        out.done(&Answer { version: snapshot.number(), bytes: log_bytes + index_bytes, locked: self.lock })?;
        out.flush()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.locked { "locked in memory" } else { "in memory" };
        writeln!(f, "{} bytes {state}", self.bytes)
    }
}
