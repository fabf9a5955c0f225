//! Values that are longer than a record may be.
//!
//! Such a value lies in parts, each a record of 64 KiB but for the last, in a table that no user sees; their
//! keys are a number used once, and the part's place. The key's own record holds that number and the length
//! of the value. So the cleaner moves parts as it moves everything, and what takes effect is one small
//! record.
//!
//! ```text
//! put:     parts under a new number  ──►  the key's record  ──►  the old parts go
//! append:  the last part grows, new ones follow  ──►  the key's record says the new length
//! read:    the key's record  ──►  its parts; if one is gone, the key's record again
//! ```
//!
//! Until the key's record names them, and once it does not any more, parts are of no use to anyone. Their
//! number and the key's hash stand in the superblock so long; an owner that dies then leaves them behind, and
//! its successor removes them.

use hammerspace_error::{Error, Kind, Result};

use crate::alloc::budget::Priority;
use crate::batch::intent;
use crate::index::bucket::{Locked, Patience};
use crate::owner::Owner;
use crate::read::{self, RecordMeta};
use crate::record::Record;
use crate::record::header::{INLINE_MAX, TABLE_OF_PARTS};
use crate::record::key::Key;
use crate::region::{LARGE, PENDING, PENDING_ENTRIES, Region};
use crate::sync::Ordering::Relaxed;
use crate::sync::lock;
use crate::write::change::{Change, Decision, Old, PartsRef};
use crate::write::update::{TableId, Target, update};

/// The longest value.
pub const VALUE_LEN_MAX: u64 = 1 << 30;
/// The table that parts are in.
pub(crate) const PARTS: TableId = TableId { number: TABLE_OF_PARTS, is_versioned: false };

/// Bytes of the value in each part but the last: with its header and its key a power of two, so that segments
/// are full of such records to their ends.
pub(crate) const PART_LEN: u64 = INLINE_MAX as u64 + 1 - 24;

pub(crate) fn part_key(id: u64, part: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&id.to_le_bytes());
    key[8..].copy_from_slice(&part.to_le_bytes());
    key
}

/// What `part_key` made a key of: number and place; `None` of another key.
pub(crate) fn part_of(key: &[u8]) -> Option<(u64, u64)> {
    let (words, []) = key.as_chunks::<8>() else { return None };
    let &[id, part] = words else { return None };
    Some((u64::from_le_bytes(id), u64::from_le_bytes(part)))
}

fn target<'k>(region: &Region, priority: Priority, key: &'k [u8; 16]) -> Target<'k> {
    Target::of(region, PARTS, Key::Bytes(key), priority)
}

fn hash(region: &Region, key: &[u8; 16]) -> u64 {
    Key::Bytes(key).hash(region.seed, PARTS.number)
}

/// Refuses values that are too long for anything.
fn check(len: u64) -> Result<()> {
    if len <= VALUE_LEN_MAX {
        return Ok(());
    }
    let finding = format!("a value of {len} bytes; values have at most {VALUE_LEN_MAX}");
    Err(Error::new(Kind::Invalid, finding).remedy("split the value over several keys"))
}

/// Parts that were written, and the note of them.
pub(crate) type Written<'o> = (PartsRef, Pending<'o>);

/// Writes the value of a key of this hash in parts, which nothing names yet.
pub(crate) fn write<'o>(owner: &'o Owner, priority: Priority, hash: u64, value: &[&[u8]]) -> Result<Written<'o>> {
    let id = owner.region.word(LARGE).fetch_add(1, Relaxed);
    let pending = Pending::begin(owner, id, hash)?;
    Ok((write_as(owner, priority, id, value)?, pending))
}

/// Writes a value in parts of this number, which nothing names yet. The caller has noted the number.
pub(crate) fn write_as(owner: &Owner, priority: Priority, id: u64, value: &[&[u8]]) -> Result<PartsRef> {
    check(value.iter().map(|piece| piece.len() as u64).sum())?;
    let mut large = PartsRef { id, len: 0 };
    for piece in value {
        // Nobody but us knows these parts: what is not there any more is damaged.
        let extended = extend(owner, priority, &mut large, piece);
        if let Err(error) = extended.and_then(|is_whole| is_whole.then_some(()).ok_or_else(|| incomplete(large))) {
            remove(owner, large);
            return Err(error);
        }
    }
    Ok(large)
}

