//! Records come back as they were.

use std::fmt::Write;

use fastrand::Rng;
use hammerspace_stripe::{Compression, Options, Reader, Schema, Writer, stripe_all};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::random::{fields, record, schema};

/// A file of these lines.
pub(crate) fn striped(schema: &Schema, lines: &str, options: &Options) -> NamedTempFile {
    let mut writer = Writer::new(NamedTempFile::new().unwrap(), schema, options).unwrap();
    stripe_all(lines.as_bytes(), schema, options, |striped| {
        assert!(striped.rejects.is_empty(), "{}", striped.rejects[0].why);
        writer.append(striped.group)
    })
    .unwrap();
    writer.finish().unwrap()
}

/// The lines of a file, with all fields or with some.
pub(crate) fn unstriped(file: &NamedTempFile, leaves: Option<&[usize]>) -> Vec<Value> {
    let reader = Reader::open(file.path()).unwrap();
    let all: Vec<usize> = (0..reader.schema().leaves().len()).collect();
    let mut lines = Vec::new();
    let keep = |some: &[u8]| {
        lines.extend_from_slice(some);
        Ok(())
    };
    reader.unstripe(leaves.unwrap_or(&all), 2, keep).unwrap();
    String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn random_records_of_random_schemas_come_back() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let fields = fields(&mut rng, 3);
        let schema = schema(&fields);
        let records: Vec<Value> = (0..200).map(|_| record(&mut rng, &fields)).collect();
        let mut lines = String::new();
        for record in &records {
            writeln!(lines, "{record}").unwrap();
        }
        let compression = Compression::ALL[rng.usize(..3)];
        // From many row groups, some of one long line, to one.
        let memory = [1, 1 << 19, 1 << 28][rng.usize(..3)];
        let file = striped(&schema, &lines, &Options { compression, memory, workers: 2, ..Options::default() });
        let back = unstriped(&file, None);
        assert_eq!(back.len(), records.len(), "seed {seed}");
        for (at, (back, record)) in back.iter().zip(&records).enumerate() {
            assert_eq!(back, record, "seed {seed}, record {at} of {}", schema.text());
        }
    }
}

/// What is left of a record without the leaves that were not asked for: the oracle of partial records.
fn pruned(value: &Value, wanted: &[Vec<String>]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| pruned(item, wanted)).collect(),
        Value::Object(members) => {
            let below = |name: &str| {
                let is_it = |path: &&Vec<String>| path.first().is_some_and(|first| first == name);
                wanted.iter().filter(is_it).map(|path| path[1..].to_vec()).collect::<Vec<_>>()
            };
            let members = members.iter().map(|(name, value)| (name, value, below(name)));
            members
                .filter(|(.., below)| !below.is_empty())
                .map(|(name, value, below)| (name.clone(), pruned(value, &below)))
                .collect()
        }
        leaf => leaf.clone(),
    }
}

