//! Forgetting tables: dropping one is a bit, and what its records take comes back later.
//!
//! 1. The bit is set, and every change and pass under way is waited for: from then on nobody writes or moves
//!    a record of the table.
//! 2. Somebody who has time walks the segments that may have such records, and empties their slots.
//! 3. Nothing names them any more. The bit is cleared, and the number may be another table's. Where damage
//!    hides what a segment holds, the bit stays: records that were not found must not come back as another
//!    table's.

use crate::clean::expiries::len_with_parts;
use crate::index::bucket::Locked;
use crate::index::slot::Slot;
use crate::owner::Owner;
use crate::read::walk::Walk;
use crate::record::Record;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{Generation, Region};
use crate::sync::Ordering::{Acquire, Release};
use crate::sync::{AtomicU64, Mutex, lock};
use crate::testing::flaw::Flaw;
use crate::write::update::Found;

/// The tables that were dropped, by number.
pub(crate) struct Dropped {
    bits: Box<[AtomicU64]>,
    /// Those whose records nobody has begun to remove.
    waiting: Mutex<Vec<u16>>,
    /// Held by whoever removes records.
    pub(crate) purging: Mutex<Purge>,
}

/// How far somebody has come who removes the records of some tables.
#[derive(Default)]
pub(crate) struct Purge {
    tables: Vec<u16>,
    /// The next segment.
    next: u64,
    /// Whether damage has hidden no record so far.
    is_whole: bool,
}

impl Purge {
    fn of(tables: Vec<u16>) -> Self {
        Self { tables, next: 0, is_whole: true }
    }

    /// The next segment that may have records of the tables, as long as its generation is this.
    fn next<'r>(&mut self, region: &'r Region) -> Option<(Segment<'r>, Generation<'r>)> {
        let mask = self.tables.iter().fold(0, |mask, table| mask | 1 << (table % 64));
        // Those that come into use meanwhile have none.
        let found = (self.next..region.segments()).find_map(|number| {
            let segment = Segment::new(region, number);
            // First the generation: who begins another use changes it first, and says last what use that is.
            let generation = region.generation(segment.start())?;
            let is_one =
                !matches!(segment.state(), SegmentState::Free | SegmentState::Index) && segment.tables() & mask != 0;
            is_one.then_some((segment, generation))
        });
        self.next = found.map_or(u64::MAX, |(segment, _)| segment.number + 1);
        found
    }
}

/// What came of a walk over a segment.
pub(crate) struct Swept {
    /// Bytes of records that were removed, and of the parts of their values.
    pub(crate) bytes: u64,
    /// Whether damage has hidden no record.
    pub(crate) is_whole: bool,
}

impl Dropped {
    pub(crate) fn new() -> Self {
        Self {
            bits: (0..1 << 10).map(|_| AtomicU64::new(0)).collect(),
            waiting: Mutex::new(Vec::new()),
            purging: Mutex::default(),
        }
    }

    fn bit(&self, table: u16) -> (&AtomicU64, u64) {
        (&self.bits[usize::from(table / 64)], 1 << (table % 64))
    }

    pub(crate) fn contains(&self, table: u16) -> bool {
        let (word, bit) = self.bit(table);
        word.load(Acquire) & bit != 0
    }

    /// Lets nobody begin to change a table any more. Who is refused sees what was written before.
    pub(crate) fn mark(&self, table: u16) {
        let (word, bit) = self.bit(table);
        word.fetch_or(bit, Release);
    }

    /// Lets its number be another table's.
    pub(crate) fn unmark(&self, table: u16) {
        let (word, bit) = self.bit(table);
        word.fetch_and(!bit, Release);
    }

    /// Whether something is to be removed.
    pub(crate) fn is_purging(&self) -> bool {
        !lock(&self.purging).tables.is_empty() || !lock(&self.waiting).is_empty()
    }
}

impl Owner {
    /// Drops a table: its records are not written or moved any more, and will go. Waits for each change and
    /// each pass of a cleaner that is under way, and for nothing else: the walk over what other tables left
    /// is not waited for.
    pub(crate) fn drop_table(&self, table: u16) {
        self.dropped.mark(table);
        if !Flaw::NotAwaited.is_planted() {
            self.quiesce();
        }
        lock(&self.dropped.waiting).push(table);
        self.wakeup.ring();
    }