/// Appends to the parts of a value. `false`, and nothing appended, if it has been replaced and its last part
/// removed.
pub(crate) fn extend(owner: &Owner, priority: Priority, large: &mut PartsRef, mut bytes: &[u8]) -> Result<bool> {
    check(large.len + bytes.len() as u64)?;
    while !bytes.is_empty() {
        let (part, within) = (large.len / PART_LEN, (large.len % PART_LEN) as usize);
        let (now, rest) = bytes.split_at(bytes.len().min(PART_LEN as usize - within));
        let key = part_key(large.id, part);
        let extended = update(owner, target(&owner.region, priority, &key), |old| extend_part(old, within, now))?;
        if !extended.result {
            return Ok(false);
        }
        large.len += now.len() as u64;
        bytes = rest;
    }
    Ok(true)
}

/// Lets a part have these bytes behind its first `within`. The result is `false` if the part is not there.
fn extend_part<'b>(old: Option<&Old<'_>>, within: usize, bytes: &'b [u8]) -> Decision<'b, bool> {
    let change = match old {
        // Left by an append that did not come to its end.
        Some(old) if old.len() > within as u64 => {
            let mut kept = old.value_in_record();
            kept.truncate(within);
            kept.extend_from_slice(bytes);
            Change::Put { kind: 0, value: kept.into(), expiry: None }
        }
        // A reader of the value must not take these bytes for the part.
        None if within > 0 => return Decision { change: Change::Keep, result: false },
        // Should the value be replaced meanwhile, the caller removes what is added.
        _ => Change::Append { kind: 0, bytes },
    };
    Decision { change, result: true }
}

/// Removes the parts of a value that nothing names.
fn remove(owner: &Owner, large: PartsRef) {
    remove_beyond(owner, 0, large);
}

/// Removes the parts that an append has added to the first `named` bytes of a value.
pub(crate) fn remove_beyond(owner: &Owner, named: u64, large: PartsRef) {
    let [first, end] = [named, large.len].map(|len| len.div_ceil(PART_LEN));
    for part in (first..end).rev() {
        remove_part(owner, large.id, part);
    }
}

/// Removes parts from this one on, wherever they end: who died may have been removing them from the middle
/// on, while another added some.
fn remove_from(owner: &Owner, id: u64, first: u64) {
    for part in first..VALUE_LEN_MAX.div_ceil(PART_LEN) {
        remove_part(owner, id, part);
    }
}

/// Removes the parts of a value that was being written, one after the other, when its owner died. The last
/// one goes first, so that what is left is found again.
pub(crate) fn remove_all(owner: &Owner, id: u64) {
    let region = &owner.region;
    let is_there = |part: &u64| {
        let key = part_key(id, *part);
        let found = read::read(region, PARTS.number, Key::Bytes(&key), hash(region, &key), &mut Vec::new());
        matches!(found, Ok(Some(_)))
    };
    let parts = (0..VALUE_LEN_MAX.div_ceil(PART_LEN)).take_while(is_there).count() as u64;
    for part in (0..parts).rev() {
        remove_part(owner, id, part);
    }
}

/// Removes the parts of this number beyond the first `len` bytes, which a record names.
pub(crate) fn remove_unnamed(owner: &Owner, id: u64, len: u64) {
    remove_from(owner, id, len.div_ceil(PART_LEN));
}

/// Says whether there was one.
fn remove_part(owner: &Owner, id: u64, part: u64) -> bool {
    let region = &owner.region;
    let key = part_key(id, part);
    let Ok(home) = Locked::of(region, hash(region, &key), owner.incarnation) else { return false };
    let found = target(region, Priority::Overwrite, &key).find(region, &home);
    if let Some(found) = &found {
        owner.remove(&home, found);
    }
    found.is_some()
}

