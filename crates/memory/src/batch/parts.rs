//! Long values of a batch: their parts are written before the batch is decided for the last time, and named
//! if it is then decided as before.
//!
//! What is put does not depend on what there was, so its parts are named if the same bytes are put in the
//! end. A value that is appended to is written anew as a whole: its old parts stay as they are until the
//! batch takes place. Its new ones are named only if the record is still the one they were written for.

use std::collections::BTreeMap;

use hammerspace_error::Result;

use crate::batch::intent::{self, NUMBERS_MAX};
use crate::batch::staged::Net;
use crate::owner::Owner;
use crate::parts::Base;
use crate::parts::large::{self, incomplete, remove_beyond, write_as};
use crate::read;
use crate::region::LARGE;
use crate::sync::Ordering::Relaxed;
use crate::sync::lock;
use crate::testing::flaw::Flaw;
use crate::write::change::{Change, Old, PartsRef, Value};
use crate::write::update::Target;

/// A key's value that has to be put in parts.
pub(crate) struct Wanted {
    key: usize,
    /// What the bytes are appended to, if they are.
    base: Option<Base>,
    bytes: Vec<u8>,
}

/// Parts of the keys' values.
pub(crate) struct Longs<'o> {
    owner: &'o Owner,
    /// The first number of theirs, and the next; 0 while there are none.
    first: u64,
    next: u64,
    written: BTreeMap<usize, (Wanted, PartsRef)>,
    /// The last base of which a part was missing.
    missed: Option<Base>,
}

impl Wanted {
    pub(crate) fn new(key: usize, old: Option<&Old<'_>>, net: &Net<'_>) -> Self {
        match net {
            Net::Append { bytes, .. } => Self { key, base: old.map(Base::of), bytes: bytes.to_vec() },
            Net::Put { value, .. } => Self { key, base: None, bytes: value.to_vec() },
            _ => unreachable!("only values that are put or appended to are long"),
        }
    }
}

impl<'o> Longs<'o> {
    pub(crate) fn new(owner: &'o Owner) -> Self {
        Self { owner, first: 0, next: 0, written: BTreeMap::new(), missed: None }
    }

    /// Whether there are any parts that no record names yet.
    pub(crate) fn is_used(&self) -> bool {
        self.first != 0
    }

    /// The keys, and the parts that were written for them.
    pub(crate) fn written(&self) -> impl Iterator<Item = (usize, PartsRef)> {
        self.written.iter().map(|(key, (_, large))| (*key, *large))
    }

    /// The change that names the parts, if they are what was decided.
    pub(crate) fn instead_of<'n>(&self, key: usize, old: Option<&Old<'_>>, net: &Net<'_>) -> Option<Change<'n>> {
        let (wanted, large) = self.written.get(&key)?;
        let value = Value::Parts(*large);
        match net {
            Net::Put { kind, value: bytes, expiry } if wanted.base.is_none() && **bytes == *wanted.bytes => {
                Some(Change::Put { kind: *kind, value, expiry: *expiry })
            }
            Net::Append { bytes, .. } if old.map(Base::of) == wanted.base && **bytes == *wanted.bytes => {
                let (kind, expiry) = (old?.kind(), old?.meta().expiry);
                Some(Change::Put { kind, value, expiry })
            }
            _ => None,
        }
    }

    /// Writes values, whose numbers are noted in the region first. Nobody is on the caller's writer slot.
    pub(crate) fn write(&mut self, keys: &[Target<'_>], wanted: Vec<Wanted>) -> Result<()> {
        for wanted in wanted {
            if let Some((_, stale)) = self.written.remove(&wanted.key) {
                remove_beyond(self.owner, 0, stale);
            }
            let Some(before) = self.read_base(&wanted)? else { continue };
            let (id, priority) = (self.draw()?, keys[wanted.key].priority);
            let large = write_as(self.owner, priority, id, &[&before, &wanted.bytes])?;
            self.written.insert(wanted.key, (wanted, large));
            Flaw::DiedOverParts.strike(&self.owner.region);
        }
        Ok(())
    }

    /// The value that bytes are appended to. `None` if parts of it have gone meanwhile.
    fn read_base(&mut self, wanted: &Wanted) -> Result<Option<Vec<u8>>> {
        let Some(base) = &wanted.base else { return Ok(Some(Vec::new())) };
        let Some(parts) = base.parts() else { return Ok(Some(base.value().to_vec())) };
        let mut value = Vec::new();
        if large::read(&self.owner.region, parts, &mut value)? {
            return Ok(Some(value));
        }
        // Parts go after the record has changed that names them.
        if self.missed.as_ref() == Some(base) {
            return Err(incomplete(parts));
        }
        self.missed = Some(base.clone());
        Ok(None)
    }

    /// A number for parts.
    fn draw(&mut self) -> Result<u64> {
        let region = &self.owner.region;
        if self.first == 0 {
            self.first = region.word(LARGE).fetch_add(NUMBERS_MAX, Relaxed);
            self.next = self.first + 1;
            let _beginning = lock(&self.owner.beginning);
            intent::set_parts(region, self.first..self.next);
            return Ok(self.first);
        }
        // A pause waits until these are named or gone.
        self.next += 1;
        intent::set_parts(region, self.first..self.next);
        if self.next - self.first < NUMBERS_MAX { Ok(self.next - 1) } else { Err(read::restless()) }
    }

    /// The batch has taken place: its parts are named.
    pub(crate) fn forget(&mut self) {
        self.written.clear();
        if std::mem::take(&mut self.first) != 0 {
            intent::set_parts(&self.owner.region, 0..0);
        }
    }
}

impl Drop for Longs<'_> {
    /// Removes the parts if the batch has not taken place.
    fn drop(&mut self) {
        for (_, large) in self.written.values() {
            remove_beyond(self.owner, 0, *large);
        }
        if self.first != 0 {
            intent::set_parts(&self.owner.region, 0..0);
        }
    }
}
