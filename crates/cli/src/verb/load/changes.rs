//! What a version in the making would change.

use hammerspace::{Result, Snapshot, Writer};
use serde::Serialize;

use crate::output::Pair;

/// How many keys are added, changed and removed, and which they are: the first [`SHOWN_MAX`] of them.
#[derive(Default, Serialize)]
pub(super) struct Changes {
    pub(super) added: u64,
    pub(super) changed: u64,
    pub(super) removed: u64,
    pub(super) keys: Vec<Change>,
}

pub(super) const SHOWN_MAX: usize = 100;

/// One key, and what becomes of it.
pub(super) struct Change {
    pub(super) what: &'static str,
    pub(super) key: Vec<u8>,
}

impl Serialize for Change {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            change: &'static str,
            #[serde(flatten)]
            key: Pair<'a>,
        }
        Shown { change: self.what, key: Pair { key: &self.key, value: None } }.serialize(to)
    }
}

impl Changes {
    /// The difference between `before` and what `writer` would publish. Linear in both; an order of keys is no difference.
    pub(super) fn between(before: &Snapshot, writer: &mut Writer) -> Result<Self> {
        let (mut changes, mut kept) = (Self::default(), 0);
        for key in writer.keys()? {
            match before.get(&key)? {
                None => changes.note(ADDED, key),
                Some(old) => {
                    kept += 1;
                    if writer.get(&key)?.as_deref() != Some(&*old) {
                        changes.note(CHANGED, key);
                    }
                }
            }
        }
        if kept < before.len() {
            changes.note_removed(before, writer)?;
        }
        Ok(changes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.total() == 0
    }

    pub(super) fn total(&self) -> u64 {
        self.added + self.changed + self.removed
    }

    fn note_removed(&mut self, before: &Snapshot, writer: &mut Writer) -> Result<()> {
        for pair in before {
            let (key, _value) = pair?;
            if writer.get(&key)?.is_none() {
                self.note(REMOVED, key.into_owned());
            }
        }
        Ok(())
    }

    fn note(&mut self, what: &'static str, key: Vec<u8>) {
        *match what {
            ADDED => &mut self.added,
            CHANGED => &mut self.changed,
            _ => &mut self.removed,
        } += 1;
        if self.keys.len() < SHOWN_MAX {
            self.keys.push(Change { what, key });
        }
    }
}

const ADDED: &str = "added";
const CHANGED: &str = "changed";
const REMOVED: &str = "removed";
