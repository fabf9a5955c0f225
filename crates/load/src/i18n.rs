//! JSON and YAML as the translations of Ruby's I18n: with types, lists and trees. Format page: `docs/format/translations.md`.
//!
//! ```text
//! de:
//!   shop: {title: Laden, open: true}      de           = ␀{"children":["shop"]}
//!                                         de.shop      = ␀{"children":["title","open"]}
//!                                         de.shop.title = Laden
//!                                         de.shop.open  = ␀true
//! ```
//!
//! What always holds:
//! 1. A tree's entry names all that was stored below it, now and before.
//! 2. Where a leaf takes a tree's place, what the tree named is gone.
//! 3. Time and bytes out are linear in the input and in what is replaced (`budget.rs`).

use std::borrow::Cow;
use std::collections::HashSet;

use hammerspace_error::{Doing, Error, Kind, Result};
use json_event_parser::{JsonEvent, SliceJsonParser, WriterJsonSerializer};

use crate::budget::Budget;
use crate::tree::{Node, Pair, Scalar, Tree};
use crate::{Format, json, yaml};

/// Where translations go, and what is there before.
pub trait Texts {
    /// What lies under a key now.
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// Puts a value in the place of what is there.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
    /// Takes a key away.
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

/// Whether a format has types, lists and trees: others are read by [`read`](crate::read), as they are for everybody.
pub fn is_typed(format: Format) -> bool {
    matches!(format, Format::Json | Format::Yaml)
}

/// Reads a JSON or YAML document below `prefix`, which is empty or ends with a dot. Returns how many values were put.
pub fn read(format: Format, bytes: &[u8], prefix: &[u8], texts: &mut dyn Texts) -> Result<u64> {
    let (root, budget) = if format == Format::Yaml { yaml::tree(bytes)? } else { json::tree(bytes)? };
    let Node::Map(pairs) = &root.node else {
        return Err(Error::new(Kind::Corrupt, "the document is no mapping").remedy("put all of it below a locale"));
    };
    let mut loader = Loader { key: Vec::new(), texts, budget, count: 0 };
    match prefix.split_last() {
        None => loader.members(pairs, &mut Names::default())?,
        Some((b'.', parent)) => {
            loader.key.extend_from_slice(parent);
            loader.tree(pairs)?;
        }
        Some(_) => {
            return Err(Error::new(Kind::Invalid, "the prefix does not end with a dot, which joins the names of I18n")
                .remedy("write `--prefix '{locale}.'`, or none where the files name their locales"));
        }
    }
    Ok(loader.count)
}

struct Loader<'t> {
    /// Where we are.
    key: Vec<u8>,
    texts: &'t mut dyn Texts,
    budget: Budget,
    count: u64,
}

