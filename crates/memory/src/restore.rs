//! What a log needs of a memory beside the commit point: to look at every record, and to restore records.
//!
//! Both go by records as they lie, with the parts of long values as records of a table of their own. A log
//! that was fed by the hook therefore restores each record with its sequence, and so with its version.
//!
//! Changes of one key are restored in the order in which they were made. Different keys may be restored by
//! different threads.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use hammerspace_error::{Kind, Result};

use crate::memory::Memory;
use crate::owner::Owner;
use crate::parts::large::{self, PARTS, part_of};
use crate::read::scan::{Cursor, step_with};
use crate::read::view::View;
use crate::record::Record;
use crate::record::key::{Key, OwnedKey};
use crate::region::{LARGE, SEQUENCE, WATERMARK};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::write::change::{Change, Old, PartsRef as Large, Value};
use crate::write::update::TableId;

/// In `WATERMARK`: its owner closed the store, and the log has everything.
const CLOSED: u64 = 1 << 63;

/// A change of one record, as the hook saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored<'c> {
    /// The record goes.
    Removed,
    /// A record is written as a whole.
    Written {
        /// What the value is.
        kind: u8,
        /// The bytes that lie in the record.
        value: &'c [u8],
        /// Whether they say where a long value lies.
        is_large: bool,
        /// When it ceases to be, in milliseconds since 1970.
        expiry: Option<u64>,
    },
    /// The value grows from this length on by these bytes.
    Grown(u64, &'c [u8]),
    /// The value becomes this little-endian number.
    Number(u64),
}

impl<'c> Restored<'c> {
    /// The change to make of the record that there is. What grows or counts and is not there has expired.
    fn of(self, old: Option<&Old<'_>>) -> Change<'c> {
        match (self, old) {
            (Self::Removed, _) => Change::Delete,
            (Self::Written { kind, value, is_large, expiry }, _) => {
                let value: Value<'_> = if is_large { Large::of(value).into() } else { value.into() };
                Change::Put { kind, value, expiry }
            }
            (Self::Grown(from, bytes), Some(old)) if old.record.header.value_len() as u64 == from => {
                Change::Append { kind: old.kind(), bytes }
            }
            (Self::Number(word), Some(old)) => Change::Word { kind: old.kind(), word },
            (Self::Grown(..) | Self::Number(_), _) => Change::Keep,
        }
    }
}

impl Memory {
    /// Shows every record to `look`, each under the lock of its home: once, if it is there from the beginning
    /// to the end, and as it is at that instant. What has expired is left out. In between, when no home is
    /// locked, `pause` may wait, or end it by an error. O(index).
    pub fn look_at_all(&self, mut pause: impl FnMut() -> Result<()>, mut look: impl FnMut(&Old<'_>)) -> Result<()> {
        let region = &self.owner().region;
        let take = |record: Record| Some((record.header.table(), record.key(region)));
        let (mut next, mut found) = (Some(Cursor::START), Vec::<(u16, OwnedKey)>::new());
        while let Some(at) = next {
            next = step_with(region, at, &take, &mut found)?;
            pause()?;
            for (number, key) in found.drain(..) {
                let looked = self.update(TableId { number, is_versioned: false }, key.as_key(), |old| {
                    old.into_iter().for_each(&mut look);
                    Change::Keep
                });
                match looked {
                    // Its table was dropped meanwhile.
                    Err(error) if error.kind() == Kind::Missing => self.check()?,
                    looked => drop(looked?),
                }
            }
        }
        Ok(())
    }

    /// Makes a change that a log tells of. The record has this sequence then, if one is given.
    pub fn restore(&self, table: u16, key: Key<'_>, sequence: Option<u64>, change: Restored<'_>) -> Result<()> {
        let table = TableId { number: table, is_versioned: sequence.is_some() };
        self.update(table, key, |old| change.of(old))?;
        let Some(sequence) = sequence else { return Ok(()) };
        let region = &self.owner().region;
        // Under the lock of the home, so that no cleaner copies the record meanwhile.
        self.update(table, key, |old| {
            if let Some(old) = old.filter(|old| old.record.header.is_versioned()) {
                old.record.set_sequence(region, sequence);
            }
            Change::Keep
        })?;
        Ok(())
    }

    /// Ends a restoration: no sequence up to `last` is drawn again, and parts that no record names go.
    pub fn end_restoration(&self, last: u64) -> Result<()> {
        let region = &self.owner().region;
        region.word(SEQUENCE).fetch_max(last + 1, Relaxed);
        let take = |record: Record| {
            let old = Old { region, record };
            match (record.header.table() == PARTS.number, old.large()) {
                (true, _) => match old.key() {
                    OwnedKey::Bytes(key) => part_of(&key).map(|(id, _)| (id, None)),
                    OwnedKey::Integer(_) => None,
                },
                (false, large) => large.map(|large| (large.id, Some(large.len))),
            }
        };
        let (mut next, mut found) = (Some(Cursor::START), Vec::new());
        let (mut named, mut parts) = (HashMap::new(), HashSet::new());
        while let Some(at) = next {
            next = step_with(region, at, &take, &mut found)?;
            for (id, len) in found.drain(..) {
                match len {
                    Some(len) => drop(named.insert(id, len)),
                    None => drop(parts.insert(id)),
                }
            }
        }
        let newest = parts.iter().chain(named.keys()).max().copied().unwrap_or(0);
        region.word(LARGE).fetch_max(newest + 1, Relaxed);
        for id in parts {
            large::remove_unnamed(self.owner(), id, named.get(&id).copied().unwrap_or(0));
        }
        Ok(())
    }

    /// Where a log publishes how far it is durable.
    pub fn watermark(&self) -> Watermark {
        Watermark(Arc::downgrade(self.shared_owner()))
    }

    /// Says that the log has every change, since nobody makes one any more.
    pub fn close_log(&self) {
        let region = &self.owner().region;
        region.word(WATERMARK).store(region.load(SEQUENCE).saturating_sub(1) | CLOSED, Release);
    }

    /// Whether the last owner closed the log, and nothing was changed since.
    pub fn is_log_closed(&self) -> bool {
        let region = &self.owner().region;
        region.load(WATERMARK) == region.load(SEQUENCE).saturating_sub(1) | CLOSED
    }
}

/// Says in the region how far the log is durable, for as long as the region is owned.
#[derive(Debug)]
pub struct Watermark(Weak<Owner>);

impl Watermark {
    /// All changes up to this sequence are on disk.
    pub fn set(&self, sequence: u64) {
        if let Some(owner) = self.0.upgrade() {
            owner.region.word(WATERMARK).store(sequence, Release);
        }
    }
}

impl View<'_> {
    /// The sequence that was drawn last.
    pub fn sequence(self) -> u64 {
        self.region.word(SEQUENCE).load(Acquire).saturating_sub(1)
    }

