//! A document as a tree: what JSON and YAML have in common.
//!
//! What always holds: no tree is higher than [`DEPTH_MAX`], so that to walk one and to drop one needs little stack.

use std::borrow::Cow;
use std::rc::Rc;

use hammerspace_error::Result;

use crate::path::{DEPTH_MAX, too_deep};

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
    /// Neither in quotes nor said to be text, so that it may be a number or a truth value.
    pub(crate) is_plain: bool,
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

fn highest<'t, 'a: 't>(trees: impl Iterator<Item = &'t Rc<Tree<'a>>>) -> usize {
    trees.map(|tree| tree.height).max().unwrap_or(0)
}
