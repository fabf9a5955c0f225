//! The demo's data: still there, still readable, still as large and as varied as the demo promises.

use hammerspace_load::{Format, json};
use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path};

#[test]
fn the_demos_translations_are_real_and_enough() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/translations");
    assert!(fs::read_to_string(directory.join("LICENSE")).unwrap().starts_with("UNICODE LICENSE V3"));

    let mut locales = 0;
    let mut keys = 0;
    let mut new_zealand = BTreeSet::new();
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if Format::of(&path) != Some(Format::Json) {
            continue;
        }
        let mut names = BTreeMap::new();
        json::read(&fs::read(&path).unwrap(), &mut |key, name| {
            assert!(!name.is_empty(), "{}: {} has no name", path.display(), key.escape_ascii());
            assert_eq!(names.insert(key.to_vec(), name.to_vec()), None, "{}", path.display());
            Ok(())
        })
        .unwrap();
        locales += 1;
        keys += names.len();
        new_zealand.insert(names.remove(&b"territories.NZ"[..]).unwrap());
    }
    assert!(locales >= 70 && keys >= 80_000, "{keys} keys in {locales} locales");
    assert!(new_zealand.len() > locales / 2, "New Zealand has {} names in {locales} locales", new_zealand.len());
}
