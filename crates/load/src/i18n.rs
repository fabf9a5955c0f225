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
//! What always holds, as where Ruby stores them:
//! 1. A tree's entry names all that was stored below it, now and before, but for what `null` has taken away.
//! 2. Where a leaf takes a tree's place, what the tree named is gone.
//! 3. Of a name that occurs twice the last value counts, at the place of the first, so that each key is written once.
//! 4. Where locales are listed, all of them are: by [`Locales`], which whoever puts keys keeps.
//! 5. Time and bytes out are linear in the input and in what is replaced (`budget.rs`).

use std::borrow::Cow;

use hammerspace_error::{Doing, Error, Kind, Result};
use indexmap::{IndexMap, IndexSet};
use json_event_parser::{JsonEvent, SliceJsonParser, WriterJsonSerializer};

use crate::budget::Budget;
use crate::tree::{Node, Pair, Scalar, Style, Tree, members};
use crate::{Format, json, yaml};

/// Where translations go, and what is there before.
pub trait Texts {
    /// What lies under a key now.
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// Puts a value in the place of what is there.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
    /// Takes a key away.
    fn delete(&mut self, key: &[u8]) -> Result<()>;
    /// All keys that are there now.
    fn keys(&mut self) -> Result<Vec<Vec<u8>>>;
}

/// Whether a format has types, lists and trees: others are read by [`read`](crate::read), as they are for everybody.
pub fn is_typed(format: Format) -> bool {
    matches!(format, Format::Json | Format::Yaml)
}

/// The names that go before all others, the locale's first: `de.shop.`, or nothing.
#[derive(Default)]
pub struct Parents<'a>(Vec<&'a str>);

impl<'a> Parents<'a> {
    /// Those in a prefix of keys.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if there is a prefix that does not end with a dot, or a name in it that is empty or no UTF-8.
    pub fn of(prefix: &'a [u8]) -> Result<Self> {
        if prefix.is_empty() {
            return Ok(Self::default());
        }
        let names =
            str::from_utf8(prefix).ok().and_then(|prefix| prefix.strip_suffix(DOT)).map(|names| names.split(DOT));
        names.map(Vec::from_iter).filter(|names| names.iter().all(|name| !name.is_empty())).map(Self).ok_or_else(|| {
            Error::new(Kind::Invalid, "the prefix is not made of names for I18n, each of them with a dot behind it")
                .remedy("write `--prefix '{locale}.'`, or none where the files name their locales")
        })
    }

    /// Whether the files are to name their locales themselves.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads a JSON or YAML document below `parents`. Returns how many values were put.
///
/// # Errors
/// [`Kind::Corrupt`] for what is no such document, has no locales, or unfolds to too much; those of `texts`.
pub fn read(format: Format, bytes: &[u8], parents: &Parents, texts: &mut dyn Texts) -> Result<u64> {
    let (mut root, budget) = if format == Format::Yaml { yaml::tree(bytes)? } else { json::tree(bytes, 1)? };
    if !matches!(root.node, Node::Map(_)) {
        return Err(Error::new(Kind::Corrupt, "the document is no mapping").remedy("put all of it below a locale"));
    }
    for &name in parents.0.iter().rev() {
        let name = Scalar { text: name.into(), style: Style::Text };
        root = Tree::new(Node::Map(vec![(name, root)]))?;
    }
    let mut loader = Loader { key: Vec::new(), texts, budget, count: 0 };
    loader.locales(&root)?;
    Ok(loader.count)
}

/// The key of the list of locales, which is a tree's entry.
pub const LOCALES: &[u8] = b".";

/// Whether this is a list of locales, which says nothing of any space but its own.
pub fn is_list(key: &[u8], value: &[u8]) -> bool {
    key == LOCALES && children(value).is_some()
}

/// The locales that something was put below.
#[derive(Default)]
pub struct Locales(IndexSet<String>);

impl Locales {
    /// Notes the locale of a key that was put.
    pub fn note(&mut self, key: &[u8]) {
        if let Some(name) = locale(key).filter(|name| !self.0.contains(*name)) {
            self.0.insert(name.into());
        }
    }

    /// Lists them beside those that are listed. Where none are, all keys are looked at for them, so that no reader has to.
    ///
    /// # Errors
    /// Those of `texts`.
    pub fn list(self, texts: &mut dyn Texts) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let listed = texts.get(LOCALES)?.and_then(|value| children(&value));
        let old = listed.as_ref().map_or(0, Names::len);
        let mut all = match listed {
            Some(listed) => listed,
            None => texts.keys()?.iter().filter_map(|key| locale(key)).map(|name| (name.into(), false)).collect(),
        };
        all.extend(self.0.into_iter().map(|name| (name, false)));
        if all.len() > old {
            let entry = Json::entry(&mut Budget::new(0, 0), |json| json.children(&all))?;
            texts.put(LOCALES, &entry)?;
        }
        Ok(())
    }
}

