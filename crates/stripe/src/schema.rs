//! A schema: Parquet's message syntax, as a tree of nodes with their levels.
//!
//! ```text
//! message event {                          node       def rep   leaves
//!   required int64 ts;                     event        0   0   0..3
//!   repeated group imp {                   ├─ ts        0   0   0..1
//!     optional double cost;                └─ imp       1   1   1..3
//!     required binary tag (STRING);           ├─ cost   2   1   1..2
//!   }                                         └─ tag    1   1   2..3
//! }
//! ```
//! What always holds:
//! 1. A node stands behind its parent, and leaves are numbered in the order of the schema, as Parquet's columns are.
//! 2. `def` is the definition level of a value that is present at the node, `rep` the number of lists on the way to it.
//! 3. A group annotated as LIST or MAP is one node with one item, whichever of the layouts in use it has. Its item is one
//!    level deeper in both respects, so that an empty list, an absent list and a list of nulls stay three things.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::parser::parse_message_type;
use parquet::schema::printer::print_schema;
use parquet::schema::types::{ColumnDescPtr, SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use crate::leaf::Leaf;

/// Groups within groups. Real schemas have a dozen at most.
const DEPTH_MAX: usize = 64;

/// What records look like: Parquet's columns, and the tree that they are the leaves of.
#[derive(Clone, Debug)]
pub struct Schema {
    columns: SchemaDescPtr,
    nodes: Vec<Node>,
}

/// One field, or one item of a list.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) parent: usize,
    pub(crate) repetition: Repetition,
    pub(crate) content: Content,
    pub(crate) def: i16,
    pub(crate) rep: i16,
    /// The leaves below, or the leaf itself.
    pub(crate) leaves: Range<usize>,
}

/// What a node holds where it is present.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Leaf(Leaf),
    Group(Members),
    /// A group that stands for a list, by its item.
    List(usize),
}

/// Members of a group, in order and by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) nodes: Vec<usize>,
    by_name: HashMap<String, usize>,
}

impl Members {
    /// The place of a member among the others; `guess` is looked at first.
    pub(crate) fn find(&self, name: &str, guess: usize, nodes: &[Node]) -> Option<usize> {
        let is_there = self.nodes.get(guess).is_some_and(|node| nodes[*node].name == name);
        if is_there { Some(guess) } else { self.by_name.get(name).copied() }
    }
}

