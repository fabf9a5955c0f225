//! Whether a catalogue that has forms for counts says which count takes which.

use hammerspace_plural::Rule;

/// What a catalogue was seen to have.
#[derive(Default)]
pub(super) struct Plurals {
    header: Vec<u8>,
    has_forms: bool,
}

impl Plurals {
    /// Takes an entry into account: the header, under the empty key, or a translation.
    pub(super) fn note(&mut self, key: &[u8], value: &[u8]) {
        if key.is_empty() {
            self.header = value.to_vec();
        } else {
            self.has_forms |= value.contains(&0);
        }
    }

    /// What is wrong with the rule, if it is needed: readers then take that of English.
    pub(super) fn warning(&self) -> Option<String> {
        let error = self.has_forms.then(|| Rule::of_header(&self.header).err())??;
        let remedy = error.advice().unwrap_or_default();
        Some(format!("{}: plural forms are chosen as in English; {remedy}", error.finding()))
    }
}
