//! The striper: takes records apart into values and levels, one column for each leaf.
//!
//! ```text
//! {"imp": [{"cost": 1.5}, {}]}        imp.cost   rep 0 def 2 value 1.5
//!                                                rep 1 def 1             the second `imp` has no `cost`
//! ```
//! For each leaf an entry says which list began a new item (the repetition level, 0 for a new record), and how much of
//! the way to the leaf is there (the definition level). See "Dremel: Interactive Analysis of Web-Scale Datasets" (2010).
//!
//! What always holds:
//! 1. Each record gives each leaf at least one entry, so that columns stay in step.
//! 2. A record that does not fit leaves nothing behind, and says where it does not.
//! 3. Members may stand in any order. A member that stands there twice, or that the schema does not have, is a misfit.
//!
//! A record comes from anything that serde can walk: a line of JSON, a stream of it, or a record of a store.

use std::fmt::{self, Write};

use data_encoding::BASE64;
use parquet::basic::Repetition;
use parquet::column::writer::ColumnWriter;
use parquet::errors::Result;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::column::{Column, Mark};
use crate::leaf::{Leaf, Misfit};
use crate::schema::{Content, Node, Schema};

/// Entries that a column gathers before they go to its writer.
const BATCH: usize = 4096;
/// And bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Why a record was refused: where in it, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The path of the value, as in `imp[1].cost`. Empty for the record as a whole.
    pub path: String,
    /// What is wrong with it.
    pub finding: String,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.finding) } else { write!(f, "{}: {}", self.path, self.finding) }
    }
}

/// Whether a record was added.
pub type Outcome = std::result::Result<(), Reject>;

/// How a walk over a value ended.
type Walked<E> = std::result::Result<(), E>;

/// Columns that records are added to.
pub struct Striper<'w> {
    schema: &'w Schema,
    columns: Vec<Column>,
    /// Where full columns go; without writers they stay here.
    writers: Vec<ColumnWriter<'w>>,
    ignores_unknown: bool,
    rows: u64,
    /// When a node was last a member of an object, by the number of that object.
    seen: Vec<u64>,
    objects: u64,
    /// Which item of each list around we are at.
    items: Vec<u64>,
    /// What the columns held before the record.
    marks: Vec<Mark>,
    reject: Option<Reject>,
}

impl<'w> Striper<'w> {
    /// A striper that keeps all columns.
    pub fn new(schema: &'w Schema) -> Self {
        Self {
            schema,
            columns: schema.columns().iter().map(Column::new).collect(),
            writers: Vec::new(),
            ignores_unknown: false,
            rows: 0,
            seen: vec![0; schema.nodes().len()],
            objects: 0,
            items: Vec::new(),
            marks: Vec::new(),
            reject: None,
        }
    }

    /// One that hands full columns to writers, which take whole records only.
    pub(crate) fn with_writers(schema: &'w Schema, writers: Vec<ColumnWriter<'w>>) -> Self {
        Self { writers, ..Self::new(schema) }
    }

    /// Passes over members that the schema does not have, instead of refusing their record.
    pub fn ignore_unknown(&mut self, ignores: bool) {
        self.ignores_unknown = ignores;
    }

    /// Records so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a line of JSON.
    pub fn json(&mut self, line: &[u8]) -> Result<Outcome> {
        let mut parser = serde_json::Deserializer::from_slice(line);
        self.add(|striper| striper.walk(&mut parser).and_then(|()| parser.end()))
    }

    /// Adds a record of JSON that is read piece by piece.
    pub(crate) fn json_stream(&mut self, from: impl std::io::Read) -> Result<Outcome> {
        let mut parser = serde_json::Deserializer::from_reader(from);
        self.add(|striper| striper.walk(&mut parser).and_then(|()| parser.end()))
    }

    /// Adds a record that serde can walk.
    pub fn record<'de, D: Deserializer<'de>>(&mut self, record: D) -> Result<Outcome> {
        self.add(|striper| striper.walk(record))
    }