impl Loader<'_> {
    /// Whether there is anything to name.
    fn value(&mut self, tree: &Tree) -> Result<bool> {
        self.budget.spend(self.key.len() + 1)?;
        match &tree.node {
            Node::Null => Ok(false),
            Node::Map(pairs) => self.tree(pairs),
            Node::Scalar(_) | Node::List(_) => self.leaf(tree),
        }
    }

    fn tree(&mut self, pairs: &[Pair]) -> Result<bool> {
        let mut names = Names::of(self.texts.get(&self.key)?);
        self.members(pairs, &mut names)?;
        // A locale with nothing in it is none.
        let is_empty_tree = pairs.is_empty() && self.key.contains(&b'.');
        let is_there = is_empty_tree || !names.list.is_empty();
        if is_there {
            let entry = Json::entry(&mut self.budget, |json| json.children(&names.list))?;
            self.put(&entry)?;
        }
        Ok(is_there)
    }

    fn members(&mut self, pairs: &[Pair], names: &mut Names) -> Result<()> {
        let len = self.key.len();
        for (name, value) in pairs {
            let name = name.replace(DOT, DOT_IN_NAME);
            if len > 0 {
                self.key.extend_from_slice(DOT.as_bytes());
            }
            self.key.extend_from_slice(name.as_bytes());
            if self.value(value)? {
                names.add(name);
            }
            self.key.truncate(len);
        }
        Ok(())
    }

    /// Puts what has nothing below it.
    fn leaf(&mut self, tree: &Tree) -> Result<bool> {
        self.clear()?;
        match &tree.node {
            Node::Scalar(scalar) if is_bare(scalar) => {
                self.budget.spend(scalar.text.len())?;
                self.put(scalar.text.as_bytes())?;
            }
            _ => {
                let entry = Json::entry(&mut self.budget, |json| json.value(tree))?;
                self.put(&entry)?;
            }
        }
        Ok(true)
    }

    fn put(&mut self, value: &[u8]) -> Result<()> {
        self.count += 1;
        self.texts.put(&self.key, value)
    }

    /// Takes away what a tree here names, and what that names.
    fn clear(&mut self) -> Result<()> {
        let mut trees = vec![self.key.clone()];
        while let Some(tree) = trees.pop() {
            let Some(value) = self.texts.get(&tree)? else { continue };
            trees.extend(children(&value).into_iter().map(|name| [&tree, DOT.as_bytes(), name.as_bytes()].concat()));
            if tree.len() > self.key.len() {
                self.texts.delete(&tree)?;
            }
        }
        Ok(())
    }
}

/// The names in a tree, each once, in the order in which they came.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    known: HashSet<String>,
}

impl Names {
    /// Those that the entry there has, if it is one of a tree.
    fn of(value: Option<Vec<u8>>) -> Self {
        let list = value.map_or_else(Vec::new, |value| children(&value));
        Self { known: list.iter().cloned().collect(), list }
    }

    fn add(&mut self, name: String) {
        if self.known.insert(name.clone()) {
            self.list.push(name);
        }
    }
}

/// The names that the entry of a tree has; none if it is something else.
fn children(value: &[u8]) -> Vec<String> {
    let Some(json) = value.strip_prefix(MARK.as_bytes()) else { return Vec::new() };
    let mut events = SliceJsonParser::new(json);
    let mut next = || events.parse_next().ok();
    let begin = [JsonEvent::StartObject, JsonEvent::ObjectKey(CHILDREN.into()), JsonEvent::StartArray];
    if !begin.into_iter().all(|event| next() == Some(event)) {
        return Vec::new();
    }
    let name = |event| if let JsonEvent::String(name) = event { Some(name.into_owned()) } else { None };
    std::iter::from_fn(|| next().and_then(name)).collect()
}

/// Whether it lies in the space as it is.
fn is_bare(scalar: &Scalar) -> bool {
    matches!(Leaf::of(scalar), Leaf::Text(text) if !text.contains(MARK))
}

/// What a scalar stands for.
enum Leaf<'a> {
    Bool(bool),
    Number(Cow<'a, str>),
    Symbol(&'a str),
    Text(&'a str),
}

impl<'a> Leaf<'a> {
    /// The core schema of YAML 1.2 where JSON can say it, and Ruby's symbols. `no` and `on` stay text.
    fn of(scalar: &'a Scalar) -> Self {
        let text = &*scalar.text;
        if !scalar.is_plain {
            return Self::Text(text);
        }
        match text {
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            _ => symbol(text).map(Self::Symbol).or_else(|| number(text).map(Self::Number)).unwrap_or(Self::Text(text)),
        }
    }
}

/// `:day` and `:"every day"`.
fn symbol(text: &str) -> Option<&str> {
    let name = text.strip_prefix(':').filter(|name| !name.is_empty())?;
    let unquoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote).filter(|name| !name.is_empty());
    Some(unquoted('"').or_else(|| unquoted('\'')).unwrap_or(name))
}

/// A number as JSON writes it. One with leading zeros is none: it would be octal to some, and decimal to others.
fn number(text: &str) -> Option<Cow<'_, str>> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let number = match (digits.strip_prefix('.'), digits.strip_suffix('.')) {
        (Some(fraction), _) => Cow::Owned(format!("{sign}0.{fraction}")),
        (None, Some(whole)) => Cow::Owned(format!("{sign}{whole}.0")),
        (None, None) => Cow::Borrowed(text),
    };
    let mut events = SliceJsonParser::new(number.as_bytes());
    let is_number = matches!(events.parse_next(), Ok(JsonEvent::Number(whole)) if whole == number)
        && matches!(events.parse_next(), Ok(JsonEvent::Eof));
    is_number.then_some(number)
}

