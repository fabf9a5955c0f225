//! The intent of a batch: the list of the words that it changes, so that all of them change or none.
//!
//! ```text
//! INTENT: | state 8 | address 56 | ──► | record | ──► | record | ──► 0     of table 65533; the key of each is where the next lies
//! value of a record: | checksum 8 | entry | entry | …        entry: | address 8 | old word 8 | new word 8 |, or | 0 | parts 8 | bytes 8 |
//! state:  none ── everything is written ──► committed ── all words are changed ──► applied ── unnamed parts are gone ──► none
//! ```
//!
//! What always holds:
//! 1. The store of *committed* is the instant at which a batch takes place for the region's next owner.
//!    Before it no word that the list names has changed.
//! 2. While it is *committed*, its owner holds the locks of all homes concerned. So a word is as the batch
//!    found it or as it leaves it, and a new owner changes the rest.
//! 3. Once it is *applied* nobody changes words by it: what they named before may be used for something else.
//! 4. Long values of a batch have numbers from `PARTS_FIRST` up to `PARTS_END`. Without an intent, no record
//!    names these parts, and a new owner removes them.
//!
//! One batch at a time is under way.

use hammerspace_error::{Error, Kind, Result};
use twox_hash::XxHash3_64;

use crate::index::slot::Slot;
use crate::owner::Owner;
use crate::parts::large::{self, remove_beyond};
use crate::record::Record;
use crate::record::header::{Header, INLINE_MAX, Traits};
use crate::record::key::Key;
use crate::region::counters::Counted;
use crate::region::geometry::WORD;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{INTENT, PARTS_END, PARTS_FIRST, Region};
use crate::write::change::PartsRef;

/// The table that lists are in.
pub(crate) const TABLE_OF_INTENTS: u16 = u16::MAX - 2;

const STATE: u64 = 0xff;
const ADDRESS_SHIFT: u32 = 8;
/// Bytes of an entry.
const ENTRY: usize = 3 * WORD as usize;
/// Bytes in front of the entries of a record: its checksum.
const CHECKSUM: usize = WORD as usize;

/// How far a batch has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Committed = 1,
    Applied = 2,
}

/// One line of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// The word at this address becomes another.
    Swap { at: u64, old: u64, new: u64 },
    /// No record names these parts any more.
    Unnamed(PartsRef),
}

/// A list that a former owner left behind.
#[derive(Default)]
pub(crate) struct Left {
    state: Option<State>,
    lines: Vec<Line>,
    /// What the changes add to their tables that this owner made.
    added: Vec<(u16, Counted)>,
}

impl Line {
    fn to_words(self) -> [u64; 3] {
        match self {
            Self::Swap { at, old, new } => [at, old, new],
            Self::Unnamed(PartsRef { id, len }) => [0, id, len],
        }
    }

    fn of([at, old, new]: [u64; 3]) -> Self {
        if at == 0 { Self::Unnamed(PartsRef { id: old, len: new }) } else { Self::Swap { at, old, new } }
    }
}

/// Lines of each record: as many as fit, in small segments too.
fn lines_max(region: &Region) -> usize {
    ((INLINE_MAX.min(region.layout.segment_size as usize / 2) - CHECKSUM) / ENTRY).max(1)
}

/// The headers of the records of a list of so many lines, in the order in which they are written.
pub(crate) fn headers(region: &Region, lines: usize) -> impl Iterator<Item = Header> + use<> {
    let most = lines_max(region);
    (0..lines).step_by(most).map(move |first| header((lines - first).min(most)))
}

fn header(lines: usize) -> Header {
    Header::new(TABLE_OF_INTENTS, Key::Integer(0), CHECKSUM + lines * ENTRY, &Traits::default())
}

/// Of the entries of a record, and where the next one lies.
fn checksum(next: u64, entries: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(next, entries)
}

