//! A plain decoder of logs, after the format page. It shares no code with ours, and looks at nothing twice.
//!
//! It knows less: it joins the blocks of a compressed log before it looks for entries, so it cannot see where a block
//! breaks the rules. What it gives is right for every log that ours accepts.

use std::collections::BTreeMap;

/// Logs that decode to more are left to the clock and the memory limit.
const DECODED_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) is_put: bool,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// Whether the last one ends where the data does.
    pub(crate) complete: bool,
}

/// The entries of `log` before offset `end`; `None` if there is too much to look at.
pub(crate) fn entries(log: &[u8], end: u64) -> Option<Entries> {
    let data = &log[84..end as usize];
    let (stream, whole) = match number(log, 64, 4) {
        0 => (data.to_vec(), true),
        compression => decoded(data, compression, number(log, 68, 4))?,
    };
    let (mut entries, mut rest) = (Vec::new(), &stream[..]);
    while !rest.is_empty() {
        let Some(entry) = entry(&mut rest) else { return Some(Entries { entries, complete: false }) };
        entries.push(entry);
    }
    Some(Entries { entries, complete: whole })
}

/// The place in `entries` of every live key's put.
pub(crate) fn live(entries: &[Entry]) -> BTreeMap<&[u8], usize> {
    let mut live = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.is_put {
            live.insert(&entry.key[..], at);
        } else {
            live.remove(&entry.key[..]);
        }
    }
    live
}

/// The blocks' contents up to the first that is broken, and whether there was none.
fn decoded(mut data: &[u8], compression: u64, block_size: u64) -> Option<(Vec<u8>, bool)> {
    let mut stream = Vec::new();
    while !data.is_empty() {
        let Some(block) = vlq(&mut data).and_then(|len| take(&mut data, len)) else { return Some((stream, false)) };
        let decoded = match compression {
            1 if snap::raw::decompress_len(block).is_ok_and(|len| len > DECODED_MAX) => return None,
            1 => snap::raw::Decoder::new().decompress_vec(block).ok(),
            _ => unpacked(block),
        };
        match decoded {
            Some(block) if stream.len() + block.len() > DECODED_MAX => return None,
            Some(block) if !block.is_empty() && block.len() as u64 <= block_size => stream.extend(block),
            _ => return Some((stream, false)),
        }
    }
    Some((stream, true))
}

/// What a zstd frame decodes to, or as many zeros as are too much to look at.
///
/// At once, as every reader of logs decodes it: as a stream, the library refuses windows of more than 2 GiB.
fn unpacked(frame: &[u8]) -> Option<Vec<u8>> {
    match zstd::bulk::decompress(frame, DECODED_MAX) {
        Err(error) if error.to_string().starts_with(TOO_LONG) => Some(vec![0; DECODED_MAX + 1]),
        decoded => decoded.ok(),
    }
}

/// How the error begins of a frame that does not fit.
const TOO_LONG: &str = "Destination buffer is too small";

fn entry(rest: &mut &[u8]) -> Option<Entry> {
    let (first, second) = (vlq(rest)?, vlq(rest)?);
    let is_put = first > 0;
    let (key_len, value_len) = if is_put { (first - 1, second) } else { (second, 0) };
    Some(Entry { is_put, key: take(rest, key_len)?.to_vec(), value: take(rest, value_len)?.to_vec() })
}

fn vlq(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u128;
    for group in 0..10 {
        let byte = take(rest, 1)?[0];
        value |= u128::from(byte & 0x7f) << (7 * group);
        if byte < 0x80 {
            return value.try_into().ok();
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = left;
    Some(taken)
}

/// A little-endian field of a header that has been accepted.
fn number(bytes: &[u8], offset: usize, size: usize) -> u64 {
    bytes[offset..offset + size].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