/// Removes what an owner left behind that died while parts were written or removed.
pub(crate) fn remove_pending(owner: &Owner) {
    let region = &owner.region;
    for entry in 0..PENDING_ENTRIES {
        let [id, hash] = [0, 8].map(|offset| region.load(PENDING + entry * 16 + offset));
        if id != 0 && id != CLAIMED {
            // A home that cannot be looked at may name all of them.
            if let Ok(len) = named_len(owner, id, hash) {
                remove_from(owner, id, len.div_ceil(PART_LEN));
            }
        }
        region.store(PENDING + entry * 16, 0);
    }
}

/// The numbers of parts that somebody is writing or removing.
pub(crate) fn noted(region: &Region) -> impl Iterator<Item = u64> {
    let pending = (0..PENDING_ENTRIES).map(|entry| region.load(PENDING + entry * 16)).filter(|id| *id != 0);
    pending.chain(intent::parts(region))
}

/// How much of the parts of this number the record of a key of this hash names.
fn named_len(owner: &Owner, id: u64, hash: u64) -> Result<u64> {
    let region = &owner.region;
    let mut len = 0;
    Locked::of(region, hash, owner.incarnation)?.0.for_each(|_, slot| {
        let Some(record) = Record::of(region, slot.address()).filter(|record| record.fits(region)) else { return };
        len = Old { region, record }.large().filter(|large| large.id == id).map_or(len, |large| large.len);
    });
    Ok(len)
}

/// In place of a number, while an entry is being written.
const CLAIMED: u64 = u64::MAX;

/// A note in the region that parts are being written or removed, until their key's record names them or they
/// are gone.
pub(crate) struct Pending<'o> {
    region: &'o Region,
    entry: u64,
}

impl<'o> Pending<'o> {
    /// Waits for room among the notes. [`Kind::Busy`] if there is none for long: others write as many values,
    /// or there is damage.
    pub(crate) fn begin(owner: &'o Owner, id: u64, hash: u64) -> Result<Self> {
        let try_begin = || {
            let _beginning = lock(&owner.beginning);
            Self::try_begin(&owner.region, id, hash)
        };
        let mut patience = Patience::new();
        loop {
            if let Some(pending) = try_begin() {
                return Ok(pending);
            }
            if !patience.wait() {
                let finding = format!("{PENDING_ENTRIES} values in parts are being written, and none came to its end");
                return Err(Error::new(Kind::Busy, finding).at(PENDING).remedy(
                    "try again; if it stays so, the region is damaged: open the store anew, which clears them",
                ));
            }
        }
    }

    fn try_begin(region: &'o Region, id: u64, hash: u64) -> Option<Self> {
        let place = |entry: u64| PENDING + entry * 16;
        let claim = |entry: u64| region.word(place(entry)).compare_exchange(0, CLAIMED, Relaxed, Relaxed).is_ok();
        let entry = (0..PENDING_ENTRIES).find(|entry| claim(*entry))?;
        // The hash first: who finds the number with the hash of another key would take these parts for
        // nobody's.
        region.store(place(entry) + 8, hash);
        region.store(place(entry), id);
        Some(Self { region, entry })
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.region.store(PENDING + self.entry * 16, 0);
    }
}

/// Parts that nothing will name once their key's record has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orphan {
    large: PartsRef,
    /// Where they are noted, so that they do not outlive this owner. Who holds a home's lock cannot wait for
    /// a free entry.
    entry: Option<u64>,
}

impl Orphan {
    /// Those of a record that is about to go, whose key has this hash. The lock of its home is held.
    pub(crate) fn of(old: &Old<'_>, hash: u64) -> Option<Self> {
        let large = old.large()?;
        let pending = Pending::try_begin(old.region, large.id, hash);
        let entry = pending.as_ref().map(|pending| pending.entry);
        std::mem::forget(pending);
        Some(Self { large, entry })
    }

    /// Removes them: the record has changed.
    pub(crate) fn remove(self, owner: &Owner) {
        remove(owner, self.large);
        drop(self.entry.map(|entry| Pending { region: &owner.region, entry }));
    }
}

