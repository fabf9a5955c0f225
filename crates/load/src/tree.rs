//! A document as a tree: what JSON and YAML have in common.
//!
//! What always holds:
//! 1. No tree is higher than [`DEPTH_MAX`], so that to walk one and to drop one needs little stack.
//! 2. A walk pays for each node it visits, because aliases let a few bytes stand for many nodes.
//! 3. If a mapping repeats a name, the last value counts, as in Psych and in Python's `json`.

use std::borrow::Cow;
use std::rc::Rc;

use hammerspace_error::Result;
use indexmap::IndexMap;

use crate::Sink;
use crate::budget::Budget;
use crate::path::{DEPTH_MAX, Path, too_deep};

/// A value and all below it, shared by all who name it.
pub(crate) struct Tree<'a> {
    pub(crate) node: Node<'a>,
    /// How many collections lie within each other here.
    height: usize,
}

pub(crate) enum Node<'a> {
    Null,
    Scalar(Scalar<'a>),
    List(Vec<Rc<Tree<'a>>>),
    Map(Vec<Pair<'a>>),
}

/// The text of a leaf or of a name, as the document has it.
#[derive(Clone)]
pub(crate) struct Scalar<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) style: Style,
}

/// What the document says about a scalar beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text, because it is quoted or tagged so.
    Text,
    /// Nothing: it may be text, a number, a truth value, a symbol.
    Plain,
    /// A number, if its text is one: JSON's, or tagged so.
    Number,
    /// A symbol, because it is tagged so.
    Symbol,
}

pub(crate) type Pair<'a> = (Scalar<'a>, Rc<Tree<'a>>);

impl<'a> Tree<'a> {
    pub(crate) fn new(node: Node<'a>) -> Result<Rc<Self>> {
        let height = match &node {
            Node::Null | Node::Scalar(_) => 0,
            Node::List(elements) => 1 + highest(elements.iter()),
            Node::Map(pairs) => 1 + highest(pairs.iter().map(|(_, value)| value)),
        };
        if height > DEPTH_MAX { Err(too_deep()) } else { Ok(Rc::new(Self { node, height })) }
    }
}

/// The members of a mapping by their names as `write` has them: the last value of a repeated name, at the place of the first.
pub(crate) fn members<'t>(
    pairs: &'t [Pair],
    write: fn(&'t Scalar) -> Cow<'t, str>,
) -> IndexMap<Cow<'t, str>, &'t Pair<'t>> {
    pairs.iter().map(|pair| (write(&pair.0), pair)).collect()
}

/// A name as the document has it.
pub(crate) fn verbatim<'t>(name: &'t Scalar) -> Cow<'t, str> {
    Cow::Borrowed(&name.text)
}

/// Hands every leaf of `tree` to `sink`, under its dotted key below `path`.
pub(crate) fn walk(tree: &Tree, path: &mut Path, budget: &mut Budget, sink: &mut Sink) -> Result<()> {
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
            for (name, (_, value)) in members(pairs, verbatim) {
                budget.spend(name.len())?;
                path.name(&name);
                walk(value, path, budget, sink)?;
            }
            path.close();
            Ok(())
        }
    }
}

fn highest<'t, 'a: 't>(trees: impl Iterator<Item = &'t Rc<Tree<'a>>>) -> usize {
    trees.map(|tree| tree.height).max().unwrap_or(0)
}
