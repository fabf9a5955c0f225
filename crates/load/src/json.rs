//! One JSON document: nested objects as dotted keys.
//!
//! ```text
//! {"fruit": {"apple": "Apfel", "more": ["x", 1.50, true, null]}}
//!     fruit.apple = Apfel    fruit.more.0 = x    fruit.more.1 = 1.50    fruit.more.2 = true
//! ```
//!
//! Names on the way to a leaf are joined by `.`; elements of an array are named 0, 1, 2 …. Strings give their text,
//! numbers and booleans the text they have in the file, `null` gives nothing. A name may itself hold a `.`; two ways to
//! the same key are a key that occurs twice. If an object repeats a name, its last value counts.
//!
//! The document is an object or an array, at most [`DEPTH_MAX`] deep, in UTF-8 (RFC 8259).

use std::borrow::Cow;
use std::rc::Rc;

use hammerspace_error::{Error, Kind, Result};
use json_event_parser::{JsonEvent, JsonSyntaxError, SliceJsonParser};

use crate::budget::Budget;
use crate::path::{Path, too_deep};
use crate::tree::{Node, Scalar, Style, Tree, walk};
use crate::{Sink, without_bom};

pub use crate::path::DEPTH_MAX;

/// Bytes out for each byte in. A leaf of ten bytes may well sit below a few hundred bytes of names.
const UNFOLDING: usize = 100;

/// Reads a JSON document and hands every leaf to `sink`.
pub fn read(bytes: &[u8], sink: &mut Sink) -> Result<()> {
    let (root, mut budget) = tree(bytes, 1)?;
    walk(&root, &mut Path::default(), &mut budget, sink)
}

/// A document as a tree, and what is left to spend on it. `first_line` is what errors call the document's first line.
pub(crate) fn tree(bytes: &[u8], first_line: u64) -> Result<(Rc<Tree<'_>>, Budget)> {
    let bytes = without_bom(bytes);
    let mut events = Events { parser: SliceJsonParser::new(bytes), first_line };
    let first = events.next()?;
    let root = events.value(first, 0)?;
    // Anything behind it is an error.
    events.next()?;
    Ok((root, Budget::new(bytes.len(), UNFOLDING)))
}

struct Events<'a> {
    parser: SliceJsonParser<'a>,
    first_line: u64,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<JsonEvent<'a>> {
        self.parser.parse_next().map_err(|error| malformed(&error, self.first_line))
    }

    /// The value that begins with `first`, below so many collections.
    fn value(&mut self, first: JsonEvent<'a>, depth: usize) -> Result<Rc<Tree<'a>>> {
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let scalar = |text, style| Node::Scalar(Scalar { text, style });
        Tree::new(match first {
            JsonEvent::String(text) => scalar(text, Style::Text),
            JsonEvent::Number(text) => scalar(text, Style::Number),
            JsonEvent::Boolean(value) => scalar(Cow::Borrowed(if value { "true" } else { "false" }), Style::Plain),
            JsonEvent::StartArray => {
                let mut elements = Vec::new();
                loop {
                    match self.next()? {
                        JsonEvent::EndArray => break Node::List(elements),
                        first => elements.push(self.value(first, depth + 1)?),
                    }
                }
            }
            JsonEvent::StartObject => {
                let mut pairs = Vec::new();
                while let JsonEvent::ObjectKey(name) = self.next()? {
                    let first = self.next()?;
                    pairs.push((Scalar { text: name, style: Style::Text }, self.value(first, depth + 1)?));
                }
                Node::Map(pairs)
            }
            // The parser tells the rest only where a collection or the document ends.
            _ => Node::Null,
        })
    }
}

#[cold]
fn malformed(error: &JsonSyntaxError, first_line: u64) -> Error {
    let at = error.location().start;
    let finding = format!("line {}, column {}: {}", first_line + at.line, at.column + 1, error.message());
    Error::new(Kind::Corrupt, finding).remedy("correct the JSON there")
}