/// Appends the value to `out`. `false` if a part is not there: then the value is not the key's any more.
pub(crate) fn read(region: &Region, large: PartsRef, out: &mut Vec<u8>) -> Result<bool> {
    let start = out.len();
    let parts = large.len.div_ceil(PART_LEN);
    for part in 0..parts {
        let key = part_key(large.id, part);
        let wanted = (large.len - part * PART_LEN).min(PART_LEN) as usize;
        let before = out.len();
        let found = read::read(region, PARTS.number, Key::Bytes(&key), hash(region, &key), out)?;
        if found.is_none() || out.len() - before < wanted {
            out.truncate(start);
            return Ok(false);
        }
        out.truncate(before + wanted);
    }
    Ok(true)
}

/// Finds a key and appends its value to `out`, wherever that lies.
pub(crate) fn get(
    region: &Region,
    table: u16,
    key: Key<'_>,
    hash: u64,
    out: &mut Vec<u8>,
) -> Result<Option<RecordMeta>> {
    let start = out.len();
    let mut missed = None;
    for _ in 0..read::TRIES {
        let Some(seen) = read::read(region, table, key, hash, out)? else { return Ok(None) };
        if !seen.header.is_large() {
            return Ok(Some(seen));
        }
        let large = PartsRef::of(&out[start..]);
        out.truncate(start);
        // Parts go after the record has changed that names them, and numbers are used once.
        if missed == Some(large) {
            return Err(incomplete(large));
        }
        // A part that was appended to since is as long as it was, or longer; what was replaced is gone.
        if read(region, large, out)? {
            return Ok(Some(seen));
        }
        missed = Some(large);
    }
    Err(read::restless())
}

