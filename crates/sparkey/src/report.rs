//! What a verification found.

use crate::index::bulk::Effort;
use hammerspace_error::{Error, Result};
use std::io::Cursor;

/// All that `verify` found wrong, in the order it was met.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The first [`Report::FINDINGS_MAX`] findings, each with offset and remedy.
    pub findings: Vec<Error>,
    /// How many there were in all.
    pub count: u64,
}

impl Report {
    /// More findings than this are only counted.
    pub const FINDINGS_MAX: usize = 100;

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    /// Adds what another verification found.
    pub fn absorb(&mut self, other: Self) {
        let room = Self::FINDINGS_MAX.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(room));
        self.count += other.count;
    }

    /// What `verify` finds with as much memory as it takes, and a scratch in memory. Lack of it is a finding.
    pub(crate) fn in_memory(verify: impl FnOnce(&Effort, fn() -> Result<Cursor<Vec<u8>>>) -> Result<Self>) -> Self {
        let effort = Effort { memory: u64::MAX, ..Effort::default() };
        verify(&effort, || Ok(Cursor::default())).unwrap_or_else(|error| Self { findings: vec![error], count: 1 })
    }

    /// Counts a finding; it is put into words only if there is room for it.
    pub(crate) fn add(&mut self, finding: impl FnOnce() -> Error) {
        self.count += 1;
        if self.findings.len() < Self::FINDINGS_MAX {
            self.findings.push(finding());
        }
    }
}
