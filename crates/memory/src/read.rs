//! Reading while others write: by the owner's threads and by any other process, with the same few loads.
//!
//! ```text
//! slot  ──  generation of its segment  ──  slot again: the record was whole, and named, when the generation was this
//! header, key, value …
//! generation again: nothing in the segment was written over, so all that was read belongs to that record
//! ```
//!
//! A read takes effect when it looks at the slot for the second time; or when the value grew where it lies,
//! if it shows more than there was then: one load of the header gives it length and version. A key is absent
//! if it was found nowhere and the directory is as before. Nothing is written and nothing waited for: a
//! reader may be stopped or killed at any instant, and nobody knows. Readers begin anew when something
//! changed under them. That hardly ever happens: a segment that became free is the last to be used again, and
//! one of which holes are filled has that done now and then (`holes.rs`).

pub(crate) mod prefetched;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod view;
pub(crate) mod walk;

use std::time::{SystemTime, UNIX_EPOCH};

use hammerspace_error::{Error, Kind, Result};

use crate::index::bucket::HomeBucket;
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::read::prefetched::Prefetched;
use crate::record::Record;
use crate::record::header::Header;
use crate::record::key::Key;
use crate::region::words::Bytes;
use crate::region::{Generation, Region};
use crate::sync::AtomicU64;
use crate::sync::Ordering::Acquire;
use crate::testing::flaw::Flaw;

/// How often a read begins anew before it says that the region cannot be read.
pub(crate) const TRIES: u32 = 10_000;

/// What a read found beside the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What the value is, a number that whoever wrote it chose.
    pub kind: u8,
    /// The version, in a table that has versions.
    pub version: Option<u64>,
    /// When the record ceases to be, in milliseconds since 1970.
    pub expiry: Option<u64>,
}

/// What a record said of itself at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordMeta {
    pub(crate) header: Header,
    version: u64,
    expiry: u64,
}

impl RecordMeta {
    #[inline]
    pub(crate) fn of(region: &Region, record: Record) -> Self {
        Self {
            header: record.header,
            version: record.version(region).unwrap_or(0),
            expiry: record.expiry(region).unwrap_or(0),
        }
    }

    #[inline]
    pub(crate) fn expiry(&self) -> Option<u64> {
        self.header.is_expiring().then_some(self.expiry)
    }

    #[inline]
    pub(crate) fn version(&self) -> Option<u64> {
        self.header.is_versioned().then_some(self.version)
    }

    #[inline]
    pub(crate) fn meta(&self) -> Meta {
        Meta { kind: self.header.kind(), version: self.version(), expiry: self.expiry() }
    }

    /// Whether the record has ceased to be.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.header.is_expiring() && self.expiry <= now()
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64)
}

/// A record that a slot named while its segment was in one use.
#[derive(Clone, Copy)]
struct RecordRef<'r> {
    record: Record,
    generation: Generation<'r>,
}

impl RecordRef<'_> {
    /// Appends the record's value to `out`; `None`, and nothing appended, if something was written over in
    /// the segment by then.
    #[expect(clippy::inline_always, reason = "see `read_prefetched`")]
    #[inline(always)]
    fn read(self, region: &Region, value: Bytes<'_>, out: &mut Vec<u8>) -> Option<RecordMeta> {
        let start = out.len();
        value.append_to(out);
        let seen = RecordMeta::of(region, self.record);
        if self.generation.still_holds() {
            return Some(seen);
        }
        out.truncate(start);
        None
    }
}

/// What came of looking for something.
enum Lookup<T> {
    Hit(T),
    /// It is not there.
    Nothing,
    /// It changed meanwhile.
    Changed,
}

/// Finds a key and appends its value to `out`, as the record has it.
pub(crate) fn read(
    region: &Region,
    table: u16,
    key: Key<'_>,
    hash: u64,
    out: &mut Vec<u8>,
) -> Result<Option<RecordMeta>> {
    for _ in 0..TRIES {
        let place = Place::of(region, hash);
        match find(region, HomeBucket::new(region, place, hash), table, key) {
            Lookup::Hit((found, value)) => {
                if let Some(seen) = found.read(region, value, out) {
                    return Ok(Some(seen));
                }
            }
            Lookup::Nothing if is_unchanged(place, region) => return Ok(None),
            _ => std::hint::spin_loop(),
        }
    }
    Err(restless())
}

/// What is known of a key, with no look at its value.
pub(crate) fn meta(region: &Region, table: u16, key: Key<'_>, hash: u64) -> Result<Option<RecordMeta>> {
    for _ in 0..TRIES {
        let place = Place::of(region, hash);
        match find(region, HomeBucket::new(region, place, hash), table, key) {
            Lookup::Hit((found, _)) => {
                let seen = RecordMeta::of(region, found.record);
                if found.generation.still_holds() {
                    return Ok(Some(seen));
                }
            }
            Lookup::Nothing if is_unchanged(place, region) => return Ok(None),
            _ => std::hint::spin_loop(),
        }
    }
    Err(restless())
}

