//! Changing one record.
//!
//! A change takes a seat, then the lock of the key's home, and gives both back. Under the lock it looks at the key's record, lets
//! its caller decide, writes the new record to the seat's head and swings the slot to it. What may take long comes without the
//! lock: a new segment for the head, cleaning, splitting a piece. Then everything begins anew, and the caller is asked again.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};

use crate::change::{Change, Old, Outcome, Value};
use crate::index::bucket::Locked;
use crate::index::slot::Slot;
use crate::owner::{Owner, Seat, is_expired};
use crate::pool::For;
use crate::record::{Head, INLINE_MAX, KEY_LEN_MAX, Key, Record, Traits, granule_for};
use crate::region::{Region, SEQUENCE};
use crate::segment::Stream;
use crate::sync::Ordering::Relaxed;

/// A table as its writers know it: what its records say, and whether they have versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId {
    /// The number in its records.
    pub number: u16,
    /// Whether each of its records has a version.
    pub is_versioned: bool,
}

/// Which record is to change.
#[derive(Clone, Copy)]
struct Target<'k> {
    table: TableId,
    key: Key<'k>,
    hash: u64,
}

/// A record that there is, and the slot that names it.
struct Found<'r> {
    at: u64,
    slot: Slot,
    old: Old<'r>,
}

/// A record to be written.
struct Draft<'c> {
    traits: Traits,
    granule: u32,
    /// The value: what is kept of the old one, and what comes after it.
    value: [Cow<'c, [u8]>; 2],
}

/// What one try came to.
enum Try {
    Done(Outcome),
    /// The head of this stream has no room for a record of this size.
    NoRoom {
        stream: Stream,
        size: u64,
        who: For,
    },
    /// The key's piece has no slot for it.
    NoSlot,
}

/// Changes the record of a key as `decide` says, who sees it as it is; it may be asked again, and counts the last time.
///
/// Readers see the record as before or as after. [`Kind::Full`] if it would take more room and there is none.
pub(crate) fn update<'c>(
    owner: &Owner,
    table: TableId,
    key: Key<'_>,
    hash: u64,
    mut decide: impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Outcome> {
    if key.len() > KEY_LEN_MAX {
        let finding = format!("a key of {} bytes; keys have at most {KEY_LEN_MAX}", key.len());
        return Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key, such as a hash of it"));
    }
    let target = Target { table, key, hash };
    let mut seat = owner.take_seat();
    // On the seat: whoever drops a table waits for all seats.
    if owner.dropped.contains(table.number) {
        let error = Error::new(Kind::Missing, "the table was dropped");
        return Err(error.remedy("create it again, or take a new handle of it"));
    }
    loop {
        match attempt(owner, &mut seat, target, &mut decide)? {
            Try::Done(outcome) => return Ok(outcome),
            Try::NoRoom { stream, size, who } => owner.make_room(&mut seat, stream, size, who)?,
            Try::NoSlot => owner.split(hash)?,
        }
    }
}

fn attempt<'c>(
    owner: &Owner,
    seat: &mut Seat,
    target: Target<'_>,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Try> {
    let region = &owner.region;
    let home = Locked::of(region, target.hash, owner.incarnation);
    let found = home.0.find(|at, slot| {
        let record = Record::at(region, slot.address());
        let is_it = record.is_of(region, target.table.number, target.key);
        is_it.then(|| Found { at, slot, old: Old { region, record, traits: record.traits(region) } })
    });
    let visible = found.as_ref().map(|found| &found.old).filter(|old| !is_expired(old.traits.expiry));
    let change = match decide(visible) {
        Change::Expire(_) if visible.is_none() => Change::Keep,
        change => change,
    };
    let mut outcome = Outcome { before: visible.map(Old::meta), ..Outcome::default() };
    if let Change::Keep = change {
        outcome.version = visible.and_then(|old| old.traits.version);
        return Ok(Try::Done(outcome));
    }
    if visible.is_some_and(|old| replace_in_place(region, old, &change)) {
        return Ok(Try::Done(outcome));
    }
    outcome.orphan = found.as_ref().and_then(|found| found.old.large()).filter(|large| !change.keeps(*large));
    if let Some(draft) = draft(visible, change)? {
        return Ok(write(owner, seat, target, &home, found.as_ref(), draft, outcome));
    }
    if let Some(found) = found {
        home.0.remove(found.at, found.slot);
        seat.bury(region, found.old.record);
    }
    Ok(Try::Done(outcome))
}

