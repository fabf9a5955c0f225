//! Values as a client sees them: strings, whatever their kind.

use std::borrow::Cow;

use hammerspace_store::{Meta, ValueKind};

use crate::failure::Failure;
use crate::text::digits;

/// What `TYPE` says of a value.
pub(crate) fn type_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Other(_) => "unknown",
        _ => "string",
    }
}

/// The number that a value of a kind of numbers is.
pub(crate) fn as_number(kind: ValueKind, bytes: &[u8]) -> Option<i64> {
    if kind.is_number() { bytes.try_into().ok().map(i64::from_le_bytes) } else { None }
}

/// A value as a string: bytes as they are, a number as its digits. [`Failure::WRONG_TYPE`] where it is
/// neither.
pub(crate) fn as_string(meta: Meta, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Failure> {
    match as_number(meta.kind, bytes) {
        Some(number) => Ok(Cow::Owned(digits(number).as_ref().to_vec())),
        None if is_string(meta.kind) => Ok(Cow::Borrowed(bytes)),
        None => Err(Failure::WRONG_TYPE),
    }
}

/// Whether values of a kind are strings to a client.
pub(crate) fn is_string(kind: ValueKind) -> bool {
    type_name(kind) == "string"
}
