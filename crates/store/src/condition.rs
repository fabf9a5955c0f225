//! What a change may ask of the record there is, and what came of it.

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::{self as memory, TableId};

use crate::value::Meta;
use crate::write::Reply;

/// What must be so for a change to be made. It is looked at and the change is made in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Always,
    /// The key is not there.
    Absent,
    /// The key is there.
    Present,
    /// The key is there and has this version.
    Version(u64),
}

impl Condition {
    /// Refuses to ask for versions where there are none.
    pub(crate) fn check(self, is_versioned: bool) -> Result<()> {
        if matches!(self, Self::Version(_)) && !is_versioned {
            let error = Error::new(Kind::Invalid, "the table's records have no versions");
            return Err(error.remedy("ask for absent or present, or create the table with versions"));
        }
        Ok(())
    }

    pub(crate) fn holds(self, table: TableId, there: Option<&memory::Meta>) -> bool {
        debug_assert!(self.check(table.is_versioned).is_ok());
        match self {
            Self::Always => true,
            Self::Absent => there.is_none(),
            Self::Present => there.is_some(),
            Self::Version(version) => there.is_some_and(|meta| meta.version == Some(version)),
        }
    }
}

/// What came of a change with a condition. What was there is given as bytes where this build does not know
/// its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It was made.
    Done {
        /// The version the record has now; `None` if it is gone, or its table has no versions.
        version: Option<u64>,
        /// What was there before.
        before: Option<Meta>,
    },
    /// The condition did not hold, and nothing was changed.
    Refused {
        /// What is there.
        there: Option<Meta>,
    },
}

impl Outcome {
    /// Whether the change was made.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }

    pub(crate) fn of(reply: &Reply) -> Self {
        let (version, before) = (reply.version, reply.before);
        if reply.is_done { Self::Done { version, before } } else { Self::Refused { there: before } }
    }
}
