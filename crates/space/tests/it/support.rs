//! What the suites share.

use std::collections::BTreeMap;
use std::path::Path;

use hammerspace_space::{Durability, Options, Result, Snapshot, Space};

/// What a space should hold.
pub(crate) type Twin = BTreeMap<Vec<u8>, Vec<u8>>;

/// Options for tests that never lose power: without syncs they are many times faster.
pub(crate) fn quick() -> Options {
    Options::new().durability(Durability::None)
}

/// A space of one pair per entry, published at once.
pub(crate) fn publish(space: &Space, pairs: &[(&str, &str)]) -> u64 {
    let mut writer = space.replace().unwrap();
    for (key, value) in pairs {
        writer.put(key, value).unwrap();
    }
    writer.publish().unwrap()
}

/// All that a snapshot holds, read by iteration, and checked against lookups.
pub(crate) fn contents(snapshot: &Snapshot) -> Result<Twin> {
    let mut twin = Twin::new();
    for pair in snapshot.iter() {
        let (key, value) = pair?;
        assert_eq!(snapshot.get(&key)?.as_deref(), Some(&*value), "iteration and lookup agree");
        assert!(twin.insert(key.into_owned(), value.into_owned()).is_none(), "a key is iterated once");
    }
    assert_eq!(twin.len() as u64, snapshot.len());
    Ok(twin)
}

/// What a fresh reader sees.
pub(crate) fn seen(path: &Path) -> Twin {
    contents(&Space::open(path).unwrap().snapshot()).unwrap()
}

/// The names in a directory, sorted.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The directories of versions in a space.
pub(crate) fn version_dirs(path: &Path) -> Vec<String> {
    names(path).into_iter().filter(|name| name.contains('_')).collect()
}
