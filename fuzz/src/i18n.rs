//! Documents as translations: whatever they say, what they leave behind hangs together.

use std::collections::{BTreeMap, BTreeSet};

use hammerspace_error::Result;
use hammerspace_load::Format;
use hammerspace_load::i18n::{Parents, Texts, read};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::accepted;
use crate::document::UNFOLDING;

/// Checks what a document is stored as, which may name its locales or be below one.
pub(crate) fn check(format: Format, data: &[u8]) {
    for prefix in ["", "de.", "de.shop."] {
        let parents = Parents::of(prefix.as_bytes()).expect("names");
        let mut space = Space::default();
        if accepted(read(format, data, &parents, &mut space)).is_some() {
            space.check();
            // An empty mapping in a list is the most bytes for one that is paid for.
            let len: usize = space.0.iter().map(|(key, value)| key.len() + value.len()).sum();
            assert!(len <= 20 * UNFOLDING * (data.len() + prefix.len()), "{len} bytes out of {}", data.len());
            let once = space.0.clone();
            read(format, data, &parents, &mut space).expect("it was read before");
            assert_eq!(space.0, once, "read once more");
        }
    }
}

#[derive(Default)]
pub(crate) struct Space(pub(crate) BTreeMap<Vec<u8>, Vec<u8>>);

impl Space {
    /// Each value is one that the format page knows, and each key is named by the tree above it.
    pub(crate) fn check(&self) {
        for (key, value) in &self.0 {
            if let Some(dot) = key.iter().rposition(|byte| *byte == b'.') {
                let (tree, name) = (&key[..dot], &key[dot + 1..]);
                let is_named = self.0.get(tree).is_some_and(|names| children(names).contains(name));
                assert!(is_named, "{} is not named by its tree", key.escape_ascii());
            }
            match value.strip_prefix(b"\0") {
                Some(json) => assert!(serde_json::from_slice::<IgnoredAny>(json).is_ok(), "{}", value.escape_ascii()),
                None => assert!(!value.contains(&0) && str::from_utf8(value).is_ok(), "{}", value.escape_ascii()),
            }
        }
    }
}

/// The names in a tree's entry.
fn children(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let tree = value.strip_prefix(b"\0").and_then(|json| serde_json::from_slice(json).ok());
    // A name is text, or an integer of any length.
    let tree: BTreeMap<String, Vec<&RawValue>> = tree.unwrap_or_default();
    let name = |name: &RawValue| serde_json::from_str(name.get()).unwrap_or_else(|_| name.get().to_string());
    let names: Vec<_> = tree.into_values().flatten().map(|raw| name(raw).into_bytes()).collect();
    let set: BTreeSet<_> = names.iter().cloned().collect();
    assert_eq!(names.len(), set.len(), "a name is there twice");
    set
}

impl Texts for Space {
    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(key).cloned())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key);
        Ok(())
    }

    fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(self.0.keys().cloned().collect())
    }
}