    /// The sequence up to which all changes are on disk; 0 where nothing is.
    pub fn durable(self) -> u64 {
        self.region.word(WATERMARK).load(Acquire) & !CLOSED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::testing::fixture::small;
    use crate::write::commit::{CommitHook, Committed, Effect};
    use std::sync::Mutex;

    const TABLE: TableId = TableId { number: 1, is_versioned: true };

    type Told = (u16, OwnedKey, Option<u64>, Owned);

    #[derive(Clone, Debug)]
    enum Owned {
        Removed,
        Written(u8, Vec<u8>, bool, Option<u64>),
        Grown(u64, Vec<u8>),
        Number(u64),
    }

    #[derive(Debug, Default)]
    struct Scribe(Mutex<Vec<Told>>);

    impl CommitHook for Scribe {
        fn commit(&self, change: &Committed<'_>) {
            let (old, told) = match &change.effect {
                Effect::Removed => (change.old.as_ref(), Owned::Removed),
                Effect::Written(new) => {
                    let value = new.value_in_record();
                    (Some(new), Owned::Written(new.kind(), value, new.is_large(), new.meta().expiry))
                }
                Effect::Grown(new, from) => {
                    (Some(new), Owned::Grown(*from, new.value_in_record()[*from as usize..].to_vec()))
                }
                Effect::Number(word) => (change.old.as_ref(), Owned::Number(*word)),
            };
            let old = old.unwrap();
            let kept = if matches!(change.effect, Effect::Written(_)) && old.sequence().is_some() {
                Some(change.sequence)
            } else {
                old.sequence()
            };
            self.0.lock().unwrap().push((old.table(), old.key(), kept, told));
        }
    }

    fn all(memory: &Memory) -> Vec<String> {
        let mut all = Vec::new();
        memory
            .look_at_all(
                || Ok(()),
                |old| {
                    let value = old.value_in_record();
                    all.push(format!("{} {:?} {:?} {value:?}", old.table(), old.key(), old.meta()));
                },
            )
            .unwrap();
        all.sort();
        all
    }

    #[test]
    fn what_a_hook_was_told_restores_every_record_with_its_version() {
        let scribe = Arc::new(Scribe::default());
        let options = Options { hook: Some(scribe.clone()), ..crate::testing::fixture::options(64, 4096) };
        let memory = crate::sound::Memory::anonymous(&options).unwrap();
        let unversioned = TableId { number: 9, is_versioned: false };
        for round in 0..40_u64 {
            for key in 0..20 {
                let value = vec![round as u8; (key * 7 + round) as usize % 90];
                memory.put(TABLE, Key::Integer(key), &value).unwrap();
                memory.append(TABLE, Key::Integer(100 + key % 3), 1, &value).unwrap();
                memory.update(unversioned, Key::Integer(key), |_| Change::Word { kind: 2, word: round }).unwrap();
            }
            memory.update(TABLE, Key::Integer(round % 20), |_| Change::Delete).unwrap();
        }
        memory.put(TABLE, Key::Bytes(b"long"), &[3; 5000]).unwrap();
        let copy = small(64, 4096);
        for (table, key, kept, told) in scribe.0.lock().unwrap().iter() {
            let change = match told {
                Owned::Removed => Restored::Removed,
                Owned::Written(kind, value, is_large, expiry) => {
                    Restored::Written { kind: *kind, value, is_large: *is_large, expiry: *expiry }
                }
                Owned::Grown(from, bytes) => Restored::Grown(*from, bytes),
                Owned::Number(word) => Restored::Number(*word),
            };
            copy.restore(*table, key.as_key(), *kept, change).unwrap();
        }
        let last = memory.view().sequence();
        copy.end_restoration(last).unwrap();
        assert_eq!(all(&copy), all(&memory));
        assert!(all(&memory).len() > 30);
        let version = copy.put(TABLE, Key::Integer(1), b"").unwrap().version.unwrap();
        assert_eq!(version >> 16, last + 1, "no version comes again");
    }

    #[test]
    fn parts_that_no_record_names_do_not_outlive_a_restoration() {
        let memory = small(64, 4096);
        let part = large::part_key(7, 0);
        let written = Restored::Written { kind: 0, value: &[1; 100], is_large: false, expiry: None };
        memory.restore(PARTS.number, Key::Bytes(&part), None, written).unwrap();
        assert_eq!(all(&memory).len(), 1);
        memory.end_restoration(10).unwrap();
        assert_eq!(all(&memory).len(), 0);
        assert_eq!(memory.owner().region.load(LARGE), 8);
    }
}
