//! Changes by which a value becomes too long for its record: its parts are written first, and named if the
//! change is then decided as before.
//!
//! ```text
//! TooLong (Wanted) ──► Parts::write ──► the change again, with these parts ──► named, or removed
//! ```
//!
//! What is put does not depend on what there was: its parts are named if the same bytes are put in the end.
//! What is appended does: its parts are named only if the record is still the one they were written for.

pub(crate) mod large;

use std::cell::Cell;

use hammerspace_error::{Kind, Result};

use crate::alloc::budget::Priority;
use crate::owner::Owner;
use crate::parts::large::{Pending, Written, extend, incomplete, remove_beyond, write};
use crate::read::prefetched::ask_for_home;
use crate::read::{self, RecordMeta};
use crate::region::Region;
use crate::sync::{MutexGuard, lock};
use crate::write::change::{Change, Old, PartsRef, Value};
use crate::write::update::{self, Changed, Done, Target};

/// How long the value of a key is, if it lies in parts.
fn len_in_parts(region: &Region, target: Target<'_>) -> Result<u64> {
    let mut value = Vec::new();
    let seen = read::read(region, target.table.number, target.key, target.hash, &mut value)?;
    Ok(if seen.is_some_and(|seen| seen.header.is_large()) { PartsRef::of(&value).len } else { 0 })
}

/// A change that makes a value too long for its record, and the record it was decided for.
pub(crate) struct Wanted<'c> {
    change: Change<'c>,
    base: Option<Base>,
}

/// A record as it was when a change was decided: what is known of it, and the value that lies in it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Base {
    seen: RecordMeta,
    value: Vec<u8>,
}

impl Base {
    pub(crate) fn of(old: &Old<'_>) -> Self {
        Self { seen: RecordMeta::of(old.region, old.record), value: old.value_in_record() }
    }

    /// Writes its value with these bytes behind it: only these, where it lies in parts. `None`, and nothing
    /// written, if its last part is not there.
    fn lengthen<'o>(&self, owner: &'o Owner, target: Target<'_>, bytes: &[u8]) -> Result<Option<Written<'o>>> {
        let Some(before) = self.parts() else {
            return write(owner, target.priority, target.hash, &[&self.value, bytes]).map(Some);
        };
        let pending = Pending::begin(owner, before.id, target.hash)?;
        let mut large = before;
        match extend(owner, target.priority, &mut large, bytes) {
            Ok(is_there) => Ok(is_there.then_some((large, pending))),
            Err(error) => {
                remove_beyond(owner, before.len, large);
                Err(error)
            }
        }
    }

    /// Its value, as far as it lies in the record.
    pub(crate) fn value(&self) -> &[u8] {
        &self.value
    }

    /// Where its value lies, if in parts.
    pub(crate) fn parts(&self) -> Option<PartsRef> {
        self.seen.header.is_large().then(|| PartsRef::of(&self.value))
    }
}

impl<'c> Wanted<'c> {
    #[cold]
    pub(crate) fn new(old: Option<&Old<'_>>, change: Change<'c>) -> Self {
        // What is put does not depend on what there was.
        let is_append = matches!(change, Change::Append { .. });
        Self { change, base: old.filter(|_| is_append).map(Base::of) }
    }

    fn is_append(&self) -> bool {
        matches!(self.change, Change::Append { .. })
    }
}

/// The turn of a change that no other may be made beside.
type LongValueTurn<'o> = Option<MutexGuard<'o, ()>>;

/// Parts that were written for a change, which nothing names yet.
pub(crate) struct Parts<'o, 'w> {
    owner: &'o Owner,
    wanted: &'w Wanted<'w>,
    large: PartsRef,
    /// So many bytes of them the key's record names already.
    named: u64,
    /// Whether the change that was decided last lets the key's record name all of them.
    is_wanted: Cell<bool>,
    _pending: Pending<'o>,
    _turn: LongValueTurn<'o>,
}