    fn walk<'de, D: Deserializer<'de>>(&mut self, record: D) -> Walked<D::Error> {
        self.items.clear();
        let root = Spot { node: 0, rep: 0, def: 0, is_item: false, is_base64: false };
        root.walk(self, record)
    }

    /// Adds the record that is walked, or forgets it.
    fn add<E: de::Error>(&mut self, walk: impl FnOnce(&mut Self) -> Walked<E>) -> Result<Outcome> {
        self.marks.clear();
        self.marks.extend(self.columns.iter().map(Column::mark));
        if let Err(error) = walk(self) {
            for (column, mark) in self.columns.iter_mut().zip(&self.marks) {
                column.truncate(*mark);
            }
            let malformed = || Reject { path: String::new(), finding: error.to_string() };
            return Ok(Err(self.reject.take().unwrap_or_else(malformed)));
        }
        self.rows += 1;
        for leaf in 0..self.columns.len() {
            self.pass_on(leaf)?;
        }
        Ok(Ok(()))
    }

    /// Hands a full column to its writer.
    fn pass_on(&mut self, leaf: usize) -> Result<()> {
        let column = &mut self.columns[leaf];
        match self.writers.get_mut(leaf) {
            Some(writer) if column.len() >= BATCH || column.size() >= BATCH_BYTES => column.flush(writer),
            _ => Ok(()),
        }
    }

    /// The columns, if there are no writers.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Hands what is left to the writers, and gives them back.
    pub(crate) fn into_writers(mut self) -> Result<Vec<ColumnWriter<'w>>> {
        for (column, writer) in self.columns.iter_mut().zip(&mut self.writers) {
            column.flush(writer)?;
        }
        Ok(self.writers)
    }

    /// Notes that nothing is there below a node.
    fn absent(&mut self, node: usize, rep: i16, def: i16) {
        for leaf in self.schema.nodes()[node].leaves.clone() {
            self.columns[leaf].levels(rep, def);
        }
    }

    #[cold]
    fn misfit<E: de::Error>(&mut self, node: usize, finding: impl Into<String>) -> E {
        let path = self.path(node);
        self.reject.get_or_insert(Reject { path, finding: finding.into() });
        E::custom("the record does not fit its schema")
    }

    /// Where in the record we are, at a node.
    fn path(&self, node: usize) -> String {
        let nodes = self.schema.nodes();
        let mut way = vec![node];
        while let Some(&last) = way.last().filter(|last| **last != 0) {
            way.push(nodes[last].parent);
        }
        let (mut path, mut items) = (String::new(), self.items.iter());
        for node in way.into_iter().rev().skip(1) {
            if !self.schema.is_item(node) {
                let _ = write!(path, "{}{}", if path.is_empty() { "" } else { "." }, nodes[node].name);
            }
            let is_list =
                matches!(nodes[node].content, Content::List(_)) || nodes[node].repetition == Repetition::REPEATED;
            if let Some(item) = is_list.then(|| items.next()).flatten() {
                let _ = write!(path, "[{item}]");
            }
        }
        path
    }
}

/// A place where a value is expected: a node, and the levels that hold if nothing of it is there.
#[derive(Clone, Copy)]
struct Spot {
    node: usize,
    rep: i16,
    def: i16,
    /// One item of a repeated field, rather than the list of them.
    is_item: bool,
    is_base64: bool,
}

impl Spot {
    /// Walks a value that is expected here.
    fn walk<'de, D: Deserializer<'de>>(self, striper: &mut Striper, value: D) -> Walked<D::Error> {
        Walk { spot: self, striper }.deserialize(value)
    }
}

/// A spot, and where its values go: what serde is shown.
struct Walk<'a, 'w> {
    spot: Spot,
    striper: &'a mut Striper<'w>,
}

