//! A schema from a sample of records.
//!
//! Each field gets the narrowest type that holds all its values. It is required where every object of its group has it,
//! and optional where it is missing or null somewhere. A list is a group annotated as LIST, which can hold nulls, can be
//! empty, and is what other engines read best.

use std::fmt::{self, Write};

use hammerspace_error::{Error, Kind, Result};
use indexmap::IndexMap;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::schema::Schema;

/// What records look like, as far as they were shown.
#[derive(Default)]
pub struct Inference {
    root: Seen,
}

/// What was seen of a field, or of the items of a list.
#[derive(Default)]
struct Seen {
    /// How often it was there, nulls included.
    count: u64,
    has_nulls: bool,
    shape: Shape,
    members: IndexMap<String, Seen>,
    items: Option<Box<Seen>>,
}

/// What values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    #[default]
    Unknown,
    Boolean,
    Integer,
    /// From 0 to what 63 bits hold: as good as either of its neighbours.
    Natural,
    Unsigned,
    Float,
    Text,
    Object,
    List,
    Mixed,
}

impl Shape {
    /// The narrowest that is both.
    fn join(self, other: Self) -> Self {
        use Shape::{Float, Integer, Mixed, Natural, Unknown, Unsigned};
        let is_number = |shape| matches!(shape, Natural | Integer | Unsigned | Float);
        match (self, other) {
            (one, other) if one == other => one,
            (Unknown, one) | (one, Unknown) => one,
            (Natural, whole @ (Integer | Unsigned)) | (whole @ (Integer | Unsigned), Natural) => whole,
            (Float, number) | (number, Float) if is_number(number) => Float,
            _ => Mixed,
        }
    }
}

impl Inference {
    /// Looks at a record, a line of JSON of this number.
    pub fn add(&mut self, line: &[u8], number: u64) -> Result<()> {
        let mut parser = serde_json::Deserializer::from_slice(line);
        (&mut self.root).deserialize(&mut parser).and_then(|()| parser.end()).map_err(|error| {
            Error::new(Kind::Corrupt, format!("line {number} is not JSON: {error}"))
                .remedy("write one object on each line")
        })
    }

    /// A schema that fits all records that were added.
    pub fn schema(&self, name: &str) -> Result<Schema> {
        if self.root.shape != Shape::Object || self.root.has_nulls {
            return Err(Error::new(Kind::Invalid, "the sample does not consist of objects")
                .remedy("give lines of JSON, an object on each"));
        }
        let mut text = format!("message {name} {{\n");
        self.root.write_members(&mut text, 1, "")?;
        text.push_str("}\n");
        Schema::parse(&text)
    }
}

impl Seen {
    fn write_members(&self, text: &mut String, depth: usize, path: &str) -> Result<()> {
        for (name, seen) in &self.members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || "/;{}()=,".contains(c))
            {
                return Err(Error::new(
                    Kind::Unsupported,
                    format!("the schema language cannot name the member {path:?}"),
                )
                .remedy("rename it, or leave it out of the schema and give --ignore-unknown"));
            }
            let is_always_there = seen.count == self.count && !seen.has_nulls;
            seen.write(text, depth, if is_always_there { "required" } else { "optional" }, name, &path)?;
        }
        Ok(())
    }

    fn write(&self, text: &mut String, depth: usize, repetition: &str, name: &str, path: &str) -> Result<()> {
        let indent = "  ".repeat(depth);
        let mut field = |what: String| {
            let _ = writeln!(text, "{indent}{repetition} {what}");
            Ok(())
        };
        match (self.shape, self.items.as_deref()) {
            (Shape::Boolean, _) => field(format!("boolean {name};")),
            (Shape::Integer | Shape::Natural, _) => field(format!("int64 {name};")),
            (Shape::Unsigned, _) => field(format!("int64 {name} (INTEGER(64,false));")),
            (Shape::Float, _) => field(format!("double {name};")),
            // Nothing but nulls: any type will do.
            (Shape::Text | Shape::Unknown, _) => field(format!("binary {name} (STRING);")),
            (Shape::Object, _) if self.members.is_empty() => Err(unfit(path, "only empty objects")),
            (Shape::Object, _) => {
                field(format!("group {name} {{"))?;
                self.write_members(text, depth + 1, path)?;
                let _ = writeln!(text, "{indent}}}");
                Ok(())
            }
            (Shape::List, Some(items)) => {
                field(format!("group {name} (LIST) {{"))?;
                let _ = writeln!(text, "{indent}  repeated group list {{");
                let element = if items.has_nulls { "optional" } else { "required" };
                items.write(text, depth + 2, element, "element", path)?;
                let _ = writeln!(text, "{indent}  }}\n{indent}}}");
                Ok(())
            }
            (Shape::List | Shape::Mixed, _) => Err(unfit(path, "values of different types")),
        }
    }

    fn see(&mut self, shape: Shape) {
        self.count += 1;
        self.shape = self.shape.join(shape);
    }
}

#[cold]
fn unfit(path: &str, what: &str) -> Error {
    Error::new(Kind::Invalid, format!("`{path}` holds {what}, which no field can"))
        .remedy("write a schema without it, and give --ignore-unknown or --rejects")
}

impl<'de> DeserializeSeed<'de> for &mut Seen {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> std::result::Result<(), E> {
        self.see(Shape::Boolean);
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<(), E> {
        self.see(if value < 0 { Shape::Integer } else { Shape::Natural });
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<(), E> {
        self.see(if i64::try_from(value).is_ok() { Shape::Natural } else { Shape::Unsigned });
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> std::result::Result<(), E> {
        self.see(Shape::Float);
        Ok(())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> std::result::Result<(), E> {
        self.see(Shape::Text);
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> std::result::Result<(), E> {
        self.has_nulls = true;
        self.see(Shape::Unknown);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        let seen = self.items.get_or_insert_default();
        while items.next_element_seed(&mut **seen)?.is_some() {}
        self.see(Shape::List);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            members.next_value_seed(self.members.entry(name).or_default())?;
        }
        self.see(Shape::Object);
        Ok(())
    }
}
