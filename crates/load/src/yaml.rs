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
//! and `<<` merges mappings that way: what a mapping says itself goes before what it merges. Refused is what is no text: other
//! tags than those of YAML's core schema, and names that are no scalars.
//!
//! What always holds, and what a hostile file runs into:
//! 1. No tree is higher than [`DEPTH_MAX`], through aliases either (`tree.rs`).
//! 2. Each node that is visited and each pair that is merged is paid for. Aliases of aliases (the "billion laughs") can double
//!    what a file stands for with every line; the budget ends that.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hammerspace_error::{Error, Kind, Result};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::budget::Budget;
use crate::path::{Path, too_deep};
use crate::tree::{Node, Pair, Scalar, Tree};
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

fn walk(tree: &Tree, path: &mut Path, budget: &mut Budget, sink: &mut Sink) -> Result<()> {
    budget.spend(1)?;
    match &tree.node {
        Node::Null => path.leaf().map(|_key| ()),
        Node::Scalar(Scalar { text, .. }) => {
            let key = path.leaf()?;
            budget.spend(key.len() + text.len())?;
            sink(key, text.as_bytes())
        }
        Node::List(elements) => {
            path.open(true)?;
            elements.iter().try_for_each(|element| walk(element, path, budget, sink))?;
            path.close();
            Ok(())
        }
        Node::Map(pairs) => {
            path.open(false)?;
            for (name, value) in pairs {
                budget.spend(name.len())?;
                path.name(name);
                walk(value, path, budget, sink)?;
            }
            path.close();
            Ok(())
        }
    }
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
    Map { pairs: Vec<Pair<'a>>, merged: Vec<Rc<Tree<'a>>>, name: Option<Name<'a>> },
}

/// What the next value of a mapping is for.
enum Name<'a> {
    Text(Cow<'a, str>),
    /// `<<`
    Merge,
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
                let node = scalar(text, style, tag.as_deref(), at)?;
                self.scalar(node, style, anchor, at)
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
                let kind = Collection::Map { pairs: Vec::new(), merged: Vec::new(), name: None };
                self.begin(anchor, kind, tag.as_deref(), at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                // The parser ends what it has begun.
                let Some(Open { anchor, kind }) = self.open.pop() else { return Ok(()) };
                let node = match kind {
                    Collection::List(elements) => Node::List(elements),
                    Collection::Map { pairs, merged, .. } => Node::Map(merge(pairs, &merged, at, budget)?),
                };
                self.end(node, anchor, at)
            }
        }
    }

    /// A scalar is a name where a mapping waits for one, and a value elsewhere.
    fn scalar(&mut self, node: Node<'a>, style: ScalarStyle, anchor: usize, at: Marker) -> Result<()> {
        let Some(Open { kind: Collection::Map { name: name @ None, .. }, .. }) = self.open.last_mut() else {
            return self.end(node, anchor, at);
        };
        let text = match node {
            Node::Scalar(Scalar { text, .. }) => text,
            _ => Cow::Borrowed("~"),
        };
        let is_plain = style == ScalarStyle::Plain;
        if anchor != 0 {
            let node = Node::Scalar(Scalar { text: text.clone(), is_plain });
            self.anchors.insert(anchor, Tree::new(node)?);
        }
        *name = Some(if is_plain && text == "<<" { Name::Merge } else { Name::Text(text) });
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
            Collection::Map { pairs, merged, name } => match name.take() {
                Some(Name::Text(name)) => pairs.push((name, tree)),
                Some(Name::Merge) => merged.push(tree),
                None => return Err(no_text(at)),
            },
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

/// The pairs of a mapping, after those that it merges and does not have itself. Of several that it merges the first goes before.
fn merge<'a>(pairs: Vec<Pair<'a>>, merged: &[Rc<Tree<'a>>], at: Marker, budget: &mut Budget) -> Result<Vec<Pair<'a>>> {
    if merged.is_empty() {
        return Ok(pairs);
    }
    let mut known: HashSet<Cow<'a, str>> = pairs.iter().map(|(name, _)| name.clone()).collect();
    let mut all = Vec::new();
    for tree in merged {
        let sources = match &tree.node {
            Node::List(elements) => elements.as_slice(),
            _ => std::slice::from_ref(tree),
        };
        for source in sources {
            budget.spend(1)?;
            let Node::Map(theirs) = &source.node else {
                return Err(wrong(at, "`<<` in this mapping merges what is no mapping")
                    .remedy("let it be an alias of a mapping, or a list of such"));
            };
            let before = all.len();
            // Of a name that occurs twice in there, the last one counts.
            for (name, value) in theirs.iter().rev() {
                budget.spend(name.len() + 1)?;
                if known.insert(name.clone()) {
                    all.push((name.clone(), Rc::clone(value)));
                }
            }
            all[before..].reverse();
        }
    }
    all.extend(pairs);
    Ok(all)
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, at: Marker) -> Result<Node<'a>> {
    let is_null = match tag {
        None => style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL"),
        Some(tag) if is_core(tag, &["str", "int", "float", "bool", "null"]) => tag.suffix == "null",
        Some(tag) => return Err(foreign(tag, at)),
    };
    let is_plain = tag.map_or(style == ScalarStyle::Plain, |tag| tag.suffix != "str");
    Ok(if is_null { Node::Null } else { Node::Scalar(Scalar { text, is_plain }) })
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
