//! YAML, beside PyYAML over libyaml: the same leaves, whatever the layout.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use fastrand::Rng;
use hammerspace_load::{json, yaml};

type Leaves = BTreeMap<String, String>;

/// What PyYAML makes of each document; nothing of those that it refuses.
fn pyyaml(documents: &[String]) -> Vec<Option<Leaves>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pyyaml.py");
    // Debian's interpreter, for which its package is.
    let mut python = Command::new("/usr/bin/python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("install the Debian package `python3-yaml`");
    python.stdin.take().unwrap().write_all(documents.join("\0").as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "install the Debian package `python3-yaml`");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| (line != "null").then(|| pairs_of_lists(line))).collect()
}

/// The leaves of a list of lists of two.
fn pairs_of_lists(line: &str) -> Leaves {
    let mut texts = Vec::new();
    json::read(line.as_bytes(), &mut |_key, text| {
        texts.push(String::from_utf8(text.to_vec()).unwrap());
        Ok(())
    })
    .unwrap();
    texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn ours(document: &str) -> Option<Leaves> {
    let mut leaves = Leaves::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    yaml::read(document.as_bytes(), &mut |key, value| {
        leaves.insert(text(key), text(value));
        Ok(())
    })
    .ok()?;
    Some(leaves)
}

/// How the first one that differs is read by both.
fn difference(documents: &[String], read: impl Fn(&str) -> Option<Leaves>) -> Option<String> {
    let theirs = pyyaml(documents);
    assert_eq!(theirs.len(), documents.len());
    let mut both = documents.iter().zip(theirs);
    both.find_map(|(document, theirs)| {
        let ours = read(document);
        (ours != theirs).then(|| format!("{document:?}\n{document}\nours {ours:?}\ntheirs {theirs:?}"))
    })
}

/// Layouts that libyaml takes where the specification is stricter, or where parsers differ.
const LAYOUTS: [&str; 26] = [
    "d: ! '%d-%m'\nt: ! no\nn: ! ~\n",
    "%TAG ! tag:yaml.org,2002:\n---\na: !str ~\nb: !null x",
    "a:\tb\nc: 'd'\t\ne: f\t# g",
    "a:\n  b: \"one\ntwo\"\n  c: 'one\n\ntwo'\n",
    "a:\n  b: [\n    c, d\n]\ne: {\n  f: g\n}\n",
    "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: *a\n  <<: *b\nd:\n  <<: [*a, *b]\ne:\n  x: 3\n  <<: *a\n",
    "a: 1\nb: 2\na: {c: 3}\n",
    "a: {b: {c: 1}, b: {d: 2}}",
    "a: |\n  b\n   c\n\nd: >-\n  e\n  f\n",
    "a: |\n b",
    "a: >+\n b\n\n",
    "a: >\n b\n\n  c\n d",
    "? a\n: b\n? c\n",
    "a: 'it''s'\nb: \"\\u00e9\\t\\x41\\/\"\n",
    "a: b c: d",
    "a: [b, c",
    "a: b\n c: d",
    "a: @b",
    "a: `b`",
    "a: %b",
    "a: 'b' c",
    "- a\n-b",
    "a:\n\tb: c",
    "a: \u{1}",
    "a: *b",
    "a: 1\n---\nb: 2",
];

#[test]
fn layouts_are_read_as_libyaml_reads_them() {
    let documents = LAYOUTS.map(String::from);
    assert_eq!(difference(&documents, ours), None);
    let taken = documents.iter().filter(|document| ours(document).is_some()).count();
    assert!((14..=16).contains(&taken), "{taken}");
}

#[test]
fn random_documents_are_read_as_libyaml_reads_them() {
    let mut rng = Rng::with_seed(7);
    let documents: Vec<String> = (0..400).map(|_| mapping(&mut rng, 0)).collect();
    assert!(documents.iter().filter(|document| ours(document).is_some()).count() > 300);
    if let Some(difference) = difference(&documents, ours) {
        panic!("{difference}");
    }
}

/// A block mapping in which names occur twice and values have every style.
fn mapping(rng: &mut Rng, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let line = |rng: &mut Rng| {
        let name = ["a", "b", "c", "'a'", "\"b\"", "yes", "1"][rng.usize(..7)];
        match rng.usize(..10) {
            0..3 if depth < 3 => format!("{indent}{name}:\n{}", mapping(rng, depth + 1)),
            3 => format!("{indent}{name}:\n{indent}- {}\n{indent}- {}\n", scalar(rng), scalar(rng)),
            4 => format!("{indent}{name}: |{}\n{indent}   one\n{indent}    two\n\n", ["", "-", "+"][rng.usize(..3)]),
            5 => format!("{indent}{name}: >\n{indent}   one\n{indent}   two\n"),
            6 => format!("{indent}{name}: {{x: {}, y: [{}, z]}}\n", scalar(rng), scalar(rng)),
            7 => format!("{indent}{name}: [\n{indent}{}\n{indent}]\n", scalar(rng)),
            8 => format!("{indent}{name}:\t{} # and so on\n", scalar(rng)),
            _ => format!("{indent}{name}: {}\n", scalar(rng)),
        }
    };
    (0..rng.usize(1..4)).map(|_| line(rng)).collect()
}

fn scalar(rng: &mut Rng) -> &'static str {
    const SCALARS: [&str; 18] = [
        "text",
        "two words",
        "~",
        "null",
        "''",
        "'~'",
        "\"a\\nb\"",
        "1.50",
        "no",
        "! no",
        "! '1'",
        "!!str 2",
        "!!int '3'",
        "%{count}x",
        "a:b",
        "a#b",
        "'one\ntwo'",
        "\"one\n\n  two\"",
    ];
    SCALARS[rng.usize(..SCALARS.len())]
}

/// A comparison that does not see a value lost sees nothing.
#[test]
fn canary_a_lost_value_is_noticed() {
    let lossy = |document: &str| ours(document).map(|leaves| leaves.into_iter().skip(1).collect());
    assert!(difference(&["a: 1\nb: 2\n".into()], lossy).is_some());
    assert!(difference(&["a: 1\n---\nb: 2".into()], |_| Some(Leaves::new())).is_some());
}
