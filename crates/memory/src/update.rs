//! Changing one record.
//!
//! A change takes a seat, then the lock of the key's home, and gives both back. Under the lock it looks at the key's record, lets
//! its caller decide, writes the new record to the seat's head and swings the slot to it. What may take long comes without the
//! lock: a new segment for the head, cleaning, splitting a piece. Then everything begins anew, and the caller is asked again.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};

use crate::change::{Change, Old, Outcome, Value};
use crate::flight::{ask_for_home, ask_for_record};
use crate::index::bucket::Locked;
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::large::Orphan;
use crate::owner::Owner;
use crate::pool::For;
use crate::read::Seen;
use crate::record::{Head, INLINE_MAX, KEY_LEN_MAX, Key, Record, Traits};
use crate::region::{Region, SEQUENCE};
use crate::seat::Seat;
use crate::segment::Stream;
use crate::sync::AtomicU64;
use crate::sync::Ordering::{Relaxed, Release};

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
    /// Who asks for what it takes beyond what it gives back.
    who: For,
}

/// A record that there is, and the slot that names it.
struct Found<'r> {
    at: &'r AtomicU64,
    slot: Slot,
    old: Old<'r>,
}

/// A record to be written.
enum Draft<'c> {
    New {
        traits: Traits,
        value: Cow<'c, [u8]>,
    },
    /// This record, these bytes longer.
    Longer(Record, &'c [u8]),
}

/// What one try came to.
enum Try {
    Done,
    /// The head of this stream has no room for a record of this size.
    NoRoom {
        stream: Stream,
        size: u64,
        who: For,
    },
    /// The key's piece, which is this one, has no slot for it.
    NoSlot(Place),
}

/// Changes the record of a key as `decide` says, who sees it as it is; it may be asked again, and counts the last time.
///
/// Readers see the record as before or as after. [`Kind::Full`] if it would take more room and there is none for `who`.
#[inline]
pub(crate) fn update<'c>(
    owner: &Owner,
    who: For,
    table: TableId,
    key: Key<'_>,
    hash: u64,
    mut decide: impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Outcome> {
    if key.len() > KEY_LEN_MAX {
        let finding = format!("a key of {} bytes; keys have at most {KEY_LEN_MAX}", key.len());
        return Err(Error::new(Kind::Invalid, finding).remedy("use a shorter key, such as a hash of it"));
    }
    let target = Target { table, key, hash, who };
    // Before the seat: nothing is asked for while a lock is taken.
    ask_for_home(&owner.region, hash);
    let mut seat = owner.take_seat();
    // On the seat: whoever drops a table waits for all seats.
    if owner.dropped.contains(table.number) {
        let error = Error::new(Kind::Missing, "the table was dropped");
        return Err(error.remedy("create it again, or take a new handle of it"));
    }
    let mut outcome = Outcome::default();
    let mut orphan = None;
    loop {
        match attempt(owner, &mut seat, target, &mut decide, &mut outcome, &mut orphan)? {
            Try::Done => break,
            Try::NoRoom { stream, size, who } => owner.make_room(&mut seat, stream, size, who)?,
            Try::NoSlot(place) => owner.split(place, hash)?,
        }
    }
    drop(seat);
    if let Some(orphan) = orphan {
        orphan.remove(owner);
    }
    Ok(outcome)
}