/// As [`read`], once the index has been looked at. What is usual is one straight line, so that the processor
/// gets on to the next lookup while it waits for memory: the first slot is the key's, or there is none.
/// Whatever else may be, `read` begins anew.
#[expect(clippy::inline_always, reason = "calls move structures about")]
#[inline(always)]
pub(crate) fn read_prefetched(
    region: &Region,
    table: u16,
    key: Key<'_>,
    prefetched: Prefetched<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<RecordMeta>> {
    let seen = match prefetched.slot {
        Some(slot) => read_at(region, table, key, slot, out),
        None if is_unchanged(prefetched.place, region) => return Ok(None),
        None => None,
    };
    if seen.is_some() { Ok(seen) } else { read(region, table, key, prefetched.hash, out) }
}

/// Reads by a slot that may be the key's. `None`, and nothing appended, where that does not lead to it: that
/// says nothing of the key.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn read_at(
    region: &Region,
    table: u16,
    key: Key<'_>,
    (at, slot): (&AtomicU64, Slot),
    out: &mut Vec<u8>,
) -> Option<RecordMeta> {
    let found = record_ref(region, at, slot)?;
    let value = found.record.value_of(region, table, key)?;
    found.read(region, value, out)
}

/// Whether the directory is as before, so that what was found nowhere is not there.
#[inline]
fn is_unchanged(place: Place, region: &Region) -> bool {
    Flaw::DirectoryOnce.is_planted() || place.is_current_after(region)
}

/// Looks for the record of a key.
#[inline]
fn find<'r>(region: &'r Region, home: HomeBucket<'r>, table: u16, key: Key<'_>) -> Lookup<(RecordRef<'r>, Bytes<'r>)> {
    let found = home.find(|at, slot| {
        let Some(found) = record_ref(region, at, slot) else { return (!leads_nowhere(region, slot)).then_some(None) };
        if let Some(value) = found.record.value_of(region, table, key) {
            return Some(Some((found, value)));
        }
        // Another key's, if it was a record at all.
        if found.generation.still_holds() { None } else { Some(None) }
    });
    match found {
        Some(Some(found)) => Lookup::Hit(found),
        Some(None) => Lookup::Changed,
        None => Lookup::Nothing,
    }
}

/// The record that a slot names, if it still names it once the generation of the segment is known.
#[inline]
fn record_ref<'r>(region: &'r Region, at: &AtomicU64, slot: Slot) -> Option<RecordRef<'r>> {
    let generation = region.generation(slot.address())?;
    let is_named = Flaw::SlotOnce.is_planted() || at.load(Acquire) == slot.0;
    (is_named && !region.has_expired(slot.address()))
        .then(|| RecordRef { record: Record::at(region, slot.address()), generation })
}

/// Whether a slot names no place where records are, which only damage does, or a segment that has expired:
/// neither changes meanwhile. It is as good as empty.
#[cold]
fn leads_nowhere(region: &Region, slot: Slot) -> bool {
    region.generation(slot.address()).is_none() || region.has_expired(slot.address())
}

/// What `take` makes of the record that a slot names, if it was that record all the time.
fn look<T>(region: &Region, at: &AtomicU64, slot: Slot, take: impl FnOnce(Record) -> Option<T>) -> Lookup<T> {
    let Some(RecordRef { record, generation }) = record_ref(region, at, slot) else {
        return if leads_nowhere(region, slot) { Lookup::Nothing } else { Lookup::Changed };
    };
    let taken = if record.fits(region) { take(record) } else { None };
    if generation.still_holds() { taken.map_or(Lookup::Nothing, Lookup::Hit) } else { Lookup::Changed }
}

/// Gives `take` each record whose key has this home and a wanted slot, and collects what it makes of them.
/// `false` if one could not be read.
pub(crate) fn read_home<T>(
    region: &Region,
    home: HomeBucket<'_>,
    is_wanted: impl Fn(Slot) -> bool,
    mut take: impl FnMut(Record) -> Option<T>,
    out: &mut Vec<T>,
) -> bool {
    let mut is_read = true;
    home.for_each(|address, mut slot| {
        let at = region.word(address);
        let displacement = slot.displacement();
        for _ in 0..TRIES {
            // Emptied meanwhile, and perhaps taken by a key of another home.
            if slot.is_empty() || slot.displacement() != displacement || !is_wanted(slot) {
                return;
            }
            match look(region, at, slot, &mut take) {
                Lookup::Hit(taken) => return out.push(taken),
                Lookup::Nothing => return,
                Lookup::Changed => slot = Slot(at.load(Acquire)),
            }
        }
        is_read = false;
    });
    is_read
}

