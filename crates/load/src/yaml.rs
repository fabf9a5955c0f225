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
//! and `<<` merges mappings that way: what a mapping says itself goes before what it merges, wherever it says so. Refused is
//! what is no text: other tags than those of YAML's core schema, and names that are no scalars.
//!
//! What always holds, and what a hostile file runs into:
//! 1. No tree is higher than [`DEPTH_MAX`], through aliases either (`tree.rs`).
//! 2. Each node that is visited is paid for, and so is the memory of each pair that is merged. Aliases of aliases (the "billion
//!    laughs") can double what a file stands for with every line; the budget ends that.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use hammerspace_error::{Error, Kind, Result};
use indexmap::IndexMap;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::budget::Budget;
use crate::path::{Path, too_deep};
use crate::tree::{Node, Pair, Scalar, Tree, walk};
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
            let (event, span) =
                event.map_err(|error| wrong(*error.marker(), error.info()).remedy("correct the YAML there"))?;
            self.take(event, span.start, budget)?;
        }
        self.root.ok_or_else(|| {
            Error::new(Kind::Corrupt, "there is nothing in it").remedy("leave it out, or write `{}` for no pairs")
        })
    }

    fn take(&mut self, event: Event<'a>, at: Marker, budget: &mut Budget) -> Result<()> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(wrong(at, "a second document begins").remedy("give each document a file of its own"))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
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
            Event::SequenceStart(anchor, tag) => {
                let kind = Collection::List(Vec::new());
                self.begin(anchor, kind, tag.as_deref(), at)
            }
            Event::MappingStart(anchor, tag) => {
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
        if let Some(tag) = tag.filter(|tag| !is_core(tag, &["map", "seq"])) {
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

/// `<<`, but not in quotes.
fn is_merge((name, _value): &Pair) -> bool {
    name.is_plain && name.text == "<<"
}

/// The pairs of a mapping with those that it merges, in the file's order. Of several that it merges the first goes before.
fn merge<'a>(pairs: &[Pair<'a>], at: Marker, budget: &mut Budget) -> Result<Vec<Pair<'a>>> {
    let mut all: IndexMap<&str, &Pair> = IndexMap::new();
    for pair in pairs {
        if !is_merge(pair) {
            all.insert(&pair.0.text, pair);
            continue;
        }
        for theirs in merged(&pair.1, at)? {
            budget.spend(1)?;
            // Of a name that occurs twice in there, the last one counts.
            let theirs: IndexMap<&str, &Pair> = theirs.iter().map(|pair| (&*pair.0.text, pair)).collect();
            for (name, pair) in theirs {
                budget.spend(name.len() + size_of::<Pair>())?;
                all.entry(name).or_insert(pair);
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
    match tag {
        None => Ok(Scalar { text, is_plain: style == ScalarStyle::Plain }),
        Some(tag) if is_core(tag, &["null"]) => Ok(Scalar { text: Cow::Borrowed("~"), is_plain: true }),
        Some(tag) if is_core(tag, &["int", "float", "bool"]) => Ok(Scalar { text, is_plain: true }),
        Some(tag) if is_core(tag, &["str"]) => Ok(Scalar { text, is_plain: false }),
        Some(tag) => Err(foreign(tag, at)),
    }
}

fn leaf(scalar: Scalar) -> Node {
    let is_null = scalar.is_plain && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL");
    if is_null { Node::Null } else { Node::Scalar(scalar) }
}

fn is_core(tag: &Tag, names: &[&str]) -> bool {
    tag.is_yaml_core_schema() && names.contains(&tag.suffix.as_str())
}

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
