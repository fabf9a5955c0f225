//! What `load` says it did.

use std::fmt;

use serde::Serialize;

use super::changes::{Changes, SHOWN_MAX};
use crate::output::shown;

#[derive(Serialize)]
pub(super) struct Answer {
    /// The version that is current now.
    pub(super) version: Option<u64>,
    #[serde(skip)]
    pub(super) is_published: bool,
    #[serde(flatten)]
    pub(super) compared: Option<Compared>,
    pub(super) files: Vec<Loaded>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<String>,
}

/// What a comparison with the version before has come to.
#[derive(Serialize)]
pub(super) struct Compared {
    pub(super) published: bool,
    pub(super) changes: Changes,
}

/// What came from one file.
#[derive(Serialize)]
pub(super) struct Loaded {
    pub(super) file: String,
    pub(super) format: &'static str,
    pub(super) prefix: String,
    pub(super) pairs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<String>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Loaded { file, pairs, warning, .. } in &self.files {
            writeln!(f, "{file}: {pairs} pairs")?;
            if let Some(warning) = warning {
                writeln!(f, "{file}: warning: {warning}")?;
            }
        }
        for file in &self.skipped {
            writeln!(f, "{file}: skipped, its name does not say what it is in")?;
        }
        if let Some(compared) = &self.compared {
            compared.changes.fmt(f)?;
        }
        match (self.version, self.is_published) {
            (Some(version), true) => writeln!(f, "published version {version}"),
            (Some(version), false) => writeln!(f, "published nothing; version {version} stays current"),
            (None, _) => writeln!(f, "published nothing"),
        }
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "no changes");
        }
        for change in &self.keys {
            writeln!(f, "{} {}", change.what, shown(&change.key))?;
        }
        if self.total() > SHOWN_MAX as u64 {
            writeln!(f, "… and {} more", self.total() - SHOWN_MAX as u64)?;
        }
        writeln!(f, "changes: {} added, {} changed, {} removed", self.added, self.changed, self.removed)
    }
}
