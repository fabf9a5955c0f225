//! Many keys or values in one array, so that they cross in one call.
//!
//! ```text
//! | length | bytes | length | bytes | …      length: 4 bytes, little-endian; -1 where there is none
//! ```

use crate::errors::{Result, invalid};

const NONE: u32 = u32::MAX;

/// Appends bytes, or that there are none.
pub(crate) fn push(packed: &mut Vec<u8>, bytes: Option<&[u8]>) {
    // What is longer is refused once all are packed, since no array has room for it.
    let len = bytes.map_or(NONE, |bytes| bytes.len() as u32);
    packed.extend_from_slice(&len.to_le_bytes());
    packed.extend_from_slice(bytes.unwrap_or_default());
}

/// The pieces of what Java packed.
pub(crate) fn pieces(mut packed: &[u8]) -> Result<Vec<Option<&[u8]>>> {
    let mut pieces = Vec::new();
    while let Some((len, rest)) = packed.split_first_chunk() {
        let len = u32::from_le_bytes(*len);
        let is_there = len != NONE;
        let taken = rest.split_at_checked(if is_there { len as usize } else { 0 });
        let (piece, rest) = taken.ok_or_else(|| invalid("packed keys end early", "report it"))?;
        pieces.push(is_there.then_some(piece));
        packed = rest;
    }
    Ok(pieces)
}