#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn attempt<'c>(
    owner: &Owner,
    seat: &mut Seat,
    target: Target<'_>,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
    outcome: &mut Outcome,
    orphan: &mut Option<Orphan>,
) -> Result<Try> {
    let region = &owner.region;
    let home = Locked::of(region, target.hash, owner.incarnation)?;
    let found = home.0.find(|at, slot| {
        ask_for_record(region, slot);
        let record = Record::at(region, slot.address());
        let is_it = record.is_of(region, target.table.number, target.key);
        is_it.then_some(Found { at, slot, old: Old { region, record } })
    });
    outcome.seen = found.as_ref().map(|found| Seen::of(region, found.old.record)).filter(|seen| !seen.is_expired());
    let visible = found.as_ref().map(|found| &found.old).filter(|_| outcome.seen.is_some());
    let change = match decide(visible) {
        Change::Expire(_) if visible.is_none() => Change::Keep,
        change => change,
    };
    if let Change::Keep = change {
        outcome.version = outcome.seen.and_then(|seen| seen.version());
        return Ok(Try::Done);
    }
    // Only these need the room that the old record claims.
    if let (Change::Append { .. } | Change::Word { .. }, Some(old)) = (&change, visible) {
        old.record.check(region)?;
    }
    if let Some(now) = visible.and_then(|old| replace_in_place(region, old, &change)) {
        outcome.version = now.version(region);
        return Ok(Try::Done);
    }
    let replaced = found.as_ref().filter(|found| found.old.large().is_some_and(|large| !change.keeps(large)));
    let draft = draft(visible, change)?;
    *orphan = replaced.and_then(|found| Orphan::of(&found.old, target.hash));
    if let Some(draft) = draft {
        let mut tried = write(owner, seat, target, &home, found.as_ref(), draft, &mut outcome.version);
        if let Try::NoRoom { size, who, .. } = &mut tried
            && *size <= given_back(found.as_ref(), orphan.as_ref())
        {
            *who = For::Keeper;
        }
        if !matches!(tried, Try::Done)
            && let Some(orphan) = orphan.take()
        {
            orphan.spare(region);
        }
        return Ok(tried);
    }
    if let Some(found) = found {
        home.0.remove(found.at, found.slot);
        seat.bury(region, found.old.record);
    }
    Ok(Try::Done)
}

/// Bytes that come back when a record gives way, and the parts with it that nothing names then.
fn given_back(found: Option<&Found<'_>>, orphan: Option<&Orphan>) -> u64 {
    found.map_or(0, |found| found.old.record.head.size()) + orphan.map_or(0, Orphan::len)
}

/// Makes the change where the record lies, if that can be done without a reader seeing half of it; gives the record as it is then.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn replace_in_place(region: &Region, old: &Old<'_>, change: &Change<'_>) -> Option<Record> {
    let (record, head) = (old.record, old.record.head);
    if head.is_large() {
        return None;
    }
    match *change {
        Change::Append { bytes, .. } => {
            let len = head.value_len() + bytes.len();
            let grown = head.grown_to(len);
            head.has_room_for(len).then(|| {
                region.write_bytes(record.value_address() + head.value_len() as u64, bytes);
                region.store(record.address, grown.0);
                Record { head: grown, ..record }
            })
        }
        // Its version would have to change in the same instant.
        Change::Word { kind, word }
            if kind == head.kind() && head.value_len() == size_of::<u64>() && !head.is_versioned() =>
        {
            // Where it has grown, a reader may have the head of a shorter value, and would take some of these bytes for it.
            let fits = record.value_address().is_multiple_of(8) && !head.has_grown();
            fits.then(|| {
                region.word(record.value_address()).store(word, Relaxed);
                record
            })
        }
        _ => None,
    }
}

/// The record that a change asks for; `None` if that is no record.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn draft<'c>(old: Option<&Old<'_>>, change: Change<'c>) -> Result<Option<Draft<'c>>> {
    let mut traits = Traits::default();
    let value = match change {
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
            let head = old.record.head;
            (traits.kind, traits.expiry, traits.is_large) = (head.kind(), expiry, head.is_large());
            let mut value = Vec::new();
            old.record.value(old.region).append_to(&mut value);
            Cow::Owned(value)
        }
        Change::Append { kind, bytes } => {
            if let Some(old) = old {
                check_len(old.len() as usize + bytes.len())?;
                return Ok(Some(Draft::Longer(old.record, bytes)));
            }
            traits.kind = kind;
            Cow::Borrowed(bytes)
        }
        Change::Word { kind, word } => {
            (traits.kind, traits.expiry) = (kind, old.and_then(|old| old.meta().expiry));
            Cow::Owned(word.to_le_bytes().to_vec())
        }
    };
    check_len(value.len())?;
    Ok(Some(Draft::New { traits, value }))
}