/// What a key begins with, up to the first dot.
fn locale(key: &[u8]) -> Option<&str> {
    let name = key.split(|byte| DOT.as_bytes().contains(byte)).next()?;
    str::from_utf8(name).ok().filter(|name| !name.is_empty())
}

struct Loader<'t> {
    /// Where we are.
    key: Vec<u8>,
    texts: &'t mut dyn Texts,
    budget: Budget,
    count: u64,
}

impl Loader<'_> {
    fn locales(&mut self, root: &Tree) -> Result<()> {
        let Node::Map(pairs) = &root.node else { return Ok(()) };
        for (locale, (_, value)) in members(pairs, escaped) {
            self.key = locale.as_bytes().to_vec();
            match &value.node {
                Node::Null => {}
                Node::Map(pairs) => self.tree(pairs)?,
                Node::Scalar(_) | Node::List(_) => return Err(no_locale(&locale)),
            }
        }
        Ok(())
    }

    /// Stores what lies below here, and who is there.
    fn tree(&mut self, pairs: &[Pair]) -> Result<()> {
        let members = members(pairs, escaped);
        let there = self.texts.get(&self.key)?.and_then(|value| children(&value));
        // A locale with nothing in it is none.
        let is_new = there.is_none() && members.is_empty() && self.key.contains(&b'.');
        let mut names = there.unwrap_or_default();
        let mut is_changed = is_new;
        for (name, (scalar, value)) in &members {
            self.member(name, value)?;
            if !is_null(value) {
                let is_integer = integer(scalar).is_some();
                is_changed |= names.insert(name.clone().into_owned(), is_integer) != Some(is_integer);
            }
        }
        let all = names.len();
        names.retain(|name, _| members.get(&**name).is_none_or(|(_, value)| !is_null(value)));
        // What never was a tree does not become one because something was to be taken away from it.
        if is_changed || names.len() < all {
            let entry = Json::entry(&mut self.budget, |json| json.children(&names))?;
            self.put(&entry)?;
        }
        Ok(())
    }

    fn member(&mut self, name: &str, value: &Tree) -> Result<()> {
        let parent = self.key.len();
        self.key.extend_from_slice(DOT.as_bytes());
        self.key.extend_from_slice(name.as_bytes());
        self.budget.spend(self.key.len() + 1)?;
        match &value.node {
            Node::Null => self.remove()?,
            Node::Map(pairs) => self.tree(pairs)?,
            Node::Scalar(_) | Node::List(_) => self.leaf(value)?,
        }
        self.key.truncate(parent);
        Ok(())
    }

    /// Puts what has nothing below it.
    fn leaf(&mut self, tree: &Tree) -> Result<()> {
        self.clear()?;
        match &tree.node {
            Node::Scalar(scalar) if is_bare(scalar) => {
                self.budget.spend(scalar.text.len())?;
                self.put(scalar.text.as_bytes())
            }
            _ => {
                let entry = Json::entry(&mut self.budget, |json| json.value(tree))?;
                self.put(&entry)
            }
        }
    }

    fn put(&mut self, value: &[u8]) -> Result<()> {
        self.count += 1;
        self.texts.put(&self.key, value)
    }

    fn remove(&mut self) -> Result<()> {
        self.clear()?;
        self.texts.delete(&self.key)
    }

    /// Takes away what a tree here names, and what that names.
    fn clear(&mut self) -> Result<()> {
        let mut trees = vec![self.key.clone()];
        while let Some(tree) = trees.pop() {
            let Some(value) = self.texts.get(&tree)? else { continue };
            let names = children(&value).into_iter().flatten();
            trees.extend(names.map(|(name, _)| [&tree, DOT.as_bytes(), name.as_bytes()].concat()));
            if tree.len() > self.key.len() {
                self.texts.delete(&tree)?;
            }
        }
        Ok(())
    }
}

#[cold]
fn no_locale(name: &str) -> Error {
    Error::new(Kind::Corrupt, format!("`{}` is no locale: there is a value, and no mapping", name.escape_debug()))
        .remedy("put it below a locale, or give `--prefix '{locale}.'`")
}

fn is_null(tree: &Tree) -> bool {
    matches!(tree.node, Node::Null)
}

/// A name as a part of a key.
fn escaped<'t>(name: &'t Scalar) -> Cow<'t, str> {
    let name = plain(name);
    if name.contains(DOT) { name.replace(DOT, DOT_IN_NAME).into() } else { name.into() }
}