/// Writes a list, its records where `place` says. Gives where it begins.
pub(crate) fn write(region: &Region, lines: &[Line], mut place: impl FnMut(Header, &dyn Fn(Record))) -> u64 {
    let mut next = 0;
    for lines in lines.chunks(lines_max(region)) {
        let entries: Vec<u8> = lines.iter().flat_map(|line| line.to_words()).flat_map(u64::to_le_bytes).collect();
        let address = std::cell::Cell::new(0);
        place(header(lines.len()), &|record| {
            let value = record.write(region, None, Key::Integer(next));
            region.write_bytes(value, &checksum(next, &entries).to_le_bytes());
            region.write_bytes(value + CHECKSUM as u64, &entries);
            address.set(record.address);
        });
        next = address.get();
    }
    next
}

/// Numbers of long values that a batch has at most: for as many tries as it has, of as many operations.
pub(crate) const NUMBERS_MAX: u64 = 1 << 20;

/// Says how far the batch of this list has come.
pub(crate) fn set(region: &Region, state: State, list: u64) {
    region.store(INTENT, list << ADDRESS_SHIFT | state as u64);
}

/// Whether a batch has taken place, and is not yet at its end.
pub(crate) fn is_set(region: &Region) -> bool {
    region.load(INTENT) != 0
}

/// Says that no batch is under way.
pub(crate) fn clear(region: &Region) {
    region.store(INTENT, 0);
}

/// The numbers of long values that a batch is writing.
pub(crate) fn parts(region: &Region) -> std::ops::Range<u64> {
    let [first, end] = [PARTS_FIRST, PARTS_END].map(|at| region.load(at));
    // More there are only where damage says so.
    if end.saturating_sub(first) > NUMBERS_MAX { 0..0 } else { first..end }
}

/// Says that a batch is writing long values of these numbers; none, if there are none.
pub(crate) fn set_parts(region: &Region, numbers: std::ops::Range<u64>) {
    if region.load(PARTS_FIRST) != numbers.start {
        region.store(PARTS_END, 0);
        region.store(PARTS_FIRST, numbers.start);
    }
    region.store(PARTS_END, numbers.end);
}

impl Left {
    /// Reads what a former owner left. [`Kind::Corrupt`] where that is no list.
    pub(crate) fn read(region: &Region) -> Result<Self> {
        let word = region.load(INTENT);
        let state = match word & STATE {
            0 if word == 0 => return Ok(Self::default()),
            1 => State::Committed,
            2 => State::Applied,
            _ => return Err(damaged(INTENT)),
        };
        let (mut next, mut lines) = (word >> ADDRESS_SHIFT, Vec::new());
        while next != 0 {
            next = read_record(region, next, &mut lines)?;
        }
        Ok(Self { state: Some(state), lines, added: Vec::new() })
    }

    /// Whether the batch has taken place.
    pub(crate) fn is_committed(&self) -> bool {
        self.state.is_some()
    }

    /// Changes the words that its owner did not come to. May be done again, as an owner that does it may die
    /// too.
    pub(crate) fn redo(&mut self, region: &Region) {
        if self.state != Some(State::Committed) {
            return;
        }
        for line in &self.lines {
            if let Line::Swap { at, old, new } = *line
                && region.load(at) == old
            {
                self.added.extend(added(region, at, Slot(old), Slot(new)));
                region.store(at, new);
            }
        }
        set(region, State::Applied, region.load(INTENT) >> ADDRESS_SHIFT);
    }

    /// Removes what nothing names any more; then no batch is under way.
    pub(crate) fn finish(self, owner: &Owner) {
        let region = &owner.region;
        for (table, added) in &self.added {
            region.count_for_dead(*table, *added);
        }
        if self.is_committed() {
            for line in &self.lines {
                if let Line::Unnamed(large) = line {
                    remove_beyond(owner, 0, *large);
                }
            }
        } else {
            parts(region).for_each(|id| large::remove_all(owner, id));
        }
        set_parts(region, 0..0);
        clear(region);
    }
}