#[inline]
fn check_len(len: usize) -> Result<()> {
    if len <= INLINE_MAX {
        return Ok(());
    }
    Err(Error::new(Kind::Invalid, format!("{len} bytes do not fit into one record of at most {INLINE_MAX}")))
}

/// Writes a record and lets the key's slot name it.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn write(
    owner: &Owner,
    seat: &mut Seat,
    Target { table, key, hash, who }: Target<'_>,
    home: &Locked<'_>,
    found: Option<&Found<'_>>,
    draft: Draft<'_>,
    version: &mut Option<u64>,
) -> Try {
    let region = &owner.region;
    let stream = found.map_or(Stream::LONG, |found| owner.stream_of(found.slot));
    let old_size = found.map_or(0, |found| found.old.record.head.size());
    let head = match &draft {
        Draft::Longer(record, bytes) => record.head.regrown_to(record.head.value_len() + bytes.len()),
        Draft::New { traits, value } => {
            let sequence = table.is_versioned.then_some(0);
            Head::new(table.number, key, value.len(), &Traits { sequence, ..*traits }).within(old_size)
        }
    };
    // Ends with this function: when the slot names what it was filled with, and the old record is counted.
    let filling = seat.hole(owner, head, old_size);
    let target = seat.head(stream);
    if filling.is_none() && !target.has_room(region, head.size()) {
        return Try::NoRoom { stream, size: head.size(), who };
    }
    let sequence = table.is_versioned.then(|| region.word(SEQUENCE).fetch_add(1, Relaxed));
    *version = sequence.map(|sequence| head.version_of(sequence));
    let address = match draft {
        Draft::Longer(record, bytes) => {
            let finish = |copy: Record| {
                if let Some(sequence) = sequence {
                    Record::set_sequence(region, copy.address, sequence);
                }
                region.write_bytes(copy.value_address() + record.head.value_len() as u64, bytes);
            };
            match &filling {
                Some(filling) => filling.write_copy(record, head, finish),
                None => target.append_copy(region, record, head, finish),
            }
        }
        Draft::New { mut traits, value } => {
            traits.sequence = sequence;
            match &filling {
                Some(filling) => filling.write(owner.live(), head, &traits, key, &value),
                None => target.append(region, head, &traits, key, &value),
            }
        }
    };
    seat.enliven(head);
    if filling.is_some() {
        seat.count_filled(owner, head);
    }
    if let Some(found) = found {
        seat.holes.add(region, found.old.record, head.size());
        found.at.store(found.slot.moved_to(address).0, Release);
        seat.bury(region, found.old.record);
    } else if !home.0.insert(Slot::new(hash, 0, address)) {
        seat.bury(region, Record { address, head });
        return Try::NoSlot(Place::of(region, hash));
    }
    Try::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TABLE, small};
    use crate::index::bucket::Home;

    /// As when a reader has looked at the head, and somebody makes a number of what was text.
    #[test]
    fn a_number_does_not_take_the_place_of_a_shorter_value() {
        let memory = small(32, 4096);
        let key = Key::Integer(1);
        memory.put(TABLE, key, 0, b"1234567", None, |_| true).unwrap();
        let (region, hash) = (&memory.owner().region, memory.hash(TABLE, key));
        let slot = Home::new(region, Place::of(region, hash), hash).find(|_, slot| Some(slot)).unwrap();
        let seen = Record::at(region, slot.address());
        memory.append(TABLE, key, 0, b"8").unwrap();
        memory.update(TABLE, key, |_| Change::Word { kind: 0, word: 0 }).unwrap();
        let mut value = Vec::new();
        seen.value(region).append_to(&mut value);
        assert_eq!(value, b"1234567");
    }
}
