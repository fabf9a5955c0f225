//! Changing one record: the way from a request to the commit point.
//!
//! ```text
//! writer slot ──► lock the home ──► find ──► decide ──► plan ──► place ──► write ──► commit
//! ```
//!
//! Whatever may take long comes without the lock: a new segment for the head, cleaning, splitting an index
//! page, parts of a long value. Then the change begins anew, and its caller decides again, seeing the record
//! as it is by then.

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::budget::Priority;
use crate::index::bucket::{HomeBucket, Locked};
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::owner::Owner;
use crate::parts::large::Orphan;
use crate::parts::{self, Parts, Wanted};
use crate::read::RecordMeta;
use crate::read::prefetched::{ask_for_home, ask_for_record};
use crate::record::Record;
use crate::record::header::Header;
use crate::record::key::Key;
use crate::region::Region;
use crate::region::counters::Counted;
use crate::region::segment::Stream;
use crate::sync::AtomicU64;
use crate::write::change::{Change, Decision, Old, Updated};
use crate::write::commit::{Commit, New};
use crate::write::plan::{Draft, Plan, check_key};
use crate::write::writer_slot::WriterSlot;

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
pub(crate) struct Target<'k> {
    pub(crate) table: TableId,
    pub(crate) key: Key<'k>,
    pub(crate) hash: u64,
    /// For what it takes beyond what it gives back.
    pub(crate) priority: Priority,
}

/// A record that there is, and the slot that names it.
pub(crate) struct Found<'r> {
    pub(crate) at: &'r AtomicU64,
    pub(crate) slot: Slot,
    pub(crate) old: Old<'r>,
}

/// A change that was made, or decided not to be.
pub(crate) struct Done {
    pub(crate) seen: Option<RecordMeta>,
    pub(crate) version: Option<u64>,
}

/// What a change came to.
pub(crate) enum Changed<'c> {
    Done(Done),
    /// The value has to be put in parts first.
    TooLong(Box<Wanted<'c>>),
}

/// What one try came to.
enum Try<'c> {
    Done(Done, Option<Box<Orphan>>),
    TooLong(Box<Wanted<'c>>),
    /// The head of this stream has no room for a record of this size.
    NoRoom {
        stream: Stream,
        size: u64,
        priority: Priority,
    },
    /// The key's page, which is this one, has no slot for it.
    NoSlot(Place),
}

impl<'k> Target<'k> {
    pub(crate) fn of(region: &Region, table: TableId, key: Key<'k>, priority: Priority) -> Self {
        Self { table, key, hash: key.hash(region.seed, table.number), priority }
    }

    /// Its record, if there is one; the home is the key's.
    #[inline]
    pub(crate) fn find<'r>(&self, region: &'r Region, home: &Locked<'r>) -> Option<Found<'r>> {
        self.find_in(region, home.0)
    }

    /// The same in a home that is locked.
    #[inline]
    pub(crate) fn find_in<'r>(&self, region: &'r Region, home: HomeBucket<'r>) -> Option<Found<'r>> {
        home.find(|at, slot| {
            ask_for_record(region, slot);
            // Damage may have made the slot lead nowhere.
            let record = Record::of(region, slot.address())?;
            let is_it = record.is_of(region, self.table.number, self.key);
            is_it.then_some(Found { at, slot, old: Old { region, record } })
        })
    }
}

/// Changes the record of a key as `decide` says, given the record there is. It may be asked again, and its
/// last answer counts.
///
/// Readers see the record as before or as after. [`Kind::Full`] if it would take more room and there is none.
#[inline]
pub(crate) fn update<'c, R>(
    owner: &Owner,
    target: Target<'_>,
    mut decide: impl FnMut(Option<&Old<'_>>) -> Decision<'c, R>,
) -> Result<Updated<R>> {
    // Before the writer slot: nothing is asked for while a lock is taken.
    let place = ask_for_home(&owner.region, target.hash);
    update_at(owner, target, place, &mut decide)
}

/// The same where the directory shows `place` for the key, or did.
#[inline]
pub(crate) fn update_at<'c, R>(
    owner: &Owner,
    target: Target<'_>,
    place: Place,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Decision<'c, R>,
) -> Result<Updated<R>> {
    // Kept here, so that less is carried down and up again.
    let mut last = None;
    let decide = &mut |old: Option<&Old<'_>>| {
        let Decision { change, result } = decide(old);
        last = Some(result);
        change
    };
    let done = match change(owner, target, place, None, decide)? {
        Changed::Done(done) => done,
        Changed::TooLong(wanted) => parts::update(owner, target, wanted, decide)?,
    };
    let result = last.expect("it was decided at least once");
    Ok(Updated { seen: done.seen, version: done.version, result })
}