#[test]
fn partial_records_are_the_whole_ones_without_what_was_not_asked_for() {
    for seed in 100..140 {
        let mut rng = Rng::with_seed(seed);
        let fields = fields(&mut rng, 3);
        let schema = schema(&fields);
        let records: Vec<Value> = (0..50).map(|_| record(&mut rng, &fields)).collect();
        let lines: String = records.iter().flat_map(|record| [record.to_string(), "\n".into()]).collect();
        let file = striped(&schema, &lines, &Options::default());
        for _ in 0..4 {
            let paths = schema.leaves();
            let leaves: Vec<usize> = (0..paths.len()).filter(|_| rng.bool()).collect();
            let wanted: Vec<Vec<String>> =
                leaves.iter().map(|leaf| paths[*leaf].split('.').map(String::from).collect()).collect();
            let expected: Vec<Value> = records.iter().map(|record| pruned(record, &wanted)).collect();
            if leaves.is_empty() {
                continue;
            }
            for (found, expected) in unstriped(&file, Some(&leaves)).iter().zip(&expected) {
                assert_eq!(found, expected, "seed {seed}, {wanted:?} of {}", schema.text());
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_come_back_in_base64() {
    let schema = Schema::parse("message m { optional binary a; repeated binary b; }").unwrap();
    let lines = "{\"a\":\"text\",\"b\":[\"x\",{\"base64\":\"/w==\"},\"y\"]}\n{\"a_base64\":\"/gA=\"}\n";
    let file = striped(&schema, lines, &Options::default());
    let expected: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(unstriped(&file, None), expected);
}

/// Only the columns asked for are read: a page of another may be damaged.
#[test]
fn a_damaged_column_does_not_matter_to_others() {
    let schema = Schema::parse("message m { required binary a (STRING); required binary b (STRING); }").unwrap();
    let lines: Vec<String> = (0..100).map(|at| format!("{{\"a\":\"aaaa{at}\",\"b\":\"bbbb{at}\"}}")).collect();
    let lines = lines.join("\n");
    let options = Options { compression: Compression::None, ..Options::default() };
    let file = striped(&schema, &lines, &options);
    let mut bytes = std::fs::read(file.path()).unwrap();
    let at = bytes.windows(5).position(|window| window == b"bbbb0").unwrap();
    bytes[at] = 0xff;
    std::fs::write(file.path(), bytes).unwrap();
    assert_eq!(unstriped(&file, Some(&[0])).len(), 100);
    let reader = Reader::open(file.path()).unwrap();
    let error = reader.unstripe(&[1], 1, |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), hammerspace_error::Kind::Corrupt, "{error}");
}

#[test]
fn what_does_not_fit_says_where_and_why() {
    let schema = "message m {
        required int32 id (INTEGER(8,true)); optional group g { repeated group r { required double d; } }
        optional binary t (STRING); optional int32 day (DATE); optional int64 at (TIMESTAMP(MILLIS,true));
        optional group l (LIST) { repeated group list { required boolean element; } } optional int32 n (DECIMAL(4,2));
    }";
    let schema = Schema::parse(schema).unwrap();
    let mut striper = hammerspace_stripe::Striper::new(&schema);
    for (line, expected) in [
        ("{\"id\":1}", ""),
        ("{}", "id: it is required and not there"),
        ("{\"id\":128}", "id: 128 is not between -128 and 127"),
        ("{\"id\":null}", "id: null stands where a value is required"),
        ("{\"id\":1.5}", "id: 1.5 is not a whole number"),
        ("{\"id\":\"1\"}", "id: a string is not an integer of 8 bits"),
        ("{\"id\":1,\"id\":2}", "id: it stands there twice"),
        ("{\"id\":1,\"x\":2}", "the schema has no member \"x\" here"),
        ("{\"id\":1,\"g\":{\"y\":2}}", "g: the schema has no member \"y\" here"),
        ("{\"id\":1,\"g\":[]}", "g: a list is not a single value"),
        ("{\"id\":1,\"g\":{\"r\":{}}}", "g.r: an object is not a list"),
        ("{\"id\":1,\"g\":{\"r\":[{\"d\":0},null]}}", "g.r[1]: null stands where a value is required"),
        ("{\"id\":1,\"g\":{\"r\":[{\"d\":0},{\"d\":true}]}}", "g.r[1].d: a boolean is not a number"),
        ("{\"id\":1,\"l\":[true,null]}", "l[1]: null stands where a value is required"),
        ("{\"id\":1,\"day\":\"2011-02-30\"}", "day: \"2011-02-30\" is not a date such as \"2011-06-20\""),
        (
            "{\"id\":1,\"at\":\"2011-06-20T00:00:00.0001Z\"}",
            "at: \"2011-06-20T00:00:00.0001Z\" is finer than the field's unit",
        ),
        ("{\"id\":1,\"n\":123.4}", "n: 123.4 is not a number of 4 digits, 2 of them behind the point"),
        ("{\"id\":1", "EOF while parsing an object at line 1 column 7"),
        ("{\"id\":1} {}", "trailing characters at line 1 column 10"),
        ("{\"id\":2,\"t\":\"x\"}", ""),
    ] {
        let outcome = striper.json(line.as_bytes()).unwrap();
        assert_eq!(outcome.map_or_else(|why| why.to_string(), |()| String::new()), expected, "{line}");
    }
    assert_eq!(striper.rows(), 2, "what does not fit leaves nothing behind");
}