/// JSON with what it lacks, as objects of one member: symbols, and mappings that keep their order.
struct Json<'b> {
    json: WriterJsonSerializer<Vec<u8>>,
    budget: &'b mut Budget,
}

impl<'b> Json<'b> {
    /// A value that is no plain text.
    fn entry(budget: &'b mut Budget, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<u8>> {
        let mut json = Self { json: WriterJsonSerializer::new(MARK.into()), budget };
        write(&mut json)?;
        json.json.finish().doing(WRITING)
    }

    fn value(&mut self, tree: &Tree) -> Result<()> {
        self.budget.spend(1)?;
        match &tree.node {
            Node::Null => self.event(JsonEvent::Null),
            Node::Scalar(scalar) => self.leaf(&Leaf::of(scalar)),
            Node::List(elements) => self.array(elements, |json, element| json.value(element)),
            Node::Map(pairs) => self.object(PAIRS, |json| json.array(pairs, Self::pair)),
        }
    }

    fn pair(&mut self, (name, value): &Pair) -> Result<()> {
        self.event(JsonEvent::StartArray)?;
        self.leaf(&Leaf::Text(name))?;
        self.value(value)?;
        self.event(JsonEvent::EndArray)
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<()> {
        match leaf {
            Leaf::Bool(value) => self.event(JsonEvent::Boolean(*value)),
            Leaf::Number(number) => self.text(number, JsonEvent::Number),
            Leaf::Symbol(name) => self.object(SYMBOL, |json| json.text(name, JsonEvent::String)),
            Leaf::Text(text) => self.text(text, JsonEvent::String),
        }
    }

    fn text<'t>(&mut self, text: &'t str, event: fn(Cow<'t, str>) -> JsonEvent<'t>) -> Result<()> {
        self.budget.spend(text.len())?;
        self.event(event(text.into()))
    }

    /// Names that were there before are not what the file unfolds to.
    fn children(&mut self, names: &[String]) -> Result<()> {
        let name = |json: &mut Self, name: &String| json.event(JsonEvent::String(name.into()));
        self.object(CHILDREN, |json| json.array(names, name))
    }

    fn object(&mut self, kind: &str, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.event(JsonEvent::StartObject)?;
        self.event(JsonEvent::ObjectKey(kind.into()))?;
        value(self)?;
        self.event(JsonEvent::EndObject)
    }

    fn array<T>(&mut self, elements: &[T], element: impl Fn(&mut Self, &T) -> Result<()>) -> Result<()> {
        self.event(JsonEvent::StartArray)?;
        elements.iter().try_for_each(|one| element(self, one))?;
        self.event(JsonEvent::EndArray)
    }

    fn event(&mut self, event: JsonEvent) -> Result<()> {
        self.json.serialize_event(event).doing(WRITING)
    }
}

/// What the values begin with that are no plain text.
const MARK: &str = "\0";
/// The kinds of objects.
const CHILDREN: &str = "children";
const PAIRS: &str = "pairs";
const SYMBOL: &str = "symbol";
/// Between the names of a key, and what a dot in a name is written as.
const DOT: &str = ".";
const DOT_IN_NAME: &str = "\u{1}";

/// What we were doing when the JSON's writer said no; to memory it never does.
const WRITING: &str = "write a value as JSON";
