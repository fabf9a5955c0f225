//! `hammerspace info SPACE`: what the current version is made of, and what sharing it saves.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use hammerspace::{IndexHeader, Result, Snapshot, Space};
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use crate::exit::Outcome;
use crate::mapped_by;
use crate::output::Output;

/// Show what the current version is made of, and what sharing it saves
#[derive(Args)]
pub(crate) struct Info {
    /// The directory of the space
    space: PathBuf,
}

impl Info {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let space = Space::open(&self.space)?;
        let snapshot = space.snapshot();
        out.answer(&Answer {
            space: self.space.to_string_lossy().into_owned(),
            versions: space.versions()?.len(),
            entries: snapshot.len(),
            current: Current::of(&snapshot),
        })?;
        Ok(Outcome::Found)
    }
}

#[derive(Serialize)]
struct Answer {
    space: String,
    /// How many are on disk.
    versions: usize,
    entries: u64,
    /// `None` for an empty space.
    current: Option<Current>,
}

/// The current version.
#[derive(Serialize)]
struct Current {
    number: Option<u64>,
    uid: String,
    log_bytes: u64,
    index_bytes: u64,
    /// Dead entries in the log, before compression.
    garbage_bytes: u64,
    compression: &'static str,
    block_size: u32,
    /// Other processes that have it mapped now, as far as we may look.
    processes: u64,
    /// What they would hold in memory beyond one copy, if each had its own.
    saved_bytes: u64,
}

impl Current {
    fn of(snapshot: &Snapshot) -> Option<Self> {
        let (uid, log, index) = (snapshot.uid()?, snapshot.log_header()?, snapshot.index_header()?);
        let index_bytes = IndexHeader::SIZE as u64 + index.hash_capacity * index.slot_size() as u64;
        let processes = mapped_by::count(uid);
        Some(Self {
            number: snapshot.number(),
            uid: uid.to_owned(),
            log_bytes: log.data_end,
            index_bytes,
            garbage_bytes: index.garbage_size,
            compression: log.compression.name(),
            block_size: log.block_size,
            processes,
            saved_bytes: processes.saturating_sub(1) * (log.data_end + index_bytes),
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "space     {}", self.space)?;
        writeln!(f, "versions  {} on disk", self.versions)?;
        writeln!(f, "entries   {}", HumanCount(self.entries))?;
        self.current.as_ref().map_or(Ok(()), |current| write!(f, "{current}"))
    }
}

impl fmt::Display for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.map_or("without number".into(), |number| number.to_string());
        let bytes = self.log_bytes + self.index_bytes;
        writeln!(f, "current   {number}, {}", self.uid)?;
        writeln!(f, "log       {}, compression {}", HumanBytes(self.log_bytes), self.compression)?;
        writeln!(f, "index     {}", HumanBytes(self.index_bytes))?;
        writeln!(f, "garbage   {}", HumanBytes(self.garbage_bytes))?;
        match self.processes {
            0 => writeln!(f, "shared    by no process now; each but the first will save {}", HumanBytes(bytes)),
            1 => writeln!(f, "shared    by 1 process now; each further one will save {}", HumanBytes(bytes)),
            many => writeln!(f, "shared    by {many} processes now, which saves {}", HumanBytes(self.saved_bytes)),
        }
    }
}
