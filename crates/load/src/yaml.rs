//! One YAML document: nested mappings as dotted keys, as [`json`](crate::json) has them.
//!
//! ```text
//! de:
//!   apples: {one: ein Apfel, other: "%{count} Äpfel"}     de.apples.one = ein Apfel    de.apples.other = %{count} Äpfel
//!   order: [:day, 1.50, no, ~]                            de.order.0 = :day   de.order.1 = 1.50   de.order.2 = no
//! ```
//!
//! Scalars give their text, numbers and booleans as the file has them, so that `no` stays Norway; a plain `~`, `null` or
//! nothing at all gives nothing. Names are the text that they have in the file. Aliases give once more what they stand for,
//! and `<<` merges mappings that way: what a mapping says itself goes before what it merges, wherever it says so; the last of
//! several `<<` goes before the others, but the first mapping of a list. A tag counts by what it resolves to: those of YAML's
//! core schema and Ruby's symbols are known, and the non-specific `!` changes nothing. Other tags are refused, and so are names
//! that are no scalars.
//!
//! The parser takes what libyaml takes, on which Psych and PyYAML stand, also where the specification is stricter: quoted
//! text and closing brackets that are dedented, tabs behind a colon.
//!
//! What always holds, and what a hostile file runs into:
//! 1. No tree is higher than [`DEPTH_MAX`], through aliases either (`tree.rs`).
//! 2. Each node that is visited is paid for, and so is the memory of each pair that is merged. Aliases of aliases (the "billion
//!    laughs") can double what a file stands for with every line; the budget ends that.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use granit_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use hammerspace_error::{Error, Kind, Result};
use indexmap::IndexMap;

use crate::budget::Budget;
use crate::path::{Path, too_deep};
use crate::tree::{Node, Pair, Scalar, Style, Tree, walk};
use crate::{Sink, without_bom};

pub use crate::path::DEPTH_MAX;

/// Bytes out for each byte in, as for JSON.
const UNFOLDING: usize = 100;

/// Reads a YAML document and hands every leaf to `sink`.
pub fn read(bytes: &[u8], sink: &mut Sink) -> Result<()> {
    let (root, mut budget) = tree(bytes)?;
    walk(&root, &mut Path::default(), &mut budget, sink)
}

/// A document as a tree, and what is left to spend on it.
pub(crate) fn tree(bytes: &[u8]) -> Result<(Rc<Tree<'_>>, Budget)> {
    let text = text(without_bom(bytes))?;
    let mut budget = Budget::new(text.len(), UNFOLDING);
    let root = Builder::default().document(text, &mut budget)?;
    Ok((root, budget))
}

/// Makes a tree of a document, event by event.
#[derive(Default)]
struct Builder<'a> {
    open: Vec<Open<'a>>,
    /// What anchors stand for, by the parser's number for them: those that have ended.
    anchors: HashMap<usize, Rc<Tree<'a>>>,
    root: Option<Rc<Tree<'a>>>,
}

/// A collection that has begun.
struct Open<'a> {
    anchor: usize,
    kind: Collection<'a>,
}

enum Collection<'a> {
    List(Vec<Rc<Tree<'a>>>),
    /// The name is what the next value is for.
    Map {
        pairs: Vec<Pair<'a>>,
        name: Option<Scalar<'a>>,
    },
}

impl<'a> Builder<'a> {
    fn document(mut self, text: &'a str, budget: &mut Budget) -> Result<Rc<Tree<'a>>> {
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (mut event, span) =
                event.map_err(|error| wrong(*error.marker(), &error.info()).remedy("correct the YAML there"))?;
            if span.byte_range().is_some_and(|range| range.end == text.len()) && !text.ends_with('\n') {
                drop_added_break(&mut event);
            }
            self.take(event, span.start, budget)?;
        }
        self.root.ok_or_else(|| {
            Error::new(Kind::Corrupt, "there is nothing in it").remedy("leave it out, or write `{}` for no pairs")
        })
    }

