//! What is checked before a block, or an entry in one, is read.

use super::entry::{EntryKind, Head};
use super::header::LogHeader;
use crate::fault;
use hammerspace_bytes::vlq::{self, Malformed};
use hammerspace_error::Result;
use std::ops::Range;

/// Where the packed bytes of the block at `offset` lie in `data`, the log up to where the caller may look.
pub(crate) fn packed(data: &[u8], offset: usize) -> Result<Range<usize>> {
    let block = data.get(offset..).filter(|_| offset >= LogHeader::SIZE);
    let Some((len, len_len)) = block.and_then(|block| vlq::read(block).ok()) else {
        return Err(fault::log(offset, "no block starts here"));
    };
    let (start, left) = (offset + len_len, data.len() - offset - len_len);
    match usize::try_from(len) {
        Ok(len) if len <= left => Ok(start..start + len),
        _ => Err(fault::log(offset, format!("a block of {len} bytes starts here, {left} are left"))),
    }
}

/// The head at the start of `rest`, what is left of the decoded block at `offset`. `continued` says that no entry has
/// started in this block, and one from an earlier block has ended.
pub(crate) fn head(rest: &[u8], continued: bool, header: &LogHeader, offset: usize) -> Result<Head> {
    let broken = |finding: &str| fault::log(offset, finding);
    if continued {
        return Err(broken("the block holds more than the end of the entry that it continues"));
    }
    let head = Head::parse(rest).map_err(|malformed| match malformed {
        Malformed::Truncated => broken("the block ends within an entry's lengths"),
        Malformed::TooLong => broken("an entry's length is no VLQ of 64 bits"),
    })?;
    // Longer than anything the header knows of: refused before blocks are decoded in search of its end.
    if !header.admits(head) {
        let finding = format!(
            "a {:?} claims key and value of {} and {} bytes, more than any the header counts",
            head.kind, head.key_len, head.value_len
        );
        return Err(broken(&finding));
    }
    Ok(head)
}

/// Over the puts before entry number `index` of a block of `len` bytes, of which these are `made`: from a place in it and
/// the number of the entry there, as far as nothing asks for a closer look. Gives the place and number it came to.
#[inline]
pub(crate) fn skip_plain_puts(
    made: &[u8],
    len: usize,
    header: &LogHeader,
    (mut at, mut here): (usize, u32),
    index: u32,
) -> (usize, u32) {
    while here < index {
        let Some(Ok(head)) = made.get(at..).map(Head::parse) else { break };
        let end = (at as u64).saturating_add(head.entry_len());
        let is_plain = head.kind == EntryKind::Put && end < len as u64;
        if !is_plain || head.key_len > header.max_key_len || head.value_len > header.max_value_len {
            break;
        }
        (at, here) = (end as usize, here + 1);
    }
    (at, here)
}
