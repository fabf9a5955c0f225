//! Where the records of a batch go: to the writer slot's head, and where that is full to segments of the
//! batch's own.
//!
//! - The segments are taken before any home is locked, and given back if the batch is not made.
//! - None of them is a cleaner's before the batch has committed, since nothing names its records: full ones
//!   stay *open* or of a *batch*, and are closed in the end. The last goes on as the writer slot's head.

use hammerspace_error::Result;

use crate::alloc::budget::Priority;
use crate::alloc::head::Head;
use crate::owner::Owner;
use crate::record::Record;
use crate::record::header::Header;
use crate::record::key::Key;
use crate::region::CLOCK;
use crate::region::counters::Counted;
use crate::region::segment::Stream;
use crate::sync::Ordering::Relaxed;
use crate::sync::lock;
use crate::write::commit::{Commit, New};
use crate::write::plan::Draft;
use crate::write::writer_slot::WriterSlot;

/// The stream that batches write to.
const STREAM: Stream = Stream::LONG;

/// Segments that a batch has taken.
pub(crate) struct Room<'o> {
    owner: &'o Owner,
    segments: Vec<u64>,
    /// Heads that were full, which nobody writes to any more.
    full: Vec<Head>,
    /// Records of the intent's list.
    list: Vec<Record>,
}

impl<'o> Room<'o> {
    pub(crate) fn new(owner: &'o Owner) -> Self {
        Self { owner, segments: Vec::new(), full: Vec::new(), list: Vec::new() }
    }

    /// How many more segments it takes to write records of these sizes, one after the other.
    fn lacking(&self, writer: &mut WriterSlot, sizes: &[u64]) -> usize {
        let region = &self.owner.region;
        let (mut left, mut segments) = (writer.head(STREAM).tail(region), 0_usize);
        for &size in sizes {
            if size > left {
                (left, segments) = (region.layout.segment_size, segments + 1);
            }
            left = left.saturating_sub(size);
        }
        segments.saturating_sub(self.segments.len())
    }

    /// Whether they can be written.
    pub(crate) fn is_ready(&self, writer: &mut WriterSlot, sizes: &[u64], priority: Priority) -> bool {
        sizes.is_empty() || writer.head(STREAM).is_for(priority) && self.lacking(writer, sizes) == 0
    }

    /// Sees to it that they can. No home is locked.
    pub(crate) fn make_ready(&mut self, writer: &mut WriterSlot, sizes: &[u64], priority: Priority) -> Result<()> {
        if self.is_ready(writer, sizes, priority) {
            return Ok(());
        }
        let owner = self.owner;
        sizes.iter().try_for_each(|size| owner.check_size(*size))?;
        owner.check_live(writer, sizes.iter().sum(), priority)?;
        writer.head(STREAM).grant(priority);
        for _ in 0..self.lacking(writer, sizes) {
            let take = || owner.take_or_gain(|pool| pool.take(&owner.region, &owner.file, priority));
            self.segments.push(take()?);
        }
        owner.call();
        Ok(())
    }

    /// Hands what is full over to the cleaner: the batch has taken place, and its intent is not needed any
    /// more.
    pub(crate) fn end(&mut self, writer: &mut WriterSlot) {
        let region = &self.owner.region;
        self.list.drain(..).for_each(|record| writer.mark_dead(region, record));
        if self.full.is_empty() {
            return;
        }
        writer.head(STREAM).end_batch(region);
        let mut pool = lock(&self.owner.pool);
        for mut head in self.full.drain(..) {
            pool.tails += head.tail(region);
            region.word(CLOCK).fetch_add(head.close(region), Relaxed);
        }
        drop(pool);
        writer.count(self.owner);
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let mut pool = lock(&self.owner.pool);
        pool.free.extend(self.segments.drain(..));
    }
}

/// Writes the records of a batch.
pub(crate) struct Writer<'s, 'o> {
    owner: &'s Owner,
    from: &'s mut WriterSlot,
    room: &'s mut Room<'o>,
    priority: Priority,
}

impl<'s, 'o> Writer<'s, 'o> {
    pub(crate) fn new(owner: &'s Owner, from: &'s mut WriterSlot, room: &'s mut Room<'o>, priority: Priority) -> Self {
        Self { owner, from, room, priority }
    }

    /// A head that has room for a record of this size.
    fn head(&mut self, size: u64) -> &mut Head {
        let region = &self.owner.region;
        if !self.from.head(STREAM).has_room(region, size) {
            let segment = self.room.segments.pop().expect("as many as it takes were taken");
            let clock = region.word(CLOCK).load(Relaxed);
            let next = Head::of_batch(region, STREAM, self.priority, segment, clock);
            self.room.full.push(std::mem::replace(self.from.head(STREAM), next));
        }
        self.from.head(STREAM)
    }

    /// Writes a record with this key.
    pub(crate) fn write(&mut self, draft: &Draft<'_>, key: Key<'_>) -> Record {
        let (region, header) = (&self.owner.region, draft.header);
        let record = Record::new(self.head(header.size()).next(), header);
        if let Some((address, value)) = draft.write(region, record, key) {
            region.write_bytes(address, value);
        }
        self.from.add_live(record.size);
        self.from.head(STREAM).commit(region, record, draft.expiry);
        record
    }

    /// Writes a record of the intent's list.
    pub(crate) fn write_list(&mut self, header: Header, write: &dyn Fn(Record)) {
        let region = &self.owner.region;
        let record = Record::new(self.head(header.size()).next(), header);
        write(record);
        self.from.add_live(record.size);
        self.from.head(STREAM).commit(region, record, None);
        self.room.list.push(record);
    }

    /// Counts a change that has taken effect.
    pub(crate) fn count(&mut self, table: u16, change: Commit<'_>, added: Counted) {
        let region = &self.owner.region;
        if let (Some(old), New::Record(_) | New::Nothing) = (change.old, change.new) {
            self.from.mark_dead(region, old);
        }
        // The counters of all tables were made ready before.
        if self.owner.ready_counters(self.from, table).is_ok() {
            self.from.tally(region, added);
        }
    }
}