impl<'w> Walk<'_, 'w> {
    fn node(&self) -> &'w Node {
        &self.striper.schema.nodes()[self.spot.node]
    }

    /// Whether a list of items is expected, rather than one value.
    fn is_list(&self) -> bool {
        self.node().repetition == Repetition::REPEATED && !self.spot.is_item
    }

    fn misfit<E: de::Error>(&mut self, finding: impl Into<String>) -> E {
        self.striper.misfit(self.spot.node, finding)
    }

    /// Stores a leaf's value.
    #[inline]
    fn leaf<E: de::Error>(
        &mut self,
        what: &'static str,
        store: impl FnOnce(Leaf, &mut Column) -> std::result::Result<(), Misfit>,
    ) -> Walked<E> {
        let node = self.node();
        let Content::Leaf(leaf) = node.content else {
            let expected =
                if self.is_list() || matches!(node.content, Content::List(_)) { "a list" } else { "an object" };
            return Err(self.misfit(format!("{what} is not {expected}")));
        };
        if self.is_list() {
            return Err(self.misfit(format!("{what} is not a list")));
        }
        let at = node.leaves.start;
        let column = &mut self.striper.columns[at];
        match store(leaf, column) {
            Ok(()) => column.levels(self.spot.rep, node.def),
            Err(misfit) => return Err(self.misfit(misfit)),
        }
        Ok(())
    }

    fn string<E: de::Error>(&mut self, text: &str) -> Walked<E> {
        if self.spot.is_base64 {
            return match BASE64.decode(text.as_bytes()) {
                Ok(bytes) => self.leaf("a string", |leaf, column| leaf.bytes(&bytes, &mut column.values)),
                Err(wrong) => Err(self.misfit(format!("it is not base64: {wrong}"))),
            };
        }
        self.leaf("a string", |leaf, column| leaf.text(text, &mut column.values))
    }

    /// Bytes that are an item of a list: `{"base64": "…"}`.
    fn base64<'de, A: MapAccess<'de>>(&mut self, mut members: A) -> Walked<A::Error> {
        match members.next_entry::<String, String>() {
            Ok(Some((name, text))) if name == "base64" => {
                self.spot.is_base64 = true;
                self.string(&text)?;
            }
            _ => return Err(self.misfit("an object stands where a string is expected")),
        }
        match members.next_key::<String>()? {
            None => Ok(()),
            Some(_) => Err(self.misfit("an object stands where a string is expected")),
        }
    }

    /// Null: nothing is there, where that may be.
    fn null<E: de::Error>(&mut self) -> Walked<E> {
        let Spot { node, rep, def, is_item, .. } = self.spot;
        if self.node().repetition == Repetition::REQUIRED || is_item {
            return Err(self.misfit("null stands where a value is required"));
        }
        self.striper.absent(node, rep, def);
        Ok(())
    }

    /// Items, each of which is expected at `item`; only the first keeps its repetition level.
    fn items<'de, A: SeqAccess<'de>>(&mut self, mut items: A, mut item: Spot, absent_def: i16) -> Walked<A::Error> {
        let rep = self.striper.schema.nodes()[item.node].rep;
        self.striper.items.push(0);
        let mut is_empty = true;
        while let Some(()) = items.next_element_seed(Walk { spot: item, striper: self.striper })? {
            is_empty = false;
            item.rep = rep;
            if let Some(at) = self.striper.items.last_mut() {
                *at += 1;
            }
        }
        self.striper.items.pop();
        if is_empty {
            self.striper.absent(self.spot.node, item.rep, absent_def);
        }
        Ok(())
    }

    /// Members of a group that is there.
    fn members<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Walked<A::Error> {
        let node = self.node();
        let Content::Group(members) = &node.content else { return Err(self.misfit("an object is not a single value")) };
        self.striper.objects += 1;
        let (object, rep, nodes) = (self.striper.objects, self.spot.rep, self.striper.schema.nodes());
        let mut guess = 0;
        while let Some(name) = map.next_key_seed(Name { node: self.spot.node, guess, striper: self.striper })? {
            let Some((at, is_base64)) = name else {
                map.next_value::<de::IgnoredAny>()?;
                continue;
            };
            let member = members.nodes[at];
            if std::mem::replace(&mut self.striper.seen[member], object) == object {
                return Err(self.striper.misfit(member, "it stands there twice"));
            }
            guess = at + 1;
            let spot = Spot { node: member, rep, def: node.def, is_item: false, is_base64 };
            map.next_value_seed(Walk { spot, striper: self.striper })?;
        }
        for &member in &members.nodes {
            if self.striper.seen[member] == object {
                continue;
            }
            if nodes[member].repetition == Repetition::REQUIRED {
                return Err(self.striper.misfit(member, "it is required and not there"));
            }
            self.striper.absent(member, rep, node.def);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Walked<D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value that fits the schema")
    }

    fn visit_bool<E: de::Error>(mut self, value: bool) -> Walked<E> {
        self.leaf("a boolean", |leaf, column| leaf.bool(value, &mut column.values))
    }

    fn visit_i64<E: de::Error>(mut self, value: i64) -> Walked<E> {
        self.leaf("a number", |leaf, column| leaf.integer(value.into(), &mut column.values))
    }

    fn visit_u64<E: de::Error>(mut self, value: u64) -> Walked<E> {
        self.leaf("a number", |leaf, column| leaf.integer(value.into(), &mut column.values))
    }

    fn visit_f64<E: de::Error>(mut self, value: f64) -> Walked<E> {
        self.leaf("a number", |leaf, column| leaf.float(value, &mut column.values))
    }

    fn visit_str<E: de::Error>(mut self, value: &str) -> Walked<E> {
        self.string(value)
    }

    fn visit_bytes<E: de::Error>(mut self, value: &[u8]) -> Walked<E> {
        self.leaf("a string", |leaf, column| leaf.bytes(value, &mut column.values))
    }

    fn visit_unit<E: de::Error>(mut self) -> Walked<E> {
        self.null()
    }

    fn visit_none<E: de::Error>(mut self) -> Walked<E> {
        self.null()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Walked<D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, items: A) -> Walked<A::Error> {
        let (node, spot) = (self.node(), self.spot);
        if self.is_list() {
            return self.items(items, Spot { is_item: true, ..spot }, spot.def);
        }
        let Content::List(item) = node.content else { return Err(self.misfit("a list is not a single value")) };
        let item = Spot { node: item, rep: spot.rep, def: node.def + 1, is_item: false, is_base64: false };
        self.items(items, item, node.def)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, members: A) -> Walked<A::Error> {
        if self.is_list() {
            return Err(self.misfit("an object is not a list"));
        }
        match self.node().content {
            Content::Leaf(leaf) if leaf.is_binary() => self.base64(members),
            _ => self.members(members),
        }
    }
}

/// A member's name, to be found among those of a group: its place, and whether its value is in base64.
struct Name<'a, 'w> {
    node: usize,
    guess: usize,
    striper: &'a mut Striper<'w>,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = Option<(usize, bool)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_, '_> {
    type Value = Option<(usize, bool)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<Self::Value, E> {
        let nodes = self.striper.schema.nodes();
        let Content::Group(members) = &nodes[self.node].content else { unreachable!("only groups have members") };
        if let Some(at) = members.find(name, self.guess, nodes) {
            return Ok(Some((at, false)));
        }
        let binary = name.strip_suffix("_base64").and_then(|name| members.find(name, self.guess, nodes));
        let is_binary = |at: usize| matches!(nodes[members.nodes[at]].content, Content::Leaf(leaf) if leaf.is_binary());
        if let Some(at) = binary.filter(|at| is_binary(*at)) {
            return Ok(Some((at, true)));
        }
        if self.striper.ignores_unknown {
            return Ok(None);
        }
        Err(self.striper.misfit(self.node, format!("the schema has no member {name:?} here")))
    }
}