/// Makes a change of one record, whose value is in `parts` if it is too long for a record.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
pub(crate) fn change<'c>(
    owner: &Owner,
    target: Target<'_>,
    mut place: Place,
    parts: Option<&Parts<'_, '_>>,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Changed<'c>> {
    check_key(target.key)?;
    let mut writer = owner.take_writer_slot();
    // With the writer slot taken, since dropping a table waits for all of them.
    if owner.dropped.contains(target.table.number) {
        return Err(missing_table());
    }
    owner.ready_counters(&mut writer, target.table.number)?;
    loop {
        match attempt(owner, &mut writer, target, place, parts, decide)? {
            Try::Done(done, orphan) => {
                drop(writer);
                if let Some(orphan) = orphan {
                    orphan.remove(owner);
                }
                return Ok(Changed::Done(done));
            }
            Try::TooLong(wanted) => return Ok(Changed::TooLong(wanted)),
            Try::NoRoom { stream, size, priority } => owner.make_room(&mut writer, stream, size, priority)?,
            Try::NoSlot(place) => owner.split(place, target.hash)?,
        }
        place = Place::of(&owner.region, target.hash);
    }
}

#[cold]
pub(crate) fn missing_table() -> Error {
    let error = Error::new(Kind::Missing, "the table was dropped");
    error.remedy("create it again, or take a new handle of it")
}

/// One try. A call of its own: inlined into the loop, much would be worked out ahead, before the home is
/// asked for.
#[inline(never)]
fn attempt<'c>(
    owner: &Owner,
    writer: &mut WriterSlot,
    target: Target<'_>,
    place: Place,
    parts: Option<&Parts<'_, '_>>,
    decide: &mut impl FnMut(Option<&Old<'_>>) -> Change<'c>,
) -> Result<Try<'c>> {
    let region = &owner.region;
    let home = Locked::at(region, place, target.hash, owner.incarnation)?;
    let found = target.find(region, &home);
    let seen = found.as_ref().map(|found| RecordMeta::of(region, found.old.record)).filter(|seen| !seen.is_expired());
    let visible = found.as_ref().filter(|_| seen.is_some()).map(|found| &found.old);
    let mut change = decide(visible);
    if let Some(parts) = parts {
        change = parts.instead_of(visible, change);
    }
    let replaced = found.as_ref().map_or(0, |found| found.old.record.size);
    let done = |version| Ok(Try::Done(Done { seen, version }, None));
    match (Plan::of(target.table, target.key, visible, replaced, change)?, &found) {
        (Plan::Write(draft), found) => Ok(replace(owner, writer, target, &home, found.as_ref(), seen, &draft)),
        (Plan::Grow(header, bytes), Some(found)) => done(grow(owner, writer, &home, found, header, bytes)),
        (Plan::Word(word), Some(found)) => {
            owner.commit(&home, found.becomes(New::Word(word)));
            done(found.old.record.version(region))
        }
        (Plan::Remove, Some(found)) => {
            let orphan = remove(owner, writer, target, &home, found);
            Ok(Try::Done(Done { seen, version: None }, orphan))
        }
        (Plan::Remove, None) => done(None),
        (Plan::Keep, _) => done(seen.and_then(|seen| seen.version())),
        (Plan::Long(change), _) => Ok(Try::TooLong(Box::new(Wanted::new(visible, *change)))),
        (Plan::Grow(..) | Plan::Word(_), None) => unreachable!("what changes in place is there"),
    }
}

/// Makes the value longer where it lies.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn grow(
    owner: &Owner,
    writer: &WriterSlot,
    home: &Locked<'_>,
    found: &Found<'_>,
    header: Header,
    bytes: &[u8],
) -> Option<u64> {
    let (region, old) = (&owner.region, found.old.record);
    region.write_bytes(old.value_address() + old.header.value_len() as u64, bytes);
    owner.commit(home, found.becomes(New::Grown(header)));
    writer.tally(region, Counted::grown(bytes.len()));
    Record { header, ..old }.version(region)
}

/// Lets nothing take the place of a record. Gives the parts that nothing names any more.
fn remove(
    owner: &Owner,
    writer: &mut WriterSlot,
    target: Target<'_>,
    home: &Locked<'_>,
    found: &Found<'_>,
) -> Option<Box<Orphan>> {
    // Noted before nothing names them.
    let orphan = found.old.large().and_then(|_| orphan_of(found, target));
    let gone = Counted::of(&owner.region, found.old.record);
    owner.commit(home, found.becomes(New::Nothing));
    writer.mark_dead(&owner.region, found.old.record);
    writer.tally(&owner.region, Counted::default().minus(gone));
    orphan
}

