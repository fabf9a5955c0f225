//! `.json`: what `serde_json` reads, and the same when it is written again.

use std::fmt;

use hammerspace_error::Result;
use hammerspace_load::{Format, Options, Sink, json};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::catalogue::{Pairs, Reader, pairs};
use crate::document::{UNFOLDING, flat, print_json};
use crate::i18n;

/// Checks the readers on `data`.
pub fn check(data: &[u8]) {
    check_reader(&read, data);
    i18n::check(Format::Json, data);
}

pub(crate) fn read(bytes: &[u8], _options: &Options, sink: &mut Sink) -> Result<()> {
    json::read(bytes, sink)
}

pub(crate) fn check_reader(read: &Reader, data: &[u8]) {
    let read_first = pairs(read, data, UNFOLDING);
    assert_eq!(read_first, Plain::pairs(data), "what serde_json reads");
    let Some(read_first) = read_first else { return };
    assert_eq!(pairs(read, &print_json(&read_first), 1), Some(flat(&read_first)), "printed and read again");
}

/// What editors on Windows put before UTF-8.
const BOM: &str = "\u{feff}";

/// A document taken apart one level at a time, by a parser that shares no code with ours.
#[derive(Default)]
struct Plain {
    pairs: Pairs,
    /// What is paid for: each value, each name, and the key and text of each leaf.
    unfolded: usize,
}

impl Plain {
    /// All pairs of what is JSON, no deeper than allowed, and no more than allowed.
    fn pairs(data: &[u8]) -> Option<Pairs> {
        let without_bom = |data| <[u8]>::strip_prefix(data, BOM.as_bytes()).unwrap_or(data);
        let data = without_bom(data);
        let mut plain = Self::default();
        // Our parser takes a second one away.
        plain.value(serde_json::from_slice(without_bom(data)).ok()?, "", 0)?;
        (plain.unfolded <= UNFOLDING * data.len()).then_some(plain.pairs)
    }

    fn value(&mut self, value: &RawValue, key: &str, depth: usize) -> Option<()> {
        let text = value.get();
        let below = |name: &str| if depth == 0 { name.to_string() } else { format!("{key}.{name}") };
        self.unfolded += 1;
        match text.as_bytes().first()? {
            b'{' | b'[' if depth == json::DEPTH_MAX => return None,
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                // Of a repeated name the last value counts, at the place of the first.
                let mut read: Vec<(String, Self)> = Vec::new();
                for (name, value) in members {
                    let mut member = Self::default();
                    member.value(value, &below(&name), depth + 1)?;
                    match read.iter_mut().find(|(before, _)| *before == name) {
                        Some((_, before)) => *before = member,
                        None => read.push((name, member)),
                    }
                }
                for (name, member) in read {
                    self.unfolded += name.len() + member.unfolded;
                    self.pairs.extend(member.pairs);
                }
            }
            b'[' => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let mut elements = elements.into_iter().enumerate();
                elements.try_for_each(|(index, value)| self.value(value, &below(&index.to_string()), depth + 1))?;
            }
            _ if depth == 0 => return None,
            b'n' => {}
            b'"' => self.leaf(key, &serde_json::from_str::<String>(text).ok()?),
            _ => self.leaf(key, text),
        }
        Some(())
    }

    fn leaf(&mut self, key: &str, value: &str) {
        self.unfolded += key.len() + value.len();
        self.pairs.push((key.into(), value.into()));
    }
}

/// All members of an object, also where two have the same name.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(All)
    }
}

struct All;

impl<'de> Visitor<'de> for All {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