/// What a slot's change adds to its table, where a slot is at this address; the old record is counted as
/// dead.
fn added(region: &Region, at: u64, old: Slot, new: Slot) -> Option<(u16, Counted)> {
    Segment::of(region, at).filter(|segment| segment.state() == SegmentState::Index)?;
    let record = |slot: Slot| {
        let is_one = !slot.is_reserved() && Segment::of(region, slot.address()).is_some();
        is_one.then(|| Record::at(region, slot.address()))
    };
    let [old, new] = [old, new].map(record);
    let counted = |record: Option<Record>| record.map_or_else(Counted::default, |record| Counted::of(region, record));
    if let Some(old) = old {
        Segment::bury_record(region, old);
    }
    Some((old.or(new)?.header.table(), counted(new).minus(counted(old))))
}

/// Reads the lines of one record. Gives where the next one lies.
fn read_record(region: &Region, address: u64, lines: &mut Vec<Line>) -> Result<u64> {
    let segment = Segment::of(region, address).filter(|_| address.is_multiple_of(WORD));
    let record = Record::at(region, address);
    let is_within = segment.is_some_and(|one| address + record.size <= one.start() + one.used());
    if !is_within || record.header.table() != TABLE_OF_INTENTS || !record.header.has_integer_key() {
        return Err(damaged(address));
    }
    let mut value = Vec::new();
    record.value(region).append_to(&mut value);
    let next = region.load(record.value_address() - WORD);
    let Some((sum, entries)) = value.split_first_chunk() else { return Err(damaged(address)) };
    let (entries, rest) = entries.as_chunks::<ENTRY>();
    if u64::from_le_bytes(*sum) != checksum(next, entries.as_flattened()) || !rest.is_empty() || next == address {
        return Err(damaged(address));
    }
    lines.extend(entries.iter().map(|entry| {
        let (words, _) = entry.as_chunks::<8>();
        Line::of([0, 1, 2].map(|word| u64::from_le_bytes(words[word])))
    }));
    Ok(next)
}

