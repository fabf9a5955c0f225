//! The format page and the golden manifest.

use hammerspace_error::Kind;
use hammerspace_fleet::Manifest;
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/format/fleet.md");
const GOLDEN: &str = include_str!("../../../../golden/fleet/00000000000000000042.json");

#[test]
fn the_page_names_each_field_of_a_manifest_and_shows_the_golden_one() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let table = &golden["tables"][0];
    for field in [&golden, table].into_iter().flat_map(|object| object.as_object().unwrap().keys()) {
        assert!(PAGE.contains(&format!("| {field} |")), "{field} has no row");
    }
    assert!(PAGE.contains(GOLDEN.trim()), "the page's example is the golden manifest");
}

#[test]
fn the_golden_manifest_reads_and_is_written_the_same() {
    let manifest = Manifest::parse(GOLDEN.as_bytes(), 42).unwrap();
    assert_eq!(serde_json::to_string_pretty(&manifest).unwrap(), GOLDEN.trim());
}

#[test]
fn what_a_manifest_may_not_say_is_refused() {
    let kind = |from: &str, to: &str| {
        assert!(GOLDEN.contains(from), "{from}");
        Manifest::parse(GOLDEN.replacen(from, to, 1).as_bytes(), 42).err().map(|error| error.kind())
    };
    assert_eq!(kind("\"layout\": 1", "\"layout\": 2"), Some(Kind::Unsupported));
    for (from, to) in [
        ("\"number\": 42", "\"number\": 43"),
        ("\"parent\": 41", "\"parent\": 42"),
        ("\"part_size\": 4194304", "\"part_size\": 0"),
        ("\"part_size\": 4194304", "\"part_size\": 1"),
        ("\"shards\": 1", "\"shards\": 0"),
        ("\"header\": \"959c", "\"header\": \"949c"),
        ("\"header\": \"959c", "\"header\": \"x"),
        ("2026-11-25/", "../../etc/"),
        ("2026-11-25/", ""),
        ("{", "["),
    ] {
        assert_eq!(kind(from, to), Some(Kind::Corrupt), "{from} -> {to}");
    }
    for len in 0..GOLDEN.trim().len() {
        assert!(Manifest::parse(&GOLDEN.as_bytes()[..len], 42).is_err(), "cut at {len}");
    }
}