#[cold]
pub(crate) fn incomplete(large: PartsRef) -> Error {
    let finding = format!("a value of {} bytes lacks a part", large.len);
    Error::new(Kind::Corrupt, finding).remedy("put the value anew, and create the store anew soon")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::scan::Cursor;
    use crate::sound::Memory;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::change::Updated;

    const KEY: Key<'_> = Key::Integer(7);

    fn memory() -> Memory {
        small(32, 4096)
    }

    fn append(memory: &Memory, bytes: &[u8]) -> Result<Updated> {
        memory.append(TABLE, KEY, 0, bytes)
    }

    #[test]
    fn what_fits_into_its_record_does_not_lie_in_parts() {
        let memory = memory();
        append(&memory, &[1; INLINE_MAX]).unwrap();
        assert_eq!(memory.verify().records, 1);
        append(&memory, &[1; 1]).unwrap();
        assert_eq!(memory.verify().records, 1 + 2);
    }

    /// As when another thread changed it before the append had its turn: parts that were written for it go.
    #[test]
    fn what_has_become_short_meanwhile_does_not_lie_in_parts() {
        for turns in [1, 2] {
            let memory = memory();
            append(&memory, &[1; INLINE_MAX]).unwrap();
            let mut tries = 0;
            let decide = |_: Option<&Old<'_>>| {
                tries += 1;
                if tries <= turns {
                    return Change::Append { kind: 0, bytes: &[2; INLINE_MAX] };
                }
                Change::Put { kind: 0, value: b"short"[..].into(), expiry: None }
            };
            memory.update(TABLE, KEY, decide).unwrap();
            assert!(tries > turns);
            assert_eq!((memory.verify().findings, memory.verify().records), (Vec::new(), 1));
        }
    }

    #[test]
    fn an_append_that_is_refused_in_the_end_leaves_no_parts_behind() {
        let memory = memory();
        memory.drop_table(TABLE.number).unwrap();
        let refused = append(&memory, &[1; INLINE_MAX + 1]).unwrap_err();
        assert_eq!((refused.kind(), memory.verify().records), (Kind::Missing, 0));
    }

    /// As where there is no room for them: whoever is refused in any case is told so, and not that the store
    /// is full.
    #[test]
    fn of_a_value_that_is_not_wanted_no_part_is_written() {
        let memory = memory();
        let value = vec![1; 1 << 20];
        let put_if = |is_wanted: fn(Option<&Old<'_>>) -> bool| {
            memory.update(TABLE, KEY, |old| {
                let put = Change::Put { kind: 0, value: value.as_slice().into(), expiry: None };
                if is_wanted(old) { put } else { Change::Keep }
            })
        };
        memory.put(TABLE, KEY, &[1]).unwrap();
        let numbers = memory.view().region.load(LARGE);
        let refused = put_if(|old| old.is_none()).unwrap();
        assert_eq!((refused.before().is_some(), memory.verify().records), (true, 1));
        assert_eq!(memory.view().region.load(LARGE), numbers);
        assert_eq!(put_if(|old| old.is_some()).unwrap_err().kind(), Kind::Full);
    }

    /// As when its table was emptied meanwhile.
    #[test]
    fn an_append_that_is_not_wanted_in_the_end_leaves_the_value_as_it_was() {
        let memory = memory();
        append(&memory, &[1; INLINE_MAX + 100]).unwrap();
        let mut is_first = true;
        let bytes = [2; 2 * INLINE_MAX];
        let once = |_: Option<&Old<'_>>| {
            if std::mem::take(&mut is_first) { Change::Append { kind: 0, bytes: &bytes } } else { Change::Keep }
        };
        memory.update(TABLE, KEY, once).unwrap();
        assert_eq!((memory.verify().findings, memory.verify().records), (Vec::new(), 1 + 2));
        append(&memory, &[3; INLINE_MAX]).unwrap();
        let mut value = Vec::new();
        memory.view().get(TABLE.number, KEY, &mut value).unwrap();
        assert!(
            value[..INLINE_MAX + 100].iter().all(|byte| *byte == 1)
                && value[INLINE_MAX + 100..].iter().all(|byte| *byte == 3)
        );
        assert_eq!((value.len(), memory.verify().records), (2 * INLINE_MAX + 100, 1 + 3));
    }

    /// As when damage emptied the part's slot.
    #[test]
    fn an_append_to_a_value_that_lacks_its_last_part_is_refused() {
        let memory = memory();
        append(&memory, &[1; INLINE_MAX + 100]).unwrap();
        let mut value = Vec::new();
        let seen = read::read(&memory.owner().region, TABLE.number, KEY, memory.hash(TABLE, KEY), &mut value).unwrap();
        assert!(seen.unwrap().header.is_large() && remove_part(memory.owner(), PartsRef::of(&value).id, 1));
        assert_eq!(append(&memory, &[2; 200]).unwrap_err().kind(), Kind::Corrupt);
        let mut items = Vec::new();
        assert_eq!(memory.view().scan(TABLE.number, Cursor::START, 10, &mut items).unwrap(), None);
        assert_eq!(items.len(), 0);
        memory.put(TABLE, KEY, b"anew").unwrap();
    }

    /// As when an owner died while one thread removed a value and another had added parts to it.
    #[test]
    fn parts_behind_a_gap_are_removed_too() {
        let memory = memory();
        let (large, pending) = write(memory.owner(), Priority::User, 0, &[&[1; 5 * INLINE_MAX]]).unwrap();
        assert!(remove_part(memory.owner(), large.id, 2));
        std::mem::forget(pending);
        remove_pending(memory.owner());
        assert_eq!((memory.verify().findings, memory.verify().records), (Vec::new(), 0));
    }

    /// As when damage filled them.
    #[test]
    fn notes_that_nobody_removes_are_not_waited_for_for_ever() {
        let memory = memory();
        let region = &memory.owner().region;
        (0..PENDING_ENTRIES).for_each(|entry| region.store(PENDING + entry * 16, CLAIMED));
        let refused = append(&memory, &[1; INLINE_MAX + 1]).unwrap_err();
        assert_eq!((refused.kind(), memory.verify().records), (Kind::Busy, 0));
        // As the next owner does.
        remove_pending(memory.owner());
        append(&memory, &[1; INLINE_MAX + 1]).unwrap();
        assert_eq!(memory.verify().records, 1 + 2);
    }

    /// As when somebody replaced the value: who still reads it must not find other bytes in the part's place.
    #[test]
    fn a_part_that_was_removed_is_not_begun_anew() {
        let memory = memory().broken();
        let (mut large, _pending) = write(memory.owner(), Priority::User, 0, &[&[1; INLINE_MAX + 100]]).unwrap();
        assert!(remove_part(memory.owner(), large.id, 1));
        assert!(!extend(memory.owner(), Priority::User, &mut large, &[2; 200]).unwrap());
        assert_eq!((large.len, memory.verify().records), (INLINE_MAX as u64 + 100, 1));
    }
}