#[cold]
pub(crate) fn restless() -> Error {
    Error::new(Kind::Busy, "the key's record changed each of the ten thousand times it was read")
        .remedy("try again; if it stays so, the region is damaged: `hammerspace store verify` tells")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::split::initialize;
    use crate::read::scan::Cursor;
    use crate::read::view::View;
    use crate::record::header::Traits;
    use crate::region::geometry::{Geometry, WORD};
    use crate::region::segment::Segment;
    use crate::sync::Ordering::Release;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::update::TableId;

    /// As a batch keeps it for a key that it will put.
    #[test]
    fn a_reserved_slot_is_none_to_readers_and_no_fault() {
        let memory = small(32, 4096);
        // Were a slot's location followed, the superblock's format would be the header of this key's record.
        let (table, key) = (TableId { number: 0, is_versioned: false }, Key::Bytes(b""));
        let (region, hash) = (memory.view().region, memory.hash(table, key));
        assert!(HomeBucket::new(region, Place::of(region, hash), hash).reserve(hash).is_some());
        let mut value = Vec::new();
        assert_eq!(memory.view().get(0, key, &mut value).unwrap(), None);
        assert_eq!((memory.view().keys(), memory.verify().records, memory.verify().faults), (0, 0, 0));
        memory.put(table, key, b"value").unwrap();
        assert!(memory.view().get(0, key, &mut value).unwrap().is_some() && value == b"value");
    }

    #[test]
    fn what_is_in_a_segment_that_has_expired_is_absent() {
        for is_announced in [false, true] {
            let geometry = Geometry { segment_size: 4096, segments_max: 4, buckets: 4 };
            let region = crate::testing::fixture::region(geometry);
            let region = if is_announced { region.with_segment_expiry() } else { region };
            let (key, segment) = (Key::Integer(1), Segment::new(&region, 1));
            initialize(&region, region.layout.segment(0));
            let header = Header::new(TABLE.number, key, 5, &Traits::default());
            let record = Record::new(segment.start(), header);
            let value_at = record.write(&region, None, key);
            region.write_bytes(value_at, b"value");
            let hash = key.hash(region.seed, TABLE.number);
            let home = HomeBucket::new(&region, Place::of(&region, hash), hash);
            let (at, slot) = home.reserve(hash).unwrap();
            at.store(slot.moved_to(record.address).0, Release);
            let view = View { region: &region };
            for (expiry, is_there) in [(0, true), (u64::MAX, true), (1, !is_announced)] {
                segment.set_expiry(expiry);
                let mut found = 0;
                view.get_many(TABLE.number, &[key], |_, value| found += usize::from(value.is_some())).unwrap();
                let is_found = view.get(TABLE.number, key, &mut Vec::new()).unwrap().is_some();
                let mut items = Vec::new();
                view.scan(TABLE.number, Cursor::START, 1, &mut items).unwrap();
                assert_eq!((is_found, found, items.len()), (is_there, usize::from(is_there), usize::from(is_there)));
            }
        }
    }

    /// A bit of a slot's location that was flipped costs that one key, until it is put again.
    #[test]
    fn a_slot_that_leads_nowhere_hides_one_key_and_nothing_else() {
        const KEYS: u64 = 20;
        let memory = small(32, 4096).broken();
        for key in (0..KEYS).map(Key::Integer) {
            memory.put(TABLE, key, b"value").unwrap();
        }
        let region = memory.view().region;
        let scanned = || {
            let mut items = Vec::new();
            assert_eq!(memory.view().scan(TABLE.number, Cursor::START, usize::MAX, &mut items).unwrap(), None);
            items.len() as u64
        };
        for key in (0..KEYS).map(Key::Integer) {
            let hash = memory.hash(TABLE, key);
            let (at, slot) =
                HomeBucket::new(region, Place::of(region, hash), hash).find(|at, slot| Some((at, slot))).unwrap();
            at.store(slot.moved_to(WORD << 36).0, Release);
            assert_eq!(memory.view().get(TABLE.number, key, &mut Vec::new()).unwrap(), None);
            assert_eq!((scanned(), memory.verify().faults), (KEYS - 1, 1));
            assert!(memory.put(TABLE, key, b"anew").unwrap().before().is_none());
            let mut value = Vec::new();
            assert!(memory.view().get(TABLE.number, key, &mut value).unwrap().is_some() && value == b"anew");
            assert_eq!(scanned(), KEYS);
            at.store(Slot::EMPTY.0, Release);
        }
    }
}
