//! Changing one record.
//!
//! A change takes a seat, then the lock of the key's home, and gives both back. Under the lock it looks at the key's record, lets
//! its caller decide, writes the new record to the seat's head and swings the slot to it. What may take long comes without the
//! lock: a new segment for the head, cleaning, splitting a piece. Then everything begins anew, and the caller is asked again.

use std::borrow::Cow;

use hammerspace_error::{Error, Kind, Result};

use crate::change::{Change, Old, Outcome, Value};
use crate::flight::{ask_for_home, ask_for_record};
use crate::header::{Header, INLINE_MAX, Traits};
use crate::holes::Filling;
use crate::index::bucket::Locked;
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::key::{KEY_LEN_MAX, Key};
use crate::large::Orphan;
use crate::owner::Owner;
use crate::pool::For;
use crate::read::Seen;
use crate::record::Record;
use crate::region::SEQUENCE;
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
    let mut place = ask_for_home(&owner.region, hash);
    let mut seat = owner.take_seat();
    // On the seat, as whoever drops a table waits for all of them.
    if owner.dropped.contains(table.number) {
        let error = Error::new(Kind::Missing, "the table was dropped");
        return Err(error.remedy("create it again, or take a new handle of it"));
    }
    let mut outcome = Outcome::default();
    let mut orphan = None;
    loop {
        match attempt(owner, &mut seat, target, place, &mut decide, &mut outcome, &mut orphan)? {
            Try::Done => break,
            Try::NoRoom { stream, size, who } => owner.make_room(&mut seat, stream, size, who)?,
            Try::NoSlot(place) => owner.split(place, hash)?,
        }
        place = Place::of(&owner.region, hash);
    }
    drop(seat);
    if let Some(orphan) = orphan {
        orphan.remove(owner);
    }
    Ok(outcome)
}

/// One try. A call of its own: in the loop around it much would be worked out ahead, before the home is asked for.
#[inline(never)]
fn attempt<'c>(
    owner: &Owner,
    seat: &mut Seat,
    target: Target<'_>,
    place: Place,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
    outcome: &mut Outcome,
    orphan: &mut Option<Orphan>,
) -> Result<Try> {
    let region = &owner.region;
    let home = Locked::at(region, place, target.hash, owner.incarnation)?;
    let found = home.0.find(|at, slot| {
        ask_for_record(region, slot);
        let record = Record::at(region, slot.address());
        let is_it = record.is_of(region, target.table.number, target.key);
        is_it.then_some(Found { at, slot, old: Old { region, record } })
    });
    outcome.seen = found.as_ref().map(|found| Seen::of(region, found.old.record)).filter(|seen| !seen.is_expired());
    let visible = found.as_ref().filter(|_| outcome.seen.is_some());
    let written = &mut outcome.version;
    match (decide(visible.map(|found| &found.old)), visible) {
        (Change::Keep, _) | (Change::Expire(_), None) => {
            *written = outcome.seen.and_then(|seen| seen.version());
            Ok(Try::Done)
        }
        (Change::Append { bytes, .. }, Some(found)) => grow(owner, seat, target, &home, found, bytes, written),
        (Change::Word { kind, word }, Some(found)) if replace_word(found, kind, word)? => {
            *written = found.old.record.version(region);
            Ok(Try::Done)
        }
        (change, _) => replace(owner, seat, target, &home, found.as_ref(), visible.is_some(), change, written, orphan),
    }
}

/// Makes the value longer: where it lies, if there is room behind it, or in a record of its own.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn grow(
    owner: &Owner,
    seat: &mut Seat,
    target: Target<'_>,
    home: &Locked<'_>,
    found: &Found<'_>,
    bytes: &[u8],
    written: &mut Option<u64>,
) -> Result<Try> {
    let (region, old) = (&owner.region, found.old.record);
    old.check(region)?;
    let old_len = old.header.value_len();
    let len = old_len + bytes.len();
    if old.has_room_for(len) {
        let now = Record { header: old.header.grown_to(len), ..old };
        region.write_bytes(old.value_address() + old_len as u64, bytes);
        region.store(old.address, now.header.0);
        *written = now.version(region);
        return Ok(Try::Done);
    }
    check_len(found.old.len() as usize + bytes.len())?;
    let header = old.header.regrown_to(len);
    Ok(write(owner, seat, target, home, Some(found), header, old.expiry(region), written, |record, sequence, _| {
        old.copy(region, record);
        if let Some(sequence) = sequence {
            record.set_sequence(region, sequence);
        }
        region.write_bytes(record.value_address() + old_len as u64, bytes);
    }))
}

/// Replaces a number where it lies. `false` if a reader could see half of that.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn replace_word(Found { old: Old { region, record }, .. }: &Found<'_>, kind: u8, word: u64) -> Result<bool> {
    record.check(region)?;
    let (header, address) = (record.header, record.value_address());
    let is_word = kind == header.kind() && header.value_len() == size_of::<u64>() && !header.is_large();
    // A version would have to change in the same instant. And where it has grown, a reader may have the header of a shorter value, and would
    // take some of these bytes for it.
    let fits = is_word && !header.is_versioned() && !header.has_grown() && address.is_multiple_of(8);
    if fits {
        region.word(address).store(word, Relaxed);
    }
    Ok(fits)
}

