//! What a verification says: that all is sound, or each thing that is wrong, with file, offset and remedy.

use std::fmt;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_sparkey::Report;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::exit::Outcome;
use crate::output::{Output, Told};

/// The outcome of looking at everything there is.
pub(crate) struct Verdict {
    /// Live entries, where they could be counted.
    entries: u64,
    report: Report,
}

impl Verdict {
    /// Of a verification that could be made.
    pub(crate) fn new(entries: u64, report: Report) -> Self {
        Self { entries, report }
    }

    /// Of files that cannot even be opened, if that is because of what is in them.
    pub(crate) fn unopened(error: Error) -> Result<Self> {
        match error.kind() {
            Kind::Corrupt | Kind::Unsupported => Ok(Self::new(0, Report { findings: vec![error], count: 1 })),
            _ => Err(error),
        }
    }

    /// Adds what `other` found.
    pub(crate) fn and(mut self, other: Report) -> Self {
        self.report.absorb(other);
        self
    }

    /// Says it.
    pub(crate) fn tell(&self, out: &mut Output) -> Result<Outcome> {
        out.answer(self)?;
        Ok(if self.report.is_clean() { Outcome::Found } else { Outcome::Broken })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { findings, count } = &self.report;
        if self.report.is_clean() {
            return writeln!(f, "sound: {} entries", self.entries);
        }
        findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        match count - findings.len() as u64 {
            0 => writeln!(f, "not sound: {count} findings"),
            more => writeln!(f, "not sound: {count} findings, {more} of them not shown"),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let findings: Vec<_> = self.report.findings.iter().map(Told).collect();
        json!({
            "sound": self.report.is_clean(),
            "entries": self.entries,
            "count": self.report.count,
            "findings": findings,
        })
        .serialize(to)
    }
}
