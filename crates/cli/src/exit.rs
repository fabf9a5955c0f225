//! What the command ends with.
//!
//! ```text
//!                       hammerspace           hammerspace sparkey, sparkey
//! found, done           0                     0
//! not found             1                     2
//! usage                 2                     1
//! corrupt, unsupported  3                     1
//! anything else         4                     1
//! ```
//! The right column is what Spotify's `sparkey` promises, and scripts rely on it.

use std::process::ExitCode;

use hammerspace_error::Kind;

/// How a verb ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was there; it is done; it is sound.
    Found,
    /// The key, the entry or the version asked for is not there.
    NotFound,
    /// It was looked at and is not sound; what is wrong has been said.
    Broken,
}

/// Whose exit codes are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Ours.
    Hammerspace,
    /// Those of Spotify's tool.
    Sparkey,
}

impl Dialect {
    /// The name that opens every message.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hammerspace => "hammerspace",
            Self::Sparkey => "sparkey",
        }
    }

    /// The code for a verb that could do its work.
    pub(crate) fn code(self, outcome: Outcome) -> ExitCode {
        ExitCode::from(match (self, outcome) {
            (_, Outcome::Found) => 0,
            (Self::Hammerspace, Outcome::NotFound) | (Self::Sparkey, Outcome::Broken) => 1,
            (Self::Sparkey, Outcome::NotFound) => 2,
            (Self::Hammerspace, Outcome::Broken) => 3,
        })
    }

    /// The code for one that could not.
    pub(crate) fn code_of(self, kind: Kind) -> ExitCode {
        ExitCode::from(match (self, kind) {
            (Self::Sparkey, _) => 1,
            (Self::Hammerspace, Kind::Invalid) => 2,
            (Self::Hammerspace, Kind::Corrupt | Kind::Unsupported) => 3,
            (Self::Hammerspace, _) => 4,
        })
    }
}