#[cold]
fn damaged(at: u64) -> Error {
    let finding = "the list of what a batch changes is damaged, so that the batch cannot be completed";
    let error = Error::new(Kind::Corrupt, finding).at(at);
    error.remedy("attach to it and save what can be read, then remove the store and create it anew")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::read::Meta;
    use crate::region::geometry::Geometry;
    use crate::sound::Memory;
    use crate::testing::fixture::small;
    use crate::testing::flaw::Flaw;
    use crate::write::change::Change;
    use crate::write::update::TableId;

    const PLAIN: TableId = TableId { number: 1, is_versioned: false };
    const VERSIONED: TableId = TableId { number: 2, is_versioned: true };
    const KEYS: u64 = 12;
    /// Values of this length lie in parts.
    const LONG: usize = 3000;

    type Found = Vec<Option<(Meta, Vec<u8>)>>;

    /// A store of each kind of record.
    fn filled() -> Memory {
        let memory = small(100, 4096);
        for table in [PLAIN, VERSIONED] {
            for key in 0..8 {
                let value = if key < 6 { vec![7; 8] } else { vec![7; LONG] };
                memory.put(table, Key::Integer(key), &value).unwrap();
            }
            memory.append(table, Key::Integer(1), 0, &[7; 100]).unwrap();
        }
        memory
    }

    /// A batch of each kind of change: in each table several that take another slot, word or header.
    fn commit(memory: &Memory) -> Result<Option<Vec<Option<u64>>>> {
        let keys = || (0..KEYS).map(Key::Integer);
        let operations: Vec<_> =
            [PLAIN, VERSIONED].into_iter().flat_map(|table| keys().map(move |key| (table, key))).collect();
        memory.batch(&operations, |at, _| {
            Some(match at as u64 % KEYS {
                0 | 8 => Change::Put { kind: 0, value: vec![1; 50].into(), expiry: None },
                1 | 6 => Change::Append { kind: 0, bytes: &[2; 10] },
                2 | 7 => Change::Delete,
                3 => Change::Word { kind: 0, word: 3 },
                4 => Change::Expire(Some(1 << 42)),
                5 | 9 => Change::Put { kind: 0, value: vec![5; LONG].into(), expiry: None },
                _ => Change::Keep,
            })
        })
    }

    fn everything(memory: &Memory) -> Found {
        let read = |table: TableId, key| {
            let mut value = Vec::new();
            let meta = memory.view().get(table.number, Key::Integer(key), &mut value).unwrap()?;
            Some((Meta { version: None, ..meta }, value))
        };
        [PLAIN, VERSIONED].into_iter().flat_map(|table| (0..KEYS).map(move |key| read(table, key))).collect()
    }

    /// What was there before, what the batch leaves, and a region whose owner died over it.
    fn died(flaw: Flaw) -> ([Found; 2], Region) {
        let memory = filled();
        let before = everything(&memory);
        Flaw::inject(Some(flaw));
        commit(&memory).unwrap().unwrap();
        Flaw::inject(None);
        ([before, everything(&memory)], Flaw::left().expect("it came so far"))
    }

    fn adopt(region: Region) -> Result<Memory> {
        // As `small` makes them.
        let geometry = Some(Geometry { segment_size: 4096, segments_max: 100, buckets: 4 });
        let options = Options { geometry, cleaners: 0, writers: 1, ..Options::with_limit(100 * 4096) };
        hammerspace_memory::Memory::after(region, &options).map(Memory::of_many_owners)
    }

    #[test]
    fn a_batch_over_which_its_owner_died_is_there_or_not() {
        for (flaw, is_made) in [
            (Flaw::DiedOverParts, 0),
            (Flaw::DiedBeforeCommit, 0),
            (Flaw::DiedHalfway, 1),
            (Flaw::DiedAtTheEnd, 1),
            (Flaw::DiedBehindIt, 1),
        ] {
            let (wanted, region) = died(flaw);
            let memory = adopt(region).unwrap();
            assert!(everything(&memory) == wanted[is_made], "{flaw:?}");
            assert_eq!(memory.verify().findings, Vec::<String>::new(), "{flaw:?}");
            let counted = [PLAIN, VERSIONED].map(|table| memory.view().counted(table.number).keys);
            assert_eq!(counted.iter().sum::<u64>(), wanted[is_made].iter().flatten().count() as u64, "{flaw:?}");
            // And the store takes another.
            commit(&memory).unwrap().unwrap();
        }
    }

    /// A batch that is applied by halves, since nobody completes it.
    #[test]
    fn canary_a_batch_that_is_not_completed_is_noticed() {
        let (wanted, region) = died(Flaw::DiedHalfway);
        set_parts(&region, 0..0);
        clear(&region);
        let memory = adopt(region).unwrap().broken();
        assert!(wanted.iter().all(|wanted| *wanted != everything(&memory)));
    }

    /// The owner that completes it may die as well.
    #[test]
    fn what_was_redone_may_be_redone() {
        let (wanted, region) = died(Flaw::DiedHalfway);
        let list = region.load(INTENT) >> ADDRESS_SHIFT;
        for _ in 0..2 {
            Left::read(&region).unwrap().redo(&region);
            assert_eq!(region.load(INTENT), list << ADDRESS_SHIFT | State::Applied as u64);
            set(&region, State::Committed, list);
        }
        assert!(everything(&adopt(region).unwrap()) == wanted[1]);
    }

    #[test]
    fn a_list_that_is_damaged_is_refused() {
        let (_, region) = died(Flaw::DiedHalfway);
        let list = region.load(INTENT) >> ADDRESS_SHIFT;
        let places = [(INTENT, 2), (INTENT, 1 << 40), (INTENT, 8 << ADDRESS_SHIFT)];
        // Header, the next one's address, checksum, the first entry.
        for (at, flip) in places.into_iter().chain((0..6).map(|word| (list + word * WORD, 1 << 17))) {
            region.store(at, region.load(at) ^ flip);
            let refused = Left::read(&region).map(drop).expect_err(&format!("{flip:#x} at {at}"));
            assert_eq!(refused.kind(), Kind::Corrupt);
            let copy = region.copy();
            assert_eq!(adopt(copy).map(drop).unwrap_err().kind(), Kind::Corrupt);
            region.store(at, region.load(at) ^ flip);
        }
        assert!(Left::read(&region).unwrap().is_committed());
    }
}