/// Makes the change where the record lies, if that can be done without a reader seeing half of it.
fn replace_in_place(region: &Region, old: &Old<'_>, change: &Change<'_>) -> bool {
    let (record, head) = (old.record, old.record.head);
    // A version is a promise about one value: it changes with the record.
    if head.is_versioned() || head.is_large() {
        return false;
    }
    match *change {
        Change::Append { kind, bytes } if kind == head.kind() => {
            let len = head.value_len() + bytes.len();
            let fits = head.has_room_for(len);
            if fits {
                region.write_bytes(record.value_address() + head.value_len() as u64, bytes);
                region.store(record.address, head.grown_to(len).0);
            }
            fits
        }
        Change::Word { kind, word } if kind == head.kind() && head.value_len() == size_of::<u64>() => {
            let fits = record.value_address().is_multiple_of(8);
            if fits {
                region.word(record.value_address()).store(word, Relaxed);
            }
            fits
        }
        _ => false,
    }
}

/// The record that a change asks for; `None` if that is no record.
fn draft<'c>(old: Option<&Old<'_>>, change: Change<'c>) -> Result<Option<Draft<'c>>> {
    let mut traits = Traits { expiry: old.and_then(|old| old.traits.expiry), ..Traits::default() };
    let mut kept = Vec::new();
    let added = match change {
        Change::Keep | Change::Delete => return Ok(None),
        Change::Put { kind, value, expiry } => {
            (traits.kind, traits.expiry) = (kind, expiry);
            match value {
                Value::Bytes(bytes) => bytes,
                Value::Parts(large) => {
                    traits.is_large = true;
                    Cow::Owned(large.to_bytes().to_vec())
                }
            }
        }
        Change::Expire(expiry) => {
            let Some(old) = old else { return Ok(None) };
            (traits.kind, traits.expiry, traits.is_large) = (old.traits.kind, expiry, old.traits.is_large);
            old.record.read_value(old.region, &mut kept);
            Cow::Borrowed(&[][..])
        }
        Change::Append { kind, bytes } => {
            traits.kind = kind;
            traits.is_grown = old.is_some_and(|old| old.read(&mut kept));
            Cow::Borrowed(bytes)
        }
        Change::Word { kind, word } => {
            traits.kind = kind;
            Cow::Owned(word.to_le_bytes().to_vec())
        }
    };
    let len = kept.len() + added.len();
    if len > INLINE_MAX {
        let finding = format!("{len} bytes do not fit into one record of at most {INLINE_MAX}");
        return Err(Error::new(Kind::Invalid, finding));
    }
    let granule = if traits.is_grown { granule_for(len) } else { 0 };
    Ok(Some(Draft { traits, granule, value: [Cow::Owned(kept), added] }))
}

/// Writes a record and lets the key's slot name it.
fn write(
    owner: &Owner,
    seat: &mut Seat,
    Target { table, key, hash }: Target<'_>,
    home: &Locked<'_>,
    found: Option<&Found<'_>>,
    Draft { mut traits, granule, value }: Draft<'_>,
    mut outcome: Outcome,
) -> Try {
    let region = &owner.region;
    traits.version = table.is_versioned.then_some(0);
    let head = Head::new(table.number, key, value[0].len() + value[1].len(), &traits, granule);
    let stream = found.map_or(Stream::LONG, |found| owner.stream_of(found.slot));
    if !seat.head(stream).has_room(region, head.size()) {
        let gives_back = found.map_or(0, |found| found.old.record.head.size());
        let who = if head.size() <= gives_back { For::Keeper } else { For::User };
        return Try::NoRoom { stream, size: head.size(), who };
    }
    if table.is_versioned {
        traits.version = Some(region.word(SEQUENCE).fetch_add(1, Relaxed));
        outcome.version = traits.version;
    }
    let address = seat.head(stream).append(region, head, &traits, key, [&value[0], &value[1]]);
    seat.enliven(head);
    match found {
        Some(found) => {
            region.store(found.at, found.slot.moved_to(address).0);
            seat.bury(region, found.old.record);
        }
        None if home.0.insert(Slot::new(hash, 0, address)) => {}
        None => {
            seat.bury(region, Record { address, head });
            return Try::NoSlot;
        }
    }
    Try::Done(outcome)
}