impl Schema {
    /// Reads a schema in Parquet's message syntax.
    ///
    /// ```
    /// let schema = hammerspace_stripe::Schema::parse("message event { required int64 ts; repeated binary tag (STRING); }")?;
    /// assert_eq!(schema.leaves(), ["ts", "tag"]);
    /// # Ok::<(), hammerspace_error::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let text: String = text.lines().map(without_comment).collect::<Vec<_>>().join("\n");
        let mut depth = 0_usize;
        for brace in text.chars().filter(|c| matches!(c, '{' | '}')) {
            depth = if brace == '{' { depth + 1 } else { depth.saturating_sub(1) };
            if depth > DEPTH_MAX {
                return Err(malformed(&format!("groups are more than {DEPTH_MAX} deep")));
            }
        }
        let root = parse_message_type(&text).map_err(|error| malformed(&reason(&error)))?;
        Self::of_type(&Arc::new(root))
    }

    /// The schema of a Parquet file.
    pub(crate) fn of_type(root: &TypePtr) -> Result<Self> {
        let columns = Arc::new(SchemaDescriptor::new(Arc::clone(root)));
        let mut tree = Builder { nodes: Vec::new(), columns: &columns, leaf: 0 };
        tree.add(root, Place { parent: 0, def: 0, rep: 0, repetition: Repetition::REQUIRED, depth: 0 })?;
        let nodes = tree.nodes;
        if columns.num_columns() == 0 {
            return Err(malformed("it has no fields"));
        }
        // The library writes such a column and cannot read it.
        let is_empty = |column: &ColumnDescPtr| {
            column.physical_type() == Physical::FIXED_LEN_BYTE_ARRAY && column.type_length() <= 0
        };
        if let Some(column) = columns.columns().iter().find(|column| is_empty(column)) {
            let path = column.path().string();
            return Err(malformed(&format!("`{path}` has values of no bytes; give it a length above 0")));
        }
        Ok(Self { columns, nodes })
    }

    /// The schema in Parquet's message syntax.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        print_schema(&mut text, self.columns.root_schema());
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The paths of the leaves, in order: names joined by dots.
    pub fn leaves(&self) -> Vec<String> {
        (0..self.columns.num_columns()).map(|leaf| self.path_of_leaf(leaf)).collect()
    }

    /// The leaves that `fields` name: each a leaf, or a group with all that is below it.
    pub fn select(&self, fields: &[impl AsRef<str>]) -> Result<Vec<usize>> {
        let paths = self.leaves();
        let mut is_wanted = vec![false; paths.len()];
        for field in fields.iter().map(AsRef::as_ref) {
            let is_at =
                |path: &str| path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let mut found = false;
            for (wanted, _) in is_wanted.iter_mut().zip(&paths).filter(|(_, path)| is_at(path)) {
                (*wanted, found) = (true, true);
            }
            if !found {
                return Err(Error::new(Kind::Missing, format!("there is no field `{field}`"))
                    .remedy(format!("choose among {}", paths.join(", "))));
            }
        }
        Ok((0..paths.len()).filter(|leaf| is_wanted[*leaf]).collect())
    }

    fn path_of_leaf(&self, leaf: usize) -> String {
        let is_it = |node: &Node| matches!(node.content, Content::Leaf(_)) && node.leaves.start == leaf;
        let node = self.nodes.iter().position(is_it).expect("each column has its node");
        self.names(node).join(".")
    }

    /// The names on the way to a node, without the root's and without those of items.
    fn names(&self, node: usize) -> Vec<&str> {
        if node == 0 {
            return Vec::new();
        }
        let mut names = self.names(self.nodes[node].parent);
        if !self.is_item(node) {
            names.push(&self.nodes[node].name);
        }
        names
    }

    /// Whether the node is the item of an annotated list.
    pub(crate) fn is_item(&self, node: usize) -> bool {
        matches!(self.nodes[self.nodes[node].parent].content, Content::List(item) if item == node)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn columns(&self) -> &[ColumnDescPtr] {
        self.columns.columns()
    }

    pub(crate) fn root_type(&self) -> TypePtr {
        self.columns.root_schema_ptr()
    }
}

impl PartialEq for Schema {
    /// Whether columns of one can stand beside those of the other: the names of the messages do not count.
    fn eq(&self, other: &Self) -> bool {
        self.columns.root_schema().get_fields() == other.columns.root_schema().get_fields()
    }
}

/// Where a type stands.
#[derive(Clone, Copy)]
struct Place {
    parent: usize,
    def: i16,
    rep: i16,
    repetition: Repetition,
    depth: usize,
}

struct Builder<'a> {
    nodes: Vec<Node>,
    columns: &'a SchemaDescriptor,
    leaf: usize,
}

