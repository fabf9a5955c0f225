//! Nested documents as pairs, written in the plainest way.

use std::fmt::Write;

use crate::catalogue::Pairs;

/// Bytes out for each byte in, as the readers have it.
pub(crate) const UNFOLDING: usize = 100;

/// What a flat object says of the pairs: the last value of each key, at the place of the first.
pub(crate) fn flat(pairs: &Pairs) -> Pairs {
    let mut flat = Pairs::new();
    for (key, value) in pairs {
        match flat.iter_mut().find(|(before, _)| before == key) {
            Some((_, before)) => before.clone_from(value),
            None => flat.push((key.clone(), value.clone())),
        }
    }
    flat
}

/// An object of no depth, in ASCII.
pub(crate) fn print_json(pairs: &Pairs) -> Vec<u8> {
    let members = pairs.iter().map(|(key, value)| format!("{}: {}", json_text(key), json_text(value)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(",\n")).into_bytes()
}

/// The same in YAML, whose names may be of any length behind a `?`.
pub(crate) fn print_yaml(pairs: &Pairs) -> Vec<u8> {
    let lines = pairs.iter().map(|(key, value)| format!("? {}\n: {}\n", yaml_text(key), yaml_text(value)));
    if pairs.is_empty() { b"{}".to_vec() } else { lines.collect::<String>().into_bytes() }
}

fn json_text(bytes: &[u8]) -> String {
    text(bytes, |quoted, letter| {
        letter.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(quoted, "\\u{unit:04x}"))
    })
}

fn yaml_text(bytes: &[u8]) -> String {
    text(bytes, |quoted, letter| write!(quoted, "\\U{:08x}", u32::from(letter)))
}

/// In double quotes, with all escaped that is no letter, digit or dot.
fn text(bytes: &[u8], escape: impl Fn(&mut String, char) -> std::fmt::Result) -> String {
    let mut quoted = String::from('"');
    for letter in str::from_utf8(bytes).expect("checked when it was read").chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' => quoted.push(letter),
            _ => escape(&mut quoted, letter).expect("a String takes all that is written"),
        }
    }
    quoted.push('"');
    quoted
}
