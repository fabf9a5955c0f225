//! The table, laid out partition by partition and sewn together at the seams.
//!
//! ```text
//! partition laid out by itself:  | a a b . c d d d|d d          its tail wants slots that belong to the next partition,
//! the next one, likewise:                         |e . f g …    where it comes first: | d d e f g …
//! ```
//! What wants an earlier slot comes first, so the tail takes the first slots of the next partition, and whoever it finds
//! there moves right, up to the first empty slot. The last tail goes around the end, to the first partition.

use super::super::IndexHeader;
use super::super::counts::Counts;
use super::super::header::HASH_CAPACITY;
use super::super::slot::{Shape, Slot};
use super::record::Record;
use crate::aligned::AlignedWriter;
use crate::fault;
use hammerspace_error::{Doing, Result};
use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom, Write};
use std::mem;
use std::ops::Range;

/// One partition of the table.
pub(super) struct Stretch {
    shape: Shape,
    /// The slots that it covers.
    slots: Range<usize>,
    image: Vec<u8>,
    /// The first slot behind all occupied ones.
    next: usize,
    /// What found no room before the end.
    tail: Vec<Slot>,
}

impl Stretch {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, slots: 0..0, image: Vec::new(), next: 0, tail: Vec::new() }
    }

    /// Starts over, empty, with other slots.
    pub(super) fn clear(&mut self, slots: Range<usize>) {
        self.image.clear();
        self.image.resize(slots.len() * self.shape.slot_size(), 0);
        self.tail.clear();
        (self.next, self.slots) = (slots.start, slots);
    }

    /// Adds the first `len` of two live puts. Those that want an earlier slot must have been added before.
    ///
    /// Without a branch on `len`: what lies behind all occupied slots may be written as empty.
    #[inline]
    pub(super) fn place(&mut self, wanted: usize, pair: [Record; 2], len: usize) {
        let at = self.next.max(wanted);
        self.next = at + len;
        if at + 1 < self.slots.end {
            self.set(at, slot_if(len > 0, pair[0]));
            self.set(at + 1, slot_if(len > 1, pair[1]));
        } else {
            self.place_at_end(at, &pair[..len]);
        }
    }

    #[cold]
    fn place_at_end(&mut self, at: usize, records: &[Record]) {
        for (at, record) in (at..).zip(records) {
            if at < self.slots.end {
                self.set(at, record.slot());
            } else {
                self.tail.push(record.slot());
            }
        }
    }

    /// Adds what the partition counts to `counts`, given the slot before it.
    pub(super) fn count(&self, before: Slot, counts: &mut Counts) {
        counts.add(&self.image, &self.shape, self.slots.start, before, |at, finding| {
            unreachable!("slot {at} of a table of ours {finding}")
        });
    }

    /// Lets `carried` in from the left; what has no room any more is carried on.
    fn admit(&mut self, carried: &mut VecDeque<Slot>) {
        for at in self.slots.clone() {
            let Some(first) = carried.pop_front() else { break };
            let resident = self.get(at);
            if !resident.is_empty() {
                carried.push_back(resident);
            }
            self.set(at, first);
        }
        carried.extend(self.tail.drain(..));
    }

    fn get(&self, at: usize) -> Slot {
        self.shape.get(&self.image, at - self.slots.start)
    }

    #[inline]
    fn set(&mut self, at: usize, slot: Slot) {
        self.shape.set(&mut self.image, at - self.slots.start, slot);
    }

    fn last(&self) -> Slot {
        self.get(self.slots.end - 1)
    }
}

/// The record's slot, or an empty one: without a branch.
#[inline]
fn slot_if(is_there: bool, record: Record) -> Slot {
    let (slot, mask) = (record.slot(), u64::from(is_there).wrapping_neg());
    Slot { hash: slot.hash & mask, address: slot.address & mask }
}

/// The table as it grows to the right.
pub(super) struct Stitcher<W> {
    out: AlignedWriter<W>,
    /// What has found no room yet.
    carried: VecDeque<Slot>,
    /// The last slot written.
    last: Slot,
}

impl<W: Read + Write + Seek> Stitcher<W> {
    /// At the start of the sink, where the header will be. So many bytes are written at a time.
    pub(super) fn new(mut sink: W, page_len: usize) -> Result<Self> {
        sink.seek(SeekFrom::Start(0)).doing("seek to the start of the index")?;
        let mut out = AlignedWriter::with_pages(sink, 0, page_len)?;
        out.write(&[0; IndexHeader::SIZE]).doing("write the index")?;
        Ok(Self { out, carried: VecDeque::new(), last: Slot::EMPTY })
    }

    /// Adds the next partition; gives the slot before it.
    pub(super) fn add(&mut self, stretch: &mut Stretch) -> Result<Slot> {
        stretch.admit(&mut self.carried);
        self.out.write(&stretch.image).doing("write the index")?;
        Ok(mem::replace(&mut self.last, stretch.last()))
    }

    /// Sews the end to the beginning, adds to `counts` what is not in it yet, and gives the sink back.
    ///
    /// That is the first partition, as nobody knew the slot before it. Only in a table that is full, or was made to collide,
    /// does what comes around reach farther; then all is counted again.
    pub(super) fn close(
        mut self,
        shape: Shape,
        partitions: impl Iterator<Item = Range<usize>> + Clone,
        counts: &mut Counts,
    ) -> Result<W> {
        self.out.drain().doing("write the index")?;
        let mut sink = self.out.into_sink();
        let mut stretch = Stretch::new(shape);
        let mut changed = 0;
        for slots in partitions.clone() {
            if self.carried.is_empty() {
                break;
            }
            read(&mut sink, &mut stretch, slots)?;
            let last = stretch.last();
            stretch.admit(&mut self.carried);
            write(&mut sink, &stretch)?;
            // The slot after the last looks back at it.
            changed += 1 + usize::from(stretch.last() != last);
        }
        if !self.carried.is_empty() {
            let finding = format!("{} slots are too few for the log's live keys", shape.capacity);
            return Err(fault::index(HASH_CAPACITY.offset, finding));
        }
        let uncounted = if changed > 1 {
            *counts = Counts::default();
            usize::MAX
        } else {
            1
        };
        read(&mut sink, &mut stretch, shape.capacity - 1..shape.capacity)?;
        let mut before = stretch.last();
        for slots in partitions.take(uncounted) {
            read(&mut sink, &mut stretch, slots)?;
            stretch.count(before, counts);
            before = stretch.last();
        }
        Ok(sink)
    }
}

fn read(sink: &mut (impl Read + Seek), stretch: &mut Stretch, slots: Range<usize>) -> Result<()> {
    let offset = stretch.shape.offset(slots.start) as u64;
    stretch.clear(slots);
    let read = sink.seek(SeekFrom::Start(offset)).and_then(|_| sink.read_exact(&mut stretch.image));
    read.doing("read the index back")
}

fn write(sink: &mut (impl Write + Seek), stretch: &Stretch) -> Result<()> {
    let offset = stretch.shape.offset(stretch.slots.start) as u64;
    let written = sink.seek(SeekFrom::Start(offset)).and_then(|_| sink.write_all(&stretch.image));
    written.doing("write the index")
}
