//! One JSON object per line: `{"key": …, "value": …}`.
//!
//! Members may stand in any order, others are ignored, blank lines are skipped. A nested value is read as in
//! [`json`], below the line's key; a `null` gives nothing. Bytes that are no text stand as `key_base64` and
//! `value_base64` (RFC 4648, padded): so everything that a space can hold can be written in lines and read back.

use crate::path::Path;
use crate::tree::{Node, Tree, members, verbatim, walk};
use crate::{Sink, json, unreadable};
use data_encoding::BASE64;
use hammerspace_error::{Error, Kind, Result};
use std::io::BufRead;

/// Reads lines until the end of `input`, one in memory at a time, and hands every pair to `sink`.
pub fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
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

fn pair(line: &[u8], number: u64, sink: &mut Sink) -> Result<()> {
    let (object, mut budget) = json::tree(line, number)?;
    let members = match &object.node {
        Node::Map(pairs) => members(pairs, verbatim),
        _ => return Err(missing("key", number)),
    };
    let (mut key, mut values) = (None, Vec::new());
    for (name, (_, value)) in members {
        match &*name {
            "key" => key = text(value).map(<[u8]>::to_vec),
            "key_base64" => key = text(value).map(|text| decode(text, number)).transpose()?,
            "value" | "value_base64" => values.push((name, value)),
            _ => {}
        }
    }
    let key = key.ok_or_else(|| missing("key", number))?;
    if values.is_empty() {
        return Err(missing("value", number));
    }
    values.into_iter().try_for_each(|(name, value)| match (text(value), &*name) {
        (Some(base64), "value_base64") => sink(&key, &decode(base64, number)?),
        (None, "value_base64") if !matches!(value.node, Node::Null) => Err(missing("value", number)),
        _ => walk(value, &mut Path::below(&key), &mut budget, sink),
    })
}

fn text<'t>(tree: &'t Tree) -> Option<&'t [u8]> {
    if let Node::Scalar(scalar) = &tree.node { Some(scalar.text.as_bytes()) } else { None }
}

fn decode(base64: &[u8], line: u64) -> Result<Vec<u8>> {
    BASE64.decode(base64).map_err(|wrong| {
        Error::new(Kind::Corrupt, format!("line {line} has a base64 member that is not base64: {wrong}"))
            .remedy("encode it with the alphabet A-Z a-z 0-9 + / and padding")
    })
}

#[cold]
fn missing(member: &str, line: u64) -> Error {
    Error::new(Kind::Corrupt, format!("line {line} has no `{member}`"))
        .remedy("write each line as {\"key\": \"…\", \"value\": \"…\"}")
}
