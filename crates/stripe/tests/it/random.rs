//! Random schemas, and random records of them in the one form in which they come back.

use fastrand::Rng;
use hammerspace_stripe::Schema;
use serde_json::{Map, Value, json};

/// A field: how often it is there, and what it holds.
pub(crate) struct Field {
    name: String,
    repetition: &'static str,
    content: Content,
}

enum Content {
    /// The type, the annotation, and how a value is drawn.
    Leaf(&'static str, &'static str, fn(&mut Rng) -> Value),
    Group(Vec<Field>),
    /// A list that can be empty, and hold nulls if its element is optional.
    List(Box<Field>),
}

/// A type, its annotation, and how a value is drawn.
type Drawn = (&'static str, &'static str, fn(&mut Rng) -> Value);

const LEAVES: [Drawn; 14] = [
    ("boolean", "", |rng| rng.bool().into()),
    ("int32", "", |rng| rng.i32(..).into()),
    ("int64", "", |rng| rng.i64(..).into()),
    ("int32", "(INTEGER(8,true))", |rng| rng.i8(..).into()),
    ("int32", "(INTEGER(32,false))", |rng| rng.u32(..).into()),
    ("int64", "(INTEGER(64,false))", |rng| rng.u64(..).into()),
    ("double", "", |rng| f64::from_bits(rng.u64(..) & !(1 << 62)).into()),
    ("float", "", |rng| (f64::from(rng.i8(..)) / 8.0).into()),
    ("binary", "(STRING)", |rng| text(rng).into()),
    ("binary", "", |rng| text(rng).into()),
    ("fixed_len_byte_array(3)", "", |rng| ["abc", "\u{20ac}", "\n\"\\"][rng.usize(..3)].into()),
    ("int32", "(DATE)", |rng| format!("{}-0{}-1{}", rng.u16(1900..2100), rng.u8(1..10), rng.u8(..10)).into()),
    ("int64", "(TIMESTAMP(MILLIS,true))", |rng| {
        format!("20{}-12-31T23:59:{}.{}Z", rng.u8(10..40), rng.u8(10..60), rng.u16(100..1000)).into()
    }),
    ("int64", "(DECIMAL(12,2))", |rng| json!(f64::from(rng.i32(1..99_999) * 10 + rng.i32(1..10)) / 100.0)),
];

fn text(rng: &mut Rng) -> String {
    let letters = ["a", "\u{e9}", "\u{1f600}", "\"", "\\", "\n", "\u{1}", "/", ""];
    (0..rng.usize(..8)).map(|_| letters[rng.usize(..letters.len())]).collect()
}

pub(crate) fn fields(rng: &mut Rng, depth: usize) -> Vec<Field> {
    let field = |at| {
        let repetition = ["required", "optional", "repeated"][rng.usize(..3)];
        field(rng, depth, format!("f{at}"), repetition)
    };
    let count = 1 + depth.min(3);
    (0..count).map(field).collect()
}

fn field(rng: &mut Rng, depth: usize, name: String, repetition: &'static str) -> Field {
    let content = match rng.usize(..4) {
        0 | 1 if depth > 0 => Content::Group(fields(rng, depth - 1)),
        2 if depth > 0 && repetition != "repeated" => {
            let element = ["required", "optional"][rng.usize(..2)];
            Content::List(Box::new(field(rng, depth - 1, "element".into(), element)))
        }
        _ => {
            let (of, annotation, draw) = LEAVES[rng.usize(..LEAVES.len())];
            Content::Leaf(of, annotation, draw)
        }
    };
    Field { name, repetition, content }
}

pub(crate) fn schema(fields: &[Field]) -> Schema {
    Schema::parse(&format!("message random {{ {} }}", text_of(fields))).unwrap()
}

fn text_of(fields: &[Field]) -> String {
    let field = |Field { name, repetition, content }: &Field| match content {
        Content::Leaf(of, annotation, _) => format!("{repetition} {of} {name} {annotation};"),
        Content::Group(fields) => format!("{repetition} group {name} {{ {} }}", text_of(fields)),
        Content::List(element) => {
            let element = text_of(std::slice::from_ref(element));
            format!("{repetition} group {name} (LIST) {{ repeated group list {{ {element} }} }}")
        }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(" ")
}

/// A record, with members in the order of the schema, and without those that are not there.
pub(crate) fn record(rng: &mut Rng, fields: &[Field]) -> Value {
    let mut members = Map::new();
    for field in fields {
        let count = match field.repetition {
            "required" => 1,
            "optional" => rng.usize(..2),
            _ => rng.usize(..4),
        };
        let mut values: Vec<Value> = (0..count).map(|_| value(rng, &field.content)).collect();
        let value =
            if field.repetition == "repeated" { Some(Value::from(values)).filter(|_| count > 0) } else { values.pop() };
        members.extend(value.map(|value| (field.name.clone(), value)));
    }
    members.into()
}

fn value(rng: &mut Rng, content: &Content) -> Value {
    match content {
        Content::Leaf(.., draw) => draw(rng),
        Content::Group(fields) => record(rng, fields),
        Content::List(element) => {
            let count = rng.usize(..4);
            let is_null = |rng: &mut Rng| element.repetition == "optional" && rng.bool();
            let item = |_| if is_null(rng) { Value::Null } else { value(rng, &element.content) };
            (0..count).map(item).collect()
        }
    }
}
