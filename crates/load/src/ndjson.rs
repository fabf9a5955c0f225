//! One JSON object per line: `{"key": …, "value": …}`.
//!
//! Members may stand in any order, others are ignored, blank lines are skipped. A nested value is read as in
//! [`json`], below the line's key; a `null` gives nothing. Bytes that are no text stand as `key_base64` and
//! `value_base64` (RFC 4648, padded): so everything that a space can hold can be written in lines and read back.

use crate::{READING, Sink, json};
use data_encoding::BASE64;
use hammerspace_error::{Doing, Error, Kind, Result};
use std::io::BufRead;

/// Reads lines until the end of `input`, one in memory at a time, and hands every pair to `sink`.
pub fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line).doing(READING)? == 0 {
            break;
        }
        // Without the line break, or an error at the end of the line would be called one of the next.
        let line = line.trim_ascii();
        if !line.is_empty() {
            pair(line, number, sink)?;
        }
    }
    Ok(())
}

/// Walks the line twice, as the value may stand before its key and is not ours to copy.
fn pair(line: &[u8], number: u64, sink: &mut Sink) -> Result<()> {
    let (mut key, mut has_value) = (None, false);
    json::leaves(line, number, &mut |path, leaf| {
        match path {
            b"key" => key = leaf.map(<[u8]>::to_vec),
            b"key_base64" => key = leaf.map(|leaf| decode(leaf, number)).transpose()?,
            _ => has_value |= path == b"value_base64" || below_value(path).is_some(),
        }
        Ok(())
    })?;
    let mut key = key.ok_or_else(|| missing("key", number))?;
    if !has_value {
        return Err(missing("value", number));
    }
    let key_len = key.len();
    json::leaves(line, number, &mut |path, leaf| {
        let Some(value) = leaf else { return Ok(()) };
        key.truncate(key_len);
        if path == b"value_base64" {
            return sink(&key, &decode(value, number)?);
        }
        let Some(below) = below_value(path) else { return Ok(()) };
        key.extend_from_slice(below);
        sink(&key, value)
    })
}

fn decode(base64: &[u8], line: u64) -> Result<Vec<u8>> {
    BASE64.decode(base64).map_err(|wrong| {
        Error::new(Kind::Corrupt, format!("line {line} has a base64 member that is not base64: {wrong}"))
            .remedy("encode it with the alphabet A-Z a-z 0-9 + / and padding")
    })
}

/// What a leaf of the value adds to the line's key: nothing, or `.` and its path.
fn below_value(path: &[u8]) -> Option<&[u8]> {
    path.strip_prefix(b"value").filter(|below| below.is_empty() || below.starts_with(b"."))
}

#[cold]
fn missing(member: &str, line: u64) -> Error {
    Error::new(Kind::Corrupt, format!("line {line} has no `{member}`"))
        .remedy("write each line as {\"key\": \"…\", \"value\": \"…\"}")
}