impl<'o, 'w> Parts<'o, 'w> {
    /// `None` if a part that was to grow is not there.
    fn write(
        owner: &'o Owner,
        target: Target<'_>,
        wanted: &'w Wanted<'w>,
        turn: LongValueTurn<'o>,
    ) -> Result<Option<Self>> {
        let written = match (&wanted.change, &wanted.base) {
            (Change::Append { bytes, .. }, Some(base)) => {
                base.lengthen(owner, target, bytes)?.map(|parts| (parts, turn))
            }
            (Change::Append { bytes, .. }, None) => Some((write(owner, target.priority, target.hash, &[bytes])?, turn)),
            (Change::Put { value: Value::Bytes(value), .. }, _) => Some(write_value(owner, target, value, turn)?),
            _ => unreachable!("only values that are put or appended to are long"),
        };
        let named = wanted.base.as_ref().and_then(Base::parts).map_or(0, |parts| parts.len);
        Ok(written.map(|((large, pending), turn)| Self {
            owner,
            wanted,
            large,
            named,
            is_wanted: Cell::new(false),
            _pending: pending,
            _turn: turn,
        }))
    }

    /// The change to make: what was decided, or that the record names these parts, if this is what they were
    /// written for.
    pub(crate) fn instead_of<'c>(&self, old: Option<&Old<'_>>, change: Change<'c>) -> Change<'c> {
        let value = Value::Parts(self.large);
        let (named, is_wanted) = match (change, &self.wanted.change) {
            (Change::Append { kind, .. }, Change::Append { .. }) if old.map(Base::of) == self.wanted.base => {
                let expiry = old.and_then(|old| old.meta().expiry);
                (Change::Put { kind, value, expiry }, true)
            }
            (
                Change::Put { kind, value: Value::Bytes(now), expiry },
                Change::Put { value: Value::Bytes(written), .. },
            ) if now == *written => (Change::Put { kind, value, expiry }, true),
            (change, _) => (change, false),
        };
        self.is_wanted.set(is_wanted);
        named
    }

    /// Ends the change: parts that nothing names go.
    fn settle(self, changed: &Result<Changed<'_>>) {
        if !matches!(changed, Ok(Changed::Done(_))) || !self.is_wanted.get() {
            remove_beyond(self.owner, self.named, self.large);
        }
    }
}

/// Writes a value that is to be put. In a full store there is some room for one that takes the place of a
/// value in parts and is no longer: both exist for a while. One such value at a time.
fn write_value<'o>(
    owner: &'o Owner,
    target: Target<'_>,
    value: &[u8],
    turn: LongValueTurn<'o>,
) -> Result<(Written<'o>, LongValueTurn<'o>)> {
    match write(owner, target.priority, target.hash, &[value]) {
        Err(full) if full.kind() == Kind::Full => {
            let turn = turn.unwrap_or_else(|| lock(&owner.large));
            if value.len() as u64 > len_in_parts(&owner.region, target)? {
                return Err(full);
            }
            Ok((write(owner, Priority::Replacement, target.hash, &[value])?, Some(turn)))
        }
        written => Ok((written?, turn)),
    }
}

/// Makes a change by which a value becomes too long for its record.
///
/// The parts are written first, and named if the change is then decided as before. The old parts go when the
/// record names the new ones; in a full store there is some room for both, for one such value at a time.
/// Appends take turns, as they write to the same part.
#[cold]
pub(crate) fn update<'c>(
    owner: &Owner,
    target: Target<'_>,
    mut wanted: Box<Wanted<'c>>,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Done> {
    let mut ask = |parts: Option<&Parts<'_, '_>>| {
        update::change(owner, target, ask_for_home(&owner.region, target.hash), parts, decide)
    };
    let mut missed = None;
    for _ in 0..read::TRIES {
        let turn = wanted.is_append().then(|| lock(&owner.large));
        if turn.is_some() {
            // It may have grown before it was its turn.
            match ask(None)? {
                Changed::Done(done) => return Ok(done),
                Changed::TooLong(again) => wanted = again,
            }
        }
        let Some(parts) = Parts::write(owner, target, &wanted, turn)? else {
            // Parts go after the record has changed that names them.
            if missed == wanted.base {
                return Err(incomplete(wanted.base.and_then(|base| base.parts()).unwrap_or_default()));
            }
            missed = wanted.base.take();
            continue;
        };
        let changed = ask(Some(&parts));
        parts.settle(&changed);
        match changed? {
            Changed::Done(done) => return Ok(done),
            Changed::TooLong(again) => wanted = again,
        }
    }
    Err(read::restless())
}
