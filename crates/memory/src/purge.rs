//! Forgetting tables: dropping one is a bit, and what its records take comes back later.
//!
//! 1. The bit is set, and every change under way is waited for: from then on nobody writes or moves a record of the table.
//! 2. Somebody who has time walks the segments that may have such records, and empties their slots.
//! 3. Nothing names them any more. The bit is cleared, and the number may be another table's.

use crate::change::Old;
use crate::flaw::Flaw;
use crate::index::bucket::Locked;
use crate::large::Orphan;
use crate::owner::Owner;
use crate::record::Record;
use crate::region::SEGMENTS_FRESH;
use crate::segment::{Segment, Use};
use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU64, Mutex, lock};

/// The tables that were dropped, by number.
pub(crate) struct Dropped {
    bits: Box<[AtomicU64]>,
    /// Those that have records left.
    waiting: Mutex<Vec<u16>>,
}

impl Dropped {
    pub(crate) fn new() -> Self {
        Self { bits: (0..1 << 10).map(|_| AtomicU64::new(0)).collect(), waiting: Mutex::new(Vec::new()) }
    }

    fn bit(&self, table: u16) -> (&AtomicU64, u64) {
        (&self.bits[usize::from(table / 64)], 1 << (table % 64))
    }

    pub(crate) fn contains(&self, table: u16) -> bool {
        let (word, bit) = self.bit(table);
        word.load(Relaxed) & bit != 0
    }
}

impl Owner {
    /// Drops a table: its records are not written or moved any more, and will go.
    pub(crate) fn drop_table(&self, table: u16) {
        let (word, bit) = self.dropped.bit(table);
        word.fetch_or(bit, Relaxed);
        if !Flaw::NotAwaited.is_planted() {
            self.quiesce();
        }
        lock(&self.dropped.waiting).push(table);
        self.bell.ring();
    }

    /// Removes what is left of the tables that were dropped. `false` if there was none.
    pub(crate) fn purge(&self) -> bool {
        let mut waiting = lock(&self.dropped.waiting);
        if waiting.is_empty() {
            return false;
        }
        let mask = waiting.iter().fold(0, |mask, table| mask | 1 << (table % 64));
        let region = &self.region;
        for segment in (0..region.load(SEGMENTS_FRESH)).map(|number| Segment::new(region, number)) {
            if segment.tables() & mask != 0 && !matches!(segment.usage(), Use::Free | Use::Index) {
                self.purge_segment(segment);
            }
        }
        for table in waiting.drain(..) {
            let (word, bit) = self.dropped.bit(table);
            word.fetch_and(!bit, Relaxed);
        }
        true
    }

    fn purge_segment(&self, segment: Segment<'_>) {
        let region = &self.region;
        let (mut next, end) = (segment.start(), segment.start() + segment.used());
        let mut scratch = Vec::new();
        while next < end {
            let record = Record::at(region, next);
            next += record.head.size();
            if !self.dropped.contains(record.head.table()) {
                continue;
            }
            let hash = record.hash(region, &mut scratch);
            let home = Locked::of(region, hash, self.incarnation);
            if let Some((at, slot)) = home.0.find(|at, slot| (slot.address() == record.address).then_some((at, slot))) {
                let orphan = Orphan::of(&Old { region, record }, hash);
                self.remove(&home, at, slot, record);
                drop(home);
                if let Some(orphan) = orphan {
                    orphan.remove(self);
                }
            }
        }
    }
}