impl Builder<'_> {
    /// Adds a type and all below it; gives its number.
    fn add(&mut self, of: &Type, place: Place) -> Result<usize> {
        if place.depth > DEPTH_MAX {
            return Err(malformed(&format!("groups are more than {DEPTH_MAX} deep")));
        }
        let number = self.nodes.len();
        let Place { parent, def, rep, repetition, .. } = place;
        let name = of.name().to_owned();
        let content = Content::Group(Members::default());
        self.nodes.push(Node { name, parent, repetition, content, def, rep, leaves: self.leaf..self.leaf });
        let content = self.content(of, number, place)?;
        let node = &mut self.nodes[number];
        node.content = content;
        node.leaves.end = self.leaf;
        Ok(number)
    }

    fn content(&mut self, of: &Type, number: usize, place: Place) -> Result<Content> {
        if of.is_primitive() {
            let leaf = Leaf::of(&self.columns.column(self.leaf))?;
            self.leaf += 1;
            return Ok(Content::Leaf(leaf));
        }
        let below = |of: &Type| {
            let repetition = of.get_basic_info().repetition();
            let deeper = |is: bool, level: i16| level + i16::from(is);
            Place {
                parent: number,
                def: deeper(repetition != Repetition::REQUIRED, place.def),
                rep: deeper(repetition == Repetition::REPEATED, place.rep),
                repetition,
                depth: place.depth + 1,
            }
        };
        if let Some(list) = list_of(of, place.repetition) {
            let place = below(list);
            let item = match element_of(of, list) {
                None => self.add(list, Place { repetition: Repetition::REQUIRED, ..place })?,
                Some(element) => {
                    let repetition = element.get_basic_info().repetition();
                    let def = place.def + i16::from(repetition == Repetition::OPTIONAL);
                    self.add(element, Place { def, repetition, ..place })?
                }
            };
            return Ok(Content::List(item));
        }
        let mut members = Members::default();
        for (at, field) in of.get_fields().iter().enumerate() {
            if members.by_name.insert(field.name().to_owned(), at).is_some() {
                return Err(malformed(&format!("the field `{}` stands there twice", field.name())));
            }
            members.nodes.push(self.add(field, below(field))?);
        }
        if members.nodes.is_empty() && place.depth > 0 {
            return Err(malformed(&format!(
                "the group `{}` is empty, and no column could tell that it is there",
                of.name()
            )));
        }
        Ok(Content::Group(members))
    }
}

/// The repeated field of a group that stands for a list or a map.
fn list_of(of: &Type, repetition: Repetition) -> Option<&Type> {
    let info = of.get_basic_info();
    let is_annotated = matches!(info.logical_type_ref(), Some(LogicalType::List | LogicalType::Map))
        || matches!(info.converted_type(), ConvertedType::LIST | ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE);
    let [field] = of.get_fields() else { return None };
    let is_repeated =
        field.get_basic_info().has_repetition() && field.get_basic_info().repetition() == Repetition::REPEATED;
    (is_annotated && is_repeated && repetition != Repetition::REPEATED).then_some(&**field)
}

/// The element of a list in three levels; in two levels the repeated field is the element itself.
fn element_of<'a>(of: &Type, list: &'a Type) -> Option<&'a Type> {
    if list.is_primitive() || list.name() == "array" || list.name() == format!("{}_tuple", of.name()) {
        return None;
    }
    let [element] = list.get_fields() else { return None };
    (element.get_basic_info().repetition() != Repetition::REPEATED).then_some(&**element)
}

/// Comments are ours: Parquet's syntax has none.
fn without_comment(line: &str) -> &str {
    line.find("//").map_or(line, |at| &line[..at])
}

/// What Parquet's library says, without the word it begins with.
fn reason(error: &parquet::errors::ParquetError) -> String {
    let said = error.to_string();
    said.strip_prefix("Parquet error: ").unwrap_or(&said).to_owned()
}

#[cold]
fn malformed(what: &str) -> Error {
    Error::new(Kind::Invalid, format!("this is no schema: {what}"))
        .remedy("write it as in `message event { required int64 ts; optional binary state (STRING); }`")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library that writes the file cannot read a column of them.
    #[test]
    fn values_of_no_bytes_are_refused_by_their_schema() {
        let schema = |len: u32| {
            Schema::parse(&format!("message m {{ optional group g {{ required fixed_len_byte_array({len}) f; }} }}"))
        };
        assert!(schema(1).is_ok());
        let refused = schema(0).unwrap_err();
        assert!(refused.to_string().contains("`g.f` has values of no bytes"), "{refused}");
    }
}