    fn take(&mut self, event: Event<'a>, at: Marker, budget: &mut Budget) -> Result<()> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(wrong(at, "a second document begins").remedy("give each document a file of its own"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = scalar(text, style, tag.as_deref(), at)?;
                self.scalar(scalar, anchor, at)
            }
            Event::Alias(anchor) => {
                self.no_name(at)?;
                let tree = self.anchors.get(&anchor).cloned().ok_or_else(|| {
                    wrong(at, "an alias of what it is itself a part of").remedy("write out what it is to stand for")
                })?;
                self.value(tree, at)
            }
            Event::SequenceStart(_, anchor, tag) => {
                let kind = Collection::List(Vec::new());
                self.begin(anchor, kind, tag.as_deref(), at)
            }
            Event::MappingStart(_, anchor, tag) => {
                let kind = Collection::Map { pairs: Vec::new(), name: None };
                self.begin(anchor, kind, tag.as_deref(), at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                // The parser ends what it has begun.
                let Some(Open { anchor, kind }) = self.open.pop() else { return Ok(()) };
                let node = match kind {
                    Collection::List(elements) => Node::List(elements),
                    Collection::Map { pairs, .. } if pairs.iter().any(is_merge) => {
                        Node::Map(merge(&pairs, at, budget)?)
                    }
                    Collection::Map { pairs, .. } => Node::Map(pairs),
                };
                self.end(node, anchor, at)
            }
            // Where the stream and its document begin and end.
            _ => Ok(()),
        }
    }

    /// A scalar is a name where a mapping waits for one, and a value elsewhere.
    fn scalar(&mut self, scalar: Scalar<'a>, anchor: usize, at: Marker) -> Result<()> {
        let Some(Open { kind: Collection::Map { name: name @ None, .. }, .. }) = self.open.last_mut() else {
            return self.end(leaf(scalar), anchor, at);
        };
        *name = Some(scalar.clone());
        if anchor != 0 {
            self.anchors.insert(anchor, Tree::new(leaf(scalar))?);
        }
        Ok(())
    }

    fn begin(&mut self, anchor: usize, kind: Collection<'a>, tag: Option<&Tag>, at: Marker) -> Result<()> {
        self.no_name(at)?;
        if let Some(tag) = tag.filter(|tag| !matches!(&*resolved(tag), NON_SPECIFIC | MAP | SEQ)) {
            return Err(foreign(tag, at));
        }
        if self.open.len() == DEPTH_MAX {
            return Err(too_deep());
        }
        self.open.push(Open { anchor, kind });
        Ok(())
    }

    fn end(&mut self, node: Node<'a>, anchor: usize, at: Marker) -> Result<()> {
        let tree = Tree::new(node)?;
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&tree));
        }
        self.value(tree, at)
    }

    /// Puts a value where it belongs.
    fn value(&mut self, tree: Rc<Tree<'a>>, at: Marker) -> Result<()> {
        let Some(Open { kind, .. }) = self.open.last_mut() else {
            self.root = Some(tree);
            return Ok(());
        };
        match kind {
            Collection::List(elements) => elements.push(tree),
            Collection::Map { pairs, name } => pairs.push((name.take().ok_or_else(|| no_text(at))?, tree)),
        }
        Ok(())
    }

    /// Refuses what begins here if it would be a name.
    fn no_name(&self, at: Marker) -> Result<()> {
        match self.open.last() {
            Some(Open { kind: Collection::Map { name: None, .. }, .. }) => Err(no_text(at)),
            _ => Ok(()),
        }
    }
}

/// The parser ends a block with a line break also where the file has none at its end, unlike libyaml.
fn drop_added_break(event: &mut Event) {
    if let Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..) = event
        && let Some(shorter) = text.strip_suffix('\n')
    {
        *text = Cow::Owned(shorter.into());
    }
}

/// `<<`, but not in quotes.
fn is_merge((name, _value): &Pair) -> bool {
    name.style == Style::Plain && name.text == "<<"
}

/// The pairs of a mapping with those that it merges, in the file's order.
fn merge<'a>(pairs: &[Pair<'a>], at: Marker, budget: &mut Budget) -> Result<Vec<Pair<'a>>> {
    let own: HashSet<&str> = pairs.iter().filter(|pair| !is_merge(pair)).map(|(name, _)| &*name.text).collect();
    let mut all: IndexMap<&str, &Pair> = IndexMap::new();
    for pair in pairs {
        if !is_merge(pair) {
            all.insert(&pair.0.text, pair);
            continue;
        }
        // The last to be inserted counts, so the first mapping of a list comes last.
        for theirs in merged(&pair.1, at)?.into_iter().rev() {
            budget.spend(1)?;
            for pair in theirs {
                let name = &*pair.0.text;
                budget.spend(name.len() + size_of::<Pair>())?;
                if own.contains(name) {
                    all.entry(name).or_insert(pair);
                } else {
                    all.insert(name, pair);
                }
            }
        }
    }
    Ok(all.into_values().cloned().collect())
}