/// Lets another record take the place of what there is, or of nothing.
#[expect(clippy::inline_always, reason = "one straight line for each kind of change: calls move structures about")]
#[inline(always)]
fn replace<'c>(
    owner: &Owner,
    writer: &mut WriterSlot,
    target: Target<'_>,
    home: &Locked<'_>,
    found: Option<&Found<'_>>,
    seen: Option<RecordMeta>,
    draft: &Draft<'_>,
) -> Try<'c> {
    let region = &owner.region;
    let size = draft.header.size();
    let (old_size, old_parts) = found.map_or((0, None), |found| (found.old.record.size, found.old.large()));
    let orphaned = old_parts.filter(|parts| !draft.names(*parts));
    let freed = old_size + orphaned.map_or(0, |parts| parts.len);
    let priority = if draft.is_within(freed) { Priority::Overwrite } else { target.priority };
    let stream = found.map_or(Stream::LONG, |found| owner.stream_of(found.slot));
    // Dropped at the end: when the slot names what it was filled with, and the old record is counted.
    let filling = writer.hole(owner, draft.header, size, old_size);
    let head = writer.head(stream);
    if filling.is_none() && !(head.has_room(region, size) && head.is_for(priority)) {
        return Try::NoRoom { stream, size, priority };
    }
    let (at, slot) = match found {
        Some(found) => (found.at, found.slot),
        None => match home.0.reserve(target.hash) {
            Some(reserved) => reserved,
            None => return Try::NoSlot(Place::of(region, target.hash)),
        },
    };
    let address = filling.as_ref().map_or_else(|| head.next(), |filling| filling.refill(draft.header, size));
    let record = Record::new(address, draft.header);
    match (draft.write(region, record, target.key), &filling) {
        (Some((address, value)), Some(filling)) => filling.write_value(owner.live(), address, value),
        (Some((address, value)), None) => region.write_bytes(address, value),
        (None, _) => {}
    }
    writer.add_live(size);
    match &filling {
        Some(_) => writer.count_filled(owner, size),
        None => writer.head(stream).commit(region, record, draft.expiry),
    }
    let orphan = orphaned.and(found).and_then(|found| orphan_of(found, target));
    let old = found.map(|found| found.old.record);
    if let Some(old) = old {
        writer.holes.add(region, old, size);
    }
    let added = old.map_or_else(|| Counted::of(region, record), |old| Counted::of_replacing(region, old, record));
    let sequence = owner.commit(home, Commit { at, slot, old, new: New::Record(record) });
    if let Some(old) = old {
        writer.mark_dead(region, old);
    }
    writer.tally(region, added);
    let version = sequence.filter(|_| record.header.is_versioned()).map(|sequence| record.header.version_of(sequence));
    Try::Done(Done { seen, version }, orphan)
}

/// The parts of a record's value, in a box, as few records have any.
#[cold]
fn orphan_of(found: &Found<'_>, target: Target<'_>) -> Option<Box<Orphan>> {
    Orphan::of(&found.old, target.hash).map(Box::new)
}

impl<'r> Found<'r> {
    pub(crate) fn new(region: &'r Region, at: &'r AtomicU64, slot: Slot) -> Self {
        Self { at, slot, old: Old { region, record: Record::at(region, slot.address()) } }
    }

    #[inline]
    pub(crate) fn becomes(&self, new: New) -> Commit<'r> {
        Commit { at: self.at, slot: self.slot, old: Some(self.old.record), new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bucket::HomeBucket;
    use crate::testing::fixture::{TABLE, small};

    /// As when a reader has looked at the header, and somebody makes a number of what was text.
    #[test]
    fn a_number_does_not_take_the_place_of_a_shorter_value() {
        let memory = small(32, 4096);
        let key = Key::Integer(1);
        memory.put(TABLE, key, b"1234567").unwrap();
        let (region, hash) = (&memory.owner().region, memory.hash(TABLE, key));
        let slot = HomeBucket::new(region, Place::of(region, hash), hash).find(|_, slot| Some(slot)).unwrap();
        let seen = Record::at(region, slot.address());
        memory.append(TABLE, key, 0, b"8").unwrap();
        memory.update(TABLE, key, |_| Change::Word { kind: 0, word: 0 }).unwrap();
        let mut value = Vec::new();
        seen.value(region).append_to(&mut value);
        assert_eq!(value, b"1234567");
    }
}