    /// Removes what is left of the tables that were dropped in one more segment. `false` if there was none.
    pub(crate) fn purge(&self) -> bool {
        let mut purge = lock(&self.dropped.purging);
        if purge.tables.is_empty() {
            *purge = Purge::of(std::mem::take(&mut *lock(&self.dropped.waiting)));
        }
        if purge.tables.is_empty() {
            return false;
        }
        match purge.next(&self.region) {
            Some((segment, generation)) => purge.is_whole &= self.purge_segment(segment, generation),
            None => self.end_purge(&mut purge),
        }
        true
    }

    fn end_purge(&self, purge: &mut Purge) {
        for table in std::mem::take(&mut purge.tables).into_iter().filter(|_| purge.is_whole) {
            self.region.reset_counters(table);
            self.dropped.unmark(table);
        }
    }

    /// `false` if damage hides some of the segment's records.
    fn purge_segment(&self, segment: Segment<'_>, generation: Generation<'_>) -> bool {
        self.remove_if(segment, generation, |record| self.dropped.contains(record.header.table())).is_whole
    }

    /// Removes those of a segment's records that are to go.
    pub(crate) fn remove_if(
        &self,
        segment: Segment<'_>,
        generation: Generation<'_>,
        mut goes: impl FnMut(Record) -> bool,
    ) -> Swept {
        let region = &self.region;
        let (mut bytes, mut is_whole, mut scratch) = (0, true, Vec::new());
        let mut walk = Walk::over(region, segment);
        for record in walk.by_ref() {
            if !goes(record) {
                continue;
            }
            let hash = record.hash(region, &mut scratch);
            let Ok(home) = Locked::of(region, hash, self.incarnation) else {
                is_whole = false;
                continue;
            };
            // A cleaner may have been here, and removed the same; then something else is at this address.
            if !generation.is_same_use() {
                break;
            }
            let is_named = |at, slot: Slot| (slot.address() == record.address).then(|| Found::new(region, at, slot));
            // Another may have taken its place, which stays.
            if let Some(found) = home.0.find(is_named).filter(|found| goes(found.old.record)) {
                bytes += len_with_parts(region, found.old.record);
                self.forget(home, &found, hash);
            }
        }
        Swept { bytes, is_whole: is_whole && (walk.torn_at().is_none() || !generation.is_same_use()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::record::key::Key;
    use crate::region::geometry::Layout;
    use crate::region::segment::Segment;
    use crate::sync::lock;
    use crate::testing::fixture::{TABLE, small};
    use crate::write::update::TableId;

    /// It would keep records of a table from those who look for them, until another table has its number.
    #[test]
    fn a_segment_that_does_not_know_of_a_table_is_found() {
        let memory = small(64, 4096).broken();
        memory.put(TableId { number: 70, is_versioned: false }, Key::Integer(1), b"value").unwrap();
        assert_eq!(memory.verify().faults, 0);
        let region = memory.view().region;
        let mut segments = Segment::all(region);
        let segment = segments.find(|segment| segment.tables() == 1 << 6).unwrap();
        segment.set_tables(!(1 << 6));
        assert_eq!(memory.verify().faults, 1);
    }

    /// A cleaner has been there, and somebody else is writing to it by now.
    #[test]
    fn a_segment_that_was_emptied_meanwhile_is_not_damaged() {
        let memory = small(64, 4096).broken();
        memory.put(TABLE, Key::Integer(1), b"value").unwrap();
        let region = memory.view().region;
        let mut segments = Segment::all(region);
        let segment = segments.find(|segment| segment.tables() == 1 << TABLE.number).unwrap();
        let generation = region.generation(segment.start()).unwrap();
        region.store(segment.start(), u64::MAX);
        assert!(!memory.owner().purge_segment(segment, generation));
        region.store(Layout::generation(segment.number), 1 << 32 | 1);
        assert!(!memory.owner().purge_segment(segment, generation), "a hole was filled meanwhile");
        region.store(Layout::generation(segment.number), u64::MAX);
        assert!(memory.owner().purge_segment(segment, generation));
    }

    /// While somebody removes what another table left, which takes as long as that is much.
    #[test]
    fn dropping_does_not_wait_for_what_was_dropped_before() {
        let memory = small(64, 4096);
        memory.put(TABLE, Key::Integer(1), b"value").unwrap();
        {
            let _purging = lock(&memory.owner().dropped.purging);
            memory.drop_table(TABLE.number).unwrap();
            memory.put(TABLE, Key::Integer(1), b"value").unwrap_err();
        }
        assert!(memory.is_dropping(TABLE.number));
        while memory.clean().unwrap() {}
        assert!(!memory.is_dropping(TABLE.number) && memory.verify().records == 0);
    }
}