/// Lets another record take the place of what there is, or nothing.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn replace(
    owner: &Owner,
    seat: &mut Seat,
    target: Target<'_>,
    home: &Locked<'_>,
    found: Option<&Found<'_>>,
    is_visible: bool,
    change: Change<'_>,
    written: &mut Option<u64>,
    orphan: &mut Option<Orphan>,
) -> Result<Try> {
    let region = &owner.region;
    let replaced = found.filter(|found| found.old.large().is_some_and(|large| !change.keeps(large)));
    let draft = draft(found.filter(|_| is_visible).map(|found| &found.old), change)?;
    *orphan = replaced.and_then(|found| Orphan::of(&found.old, target.hash));
    let Some((traits, value)) = draft else {
        if let Some(found) = found {
            home.0.remove(found.at, found.slot);
            seat.bury(region, found.old.record);
        }
        return Ok(Try::Done);
    };
    let old_size = found.map_or(0, |found| found.old.record.size);
    let gives_back = old_size + orphan.as_ref().map_or(0, Orphan::len);
    let sequence = target.table.is_versioned.then_some(0);
    let header =
        Header::new(target.table.number, target.key, value.len(), &Traits { sequence, ..traits }).within(old_size);
    let fill = |record: Record, sequence, filling: Option<&Filling<'_>>| {
        let address = record.write(region, &Traits { sequence, ..traits }, target.key);
        match filling {
            Some(filling) => filling.write_value(owner.live(), address, &value),
            None => region.write_bytes(address, &value),
        }
    };
    let who = if header.size() <= gives_back { For::Keeper } else { target.who };
    let tried = write(owner, seat, Target { who, ..target }, home, found, header, traits.expiry, written, fill);
    if !matches!(tried, Try::Done)
        && let Some(orphan) = orphan.take()
    {
        orphan.spare(region);
    }
    Ok(tried)
}

/// The record that a change asks for; `None` if that is no record.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn draft<'c>(old: Option<&Old<'_>>, change: Change<'c>) -> Result<Option<(Traits, Cow<'c, [u8]>)>> {
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
            let header = old.record.header;
            (traits.kind, traits.expiry, traits.is_large) = (header.kind(), expiry, header.is_large());
            let mut value = Vec::new();
            old.record.value(old.region).append_to(&mut value);
            Cow::Owned(value)
        }
        Change::Append { kind, bytes } => {
            traits.kind = kind;
            Cow::Borrowed(bytes)
        }
        Change::Word { kind, word } => {
            (traits.kind, traits.expiry) = (kind, old.and_then(|old| old.meta().expiry));
            Cow::Owned(word.to_le_bytes().to_vec())
        }
    };
    check_len(value.len())?;
    Ok(Some((traits, value)))
}

#[inline]
fn check_len(len: usize) -> Result<()> {
    if len <= INLINE_MAX {
        return Ok(());
    }
    Err(Error::new(Kind::Invalid, format!("{len} bytes do not fit into one record of at most {INLINE_MAX}")))
}

/// Lets the key's slot name a record with this header, which `fill` writes: its sequence is told, and the hole if it goes to one.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn write(
    owner: &Owner,
    seat: &mut Seat,
    Target { table, hash, who, .. }: Target<'_>,
    home: &Locked<'_>,
    found: Option<&Found<'_>>,
    header: Header,
    expiry: Option<u64>,
    written: &mut Option<u64>,
    fill: impl FnOnce(Record, Option<u64>, Option<&Filling<'_>>),
) -> Try {
    let region = &owner.region;
    let stream = found.map_or(Stream::LONG, |found| owner.stream_of(found.slot));
    let (size, old_size) = (header.size(), found.map_or(0, |found| found.old.record.size));
    // Ends with this function: when the slot names what it was filled with, and the old record is counted.
    let filling = seat.hole(owner, header, size, old_size);
    let target = seat.head(stream);
    if filling.is_none() && !(target.has_room(region, size) && target.is_for(who)) {
        return Try::NoRoom { stream, size, who };
    }
    let sequence = table.is_versioned.then(|| region.word(SEQUENCE).fetch_add(1, Relaxed));
    *written = sequence.map(|sequence| header.version_of(sequence));
    let address = filling.as_ref().map_or_else(|| target.next(), |filling| filling.refill(header, size));
    let record = Record { address, header, size };
    fill(record, sequence, filling.as_ref());
    seat.enliven(size);
    match &filling {
        Some(_) => seat.count_filled(owner, size),
        None => seat.head(stream).commit(region, record, expiry),
    }
    if let Some(found) = found {
        seat.holes.add(region, found.old.record, size);
        found.at.store(found.slot.moved_to(address).0, Release);
        seat.bury(region, found.old.record);
    } else if !home.0.insert(Slot::new(hash, 0, address)) {
        seat.bury(region, record);
        return Try::NoSlot(Place::of(region, hash));
    }
    Try::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TABLE, small};
    use crate::index::bucket::Home;

    /// As when a reader has looked at the header, and somebody makes a number of what was text.
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