/// The pairs of each mapping that is merged: of one, or of each in a list.
fn merged<'t, 'a>(tree: &'t Rc<Tree<'a>>, at: Marker) -> Result<Vec<&'t [Pair<'a>]>> {
    let sources = match &tree.node {
        Node::List(elements) => elements.as_slice(),
        _ => std::slice::from_ref(tree),
    };
    let pairs = |source: &'t Rc<Tree<'a>>| match &source.node {
        Node::Map(pairs) => Ok(pairs.as_slice()),
        _ => Err(wrong(at, "`<<` in this mapping merges what is no mapping")
            .remedy("let it be an alias of a mapping, or a list of such")),
    };
    sources.iter().map(pairs).collect()
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, at: Marker) -> Result<Scalar<'a>> {
    let tag = tag.filter(|tag| resolved(tag) != NON_SPECIFIC);
    let resolved = tag.map(resolved);
    let (text, style) = match (resolved.as_deref(), tag) {
        (None, _) if style == ScalarStyle::Plain => (text, Style::Plain),
        (None | Some(STR), _) => (text, Style::Text),
        (Some(BOOL), _) => (text, Style::Plain),
        (Some(INT | FLOAT), _) => (text, Style::Number),
        (Some("!ruby/symbol" | "!ruby/sym"), _) => (text, Style::Symbol),
        (Some(NULL), _) => (Cow::Borrowed("~"), Style::Plain),
        (_, Some(tag)) => return Err(foreign(tag, at)),
        (Some(_), None) => unreachable!("it is the tag that is resolved"),
    };
    Ok(Scalar { text, style })
}

fn leaf(scalar: Scalar) -> Node {
    let is_null = scalar.style == Style::Plain && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL");
    if is_null { Node::Null } else { Node::Scalar(scalar) }
}

/// The tag in full, whatever handle the document has for it.
fn resolved(tag: &Tag) -> String {
    [tag.handle(), tag.suffix()].concat()
}

/// The tag that says nothing. The specification makes text of plain scalars that have it; libyaml's users do not.
const NON_SPECIFIC: &str = "!";
/// Those of the core schema.
const MAP: &str = "tag:yaml.org,2002:map";
const SEQ: &str = "tag:yaml.org,2002:seq";
const STR: &str = "tag:yaml.org,2002:str";
const NULL: &str = "tag:yaml.org,2002:null";
const BOOL: &str = "tag:yaml.org,2002:bool";
const INT: &str = "tag:yaml.org,2002:int";
const FLOAT: &str = "tag:yaml.org,2002:float";

/// The parser takes a NUL for the end.
fn text(bytes: &[u8]) -> Result<&str> {
    let (at, what) = match (str::from_utf8(bytes), bytes.iter().position(|&byte| byte == 0)) {
        (Ok(text), None) => return Ok(text),
        (_, Some(at)) => (at, "a NUL byte"),
        (Err(error), None) => (error.valid_up_to(), "bytes that are no UTF-8"),
    };
    let line = bytes[..at].split(|&byte| byte == b'\n').count();
    Err(Error::new(Kind::Corrupt, format!("line {line}: {what}")).remedy("save the file as UTF-8"))
}

#[cold]
fn wrong(at: Marker, finding: &str) -> Error {
    Error::new(Kind::Corrupt, format!("line {}, column {}: {finding}", at.line(), at.col() + 1))
}

#[cold]
fn no_text(at: Marker) -> Error {
    wrong(at, "a name that is no plain or quoted text").remedy("write out a name that is text")
}

#[cold]
fn foreign(tag: &Tag, at: Marker) -> Error {
    wrong(at, &format!("a value tagged `{tag}`, which is no text")).remedy("write it as text, or leave it out")
}

#[cfg(test)]
mod tests;