/// A name's text: for Ruby `:day:` is the same as `day:`, and `+1:` as `1:`.
fn plain<'t>(name: &'t Scalar) -> &'t str {
    let symbol = || symbol(&name.text).filter(|_| name.style == Style::Plain);
    integer(name).or_else(symbol).unwrap_or(&name.text)
}

/// A name that is an integer for Ruby, as it writes it.
fn integer<'t>(name: &'t Scalar) -> Option<&'t str> {
    let text = name.text.strip_prefix('+').unwrap_or(&name.text);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0') && !digits.is_empty();
    let is_integer = matches!(name.style, Style::Plain | Style::Number) && (is_decimal || digits == "0");
    is_integer.then_some(if digits == "0" { digits } else { text })
}

/// The names that a tree has, and which of them are integers.
type Names = IndexMap<String, bool>;

/// The names that the entry of a tree has, if it is one.
fn children(value: &[u8]) -> Option<Names> {
    let mut events = SliceJsonParser::new(value.strip_prefix(MARK.as_bytes())?);
    let mut next = || events.parse_next().ok();
    let begin = [JsonEvent::StartObject, JsonEvent::ObjectKey(CHILDREN.into()), JsonEvent::StartArray];
    let name = |event| match event {
        JsonEvent::String(name) => Some((name.into_owned(), false)),
        JsonEvent::Number(name) => Some((name.into_owned(), true)),
        _ => None,
    };
    let is_tree = begin.into_iter().all(|event| next() == Some(event));
    is_tree.then(|| std::iter::from_fn(|| next().and_then(name)).collect())
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
        match (scalar.style, text) {
            (Style::Text, _) => Self::Text(text),
            (Style::Symbol, _) => Self::Symbol(text),
            (Style::Number, _) => number(text).map_or(Self::Text(text), Self::Number),
            (Style::Plain, "true" | "True" | "TRUE") => Self::Bool(true),
            (Style::Plain, "false" | "False" | "FALSE") => Self::Bool(false),
            (Style::Plain, _) => Self::plain(text),
        }
    }

    fn plain(text: &'a str) -> Self {
        let number = || number(text).filter(|_| !is_bare_exponent(text)).map(Self::Number);
        symbol(text).map(Self::Symbol).or_else(number).unwrap_or(Self::Text(text))
    }
}

/// An exponent without a point before it or a sign behind the `e`: text for libyaml's users, as the id `344455e6` should be.
fn is_bare_exponent(text: &str) -> bool {
    text.split_once(['e', 'E'])
        .is_some_and(|(mantissa, exponent)| !mantissa.contains('.') || !exponent.starts_with(['+', '-']))
}

/// `:day` and `:"every day"`.
fn symbol(text: &str) -> Option<&str> {
    let name = text.strip_prefix(':').filter(|name| !name.is_empty())?;
    let unquoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote).filter(|name| !name.is_empty());
    Some(unquoted('"').or_else(|| unquoted('\'')).unwrap_or(name))
}

/// A number as JSON writes it. One with leading zeros is none: it would be octal to some, and decimal to others.
fn number(text: &str) -> Option<Cow<'_, str>> {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.starts_with('-') {
        return None;
    }
    let number = match (digits.strip_prefix('.'), digits.strip_suffix('.')) {
        (Some(fraction), _) => Cow::Owned(format!("{sign}0.{fraction}")),
        (None, Some(whole)) => Cow::Owned(format!("{sign}{whole}.0")),
        (None, None) => Cow::Borrowed(text.strip_prefix('+').unwrap_or(text)),
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
            Node::Map(pairs) => {
                self.object(PAIRS, |json| json.array(&members(pairs, |name| plain(name).into()), Self::pair))
            }
        }
    }

    fn pair(&mut self, (name, (scalar, value)): (&Cow<str>, &&Pair)) -> Result<()> {
        self.event(JsonEvent::StartArray)?;
        self.leaf(&integer(scalar).map_or(Leaf::Text(name), |integer| Leaf::Number(integer.into())))?;
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
    fn children(&mut self, names: &Names) -> Result<()> {
        let name = |json: &mut Self, (name, is_integer): (&String, &bool)| {
            json.event(if *is_integer { JsonEvent::Number(name.into()) } else { JsonEvent::String(name.into()) })
        };
        self.object(CHILDREN, |json| json.array(names, name))
    }

    fn object(&mut self, kind: &str, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.event(JsonEvent::StartObject)?;
        self.event(JsonEvent::ObjectKey(kind.into()))?;
        value(self)?;
        self.event(JsonEvent::EndObject)
    }

    fn array<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        element: impl Fn(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        self.event(JsonEvent::StartArray)?;
        elements.into_iter().try_for_each(|one| element(self, one))?;
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
