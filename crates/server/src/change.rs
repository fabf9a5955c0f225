//! Changes of a record that depend on its value.
//!
//! The record is read, and changed on the condition that it still has the version that was read. Where it has not,
//! another client was faster, and the change is decided anew. So it is one operation to everyone who looks.

use std::borrow::Cow;
use std::time::SystemTime;

use hammerspace_store::{Condition, Meta, Operation, Request, Table, ValueKind};

use crate::failure::Failure;

/// What becomes of a record.
pub(crate) enum Change<'v> {
    Keep,
    Put { kind: ValueKind, value: Cow<'v, [u8]>, expiry: Option<SystemTime> },
    Expire(Option<SystemTime>),
    Delete,
}

impl<'v> Change<'v> {
    /// A string that replaces what there is.
    pub(crate) fn bytes(value: impl Into<Cow<'v, [u8]>>, expiry: Option<SystemTime>) -> Self {
        Self::Put { kind: ValueKind::Bytes, value: value.into(), expiry }
    }

    /// The operation that makes it; `None` where there is nothing to do.
    fn operation(&self) -> Option<Operation<'_>> {
        Some(match self {
            Self::Keep => return None,
            Self::Put { kind, value, expiry } => Operation::Put { kind: *kind, value, expiry: *expiry },
            Self::Expire(expiry) => Operation::Expire(*expiry),
            Self::Delete => Operation::Delete,
        })
    }
}

/// The record that a change is decided on.
#[derive(Clone, Copy)]
pub(crate) struct There<'r> {
    pub(crate) meta: Meta,
    pub(crate) bytes: &'r [u8],
}

/// Decides what becomes of a record, and makes it so. Gives what `decide` gives beside the change.
///
/// O(bytes of the value), times one and the changes that others make meanwhile.
pub(crate) fn update<'v, T>(
    table: &Table,
    key: &[u8],
    mut decide: impl FnMut(Option<There<'_>>) -> Result<(Change<'v>, T), Failure>,
) -> Result<T, Failure> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let meta = table.get_into(key, &mut bytes)?;
        let (change, result) = decide(meta.map(|meta| There { meta, bytes: &bytes }))?;
        let Some(operation) = change.operation() else { return Ok(result) };
        let condition = meta.and_then(|meta| meta.version).map_or(Condition::Absent, Condition::Version);
        if table.apply(key, &Request::from(operation).when(condition))?.is_done {
            return Ok(result);
        }
    }
}
