//! Reading a region: what its owner and every other process can do alike.

use hammerspace_error::{Kind, Result};

use crate::index::directory::{Entry, Root};
use crate::index::slot::Slot;
use crate::parts::large;
use crate::read::prefetched::{Prefetched, for_each_prefetched};
use crate::read::scan::{self, Cursor, Item};
use crate::read::{self, Meta};
use crate::record::Record;
use crate::record::header::TABLE_OF_PARTS;
use crate::record::key::Key;
use crate::region::counters::Counted;
use crate::region::segment::{Segment, SegmentState};
use crate::region::{CATALOGUE, CLOCK, LIMIT, MOVED, Region};

/// The greatest number that [`View::catalogue`] gives, whatever damage says.
pub const CATALOGUE_MAX: u64 = (1 << 46) - 1;

/// Pieces of the index that are counted to tell how many keys there are.
const INDEX_PAGES_COUNTED: u64 = 64;

/// Bytes of values from which on a scan pauses: so a page of long ones is no burden.
const SCAN_BYTES: usize = 4 << 20;

/// A region to read. Cheap to take; any number at a time.
#[derive(Clone, Copy)]
pub struct View<'r> {
    pub(crate) region: &'r Region,
}

impl View<'_> {
    /// Appends the value of a key to `out`. `None`, and nothing appended, where there is none.
    ///
    /// Two misses of the cache: the key's home in the index, and its record.
    #[inline]
    pub fn get(self, table: u16, key: Key<'_>, out: &mut Vec<u8>) -> Result<Option<Meta>> {
        let prefetched = Prefetched::start(self.region, key.hash(self.region.seed, table));
        self.read_prefetched(table, key, prefetched.look(self.region), out)
    }

    /// Reads the record of a key by what was seen of the index.
    #[expect(clippy::inline_always, reason = "see `read::read_prefetched`")]
    #[inline(always)]
    fn read_prefetched(
        self,
        table: u16,
        key: Key<'_>,
        prefetched: Prefetched<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Meta>> {
        let start = out.len();
        match read::read_prefetched(self.region, table, key, prefetched, out)? {
            Some(seen) if seen.header.is_large() => {
                out.truncate(start);
                self.get_large(table, key, prefetched.hash, out)
            }
            Some(seen) if seen.is_expired() => {
                out.truncate(start);
                Ok(None)
            }
            seen => Ok(seen.map(|seen| seen.meta())),
        }
    }

    /// The same of a value in parts.
    #[cold]
    fn get_large(self, table: u16, key: Key<'_>, hash: u64, out: &mut Vec<u8>) -> Result<Option<Meta>> {
        let start = out.len();
        let seen = large::get(self.region, table, key, hash, out)?.filter(|seen| !seen.is_expired());
        if seen.is_none() {
            out.truncate(start);
        }
        Ok(seen.map(|seen| seen.meta()))
    }

    /// What is known about the record of a key, if it is there. Its value is not looked at.
    pub fn meta(self, table: u16, key: Key<'_>) -> Result<Option<Meta>> {
        let hash = key.hash(self.region.seed, table);
        let seen = read::meta(self.region, table, key, hash)?;
        Ok(seen.filter(|seen| !seen.is_expired()).map(|seen| seen.meta()))
    }

    /// Looks many keys up, their misses of the cache at the same time. `each` is given the place of the key
    /// among `keys`, and what `get` would have given at some instant since the call began: that a key is
    /// absent may be known before its turn.
    pub fn get_many(
        self,
        table: u16,
        keys: &[Key<'_>],
        mut each: impl FnMut(usize, Option<(Meta, &[u8])>),
    ) -> Result<()> {
        let mut value = Vec::new();
        let hash = |at: usize| keys[at].hash(self.region.seed, table);
        for_each_prefetched(self.region, keys.len(), hash, |at, prefetched| {
            value.clear();
            let meta = self.read_prefetched(table, keys[at], prefetched, &mut value)?;
            each(at, meta.map(|meta| (meta, &value[..])));
            Ok(())
        })
    }

    /// A number that is another one after each change of the list of tables, and odd while it is being
    /// changed. One load.
    pub fn catalogue(self) -> u64 {
        self.region.load(CATALOGUE) & CATALOGUE_MAX
    }

    /// Some records of a table, from `cursor` on: about `count` (at least one), fewer at the end, and where
    /// their values come to some megabytes. Gives where to go on, `None` at the end.
    ///
    /// A record that is there from the first call to the last is given exactly once, whatever is written,
    /// cleaned or split meanwhile. What damage has made unreadable is left out; `verify` finds it.
    pub fn scan(self, table: u16, cursor: Cursor, count: usize, items: &mut Vec<Item>) -> Result<Option<Cursor>> {
        let start = items.len();
        let (mut next, mut bytes) = (Some(cursor), 0);
        while let Some(at) = next
            && items.len() - start < count.max(1)
            && bytes < SCAN_BYTES
        {
            let before = items.len();
            next = scan::step(self.region, table, at, items)?;
            self.complete(table, items, before)?;
            bytes += items[before..].iter().map(|item| item.value.len()).sum::<usize>();
        }
        Ok(next)
    }

    /// Reads values that lie in parts, and drops what has expired.
    fn complete(self, table: u16, items: &mut Vec<Item>, from: usize) -> Result<()> {
        let mut at = from;
        while at < items.len() {
            let item = &mut items[at];
            let mut is_there = item.meta.expiry.is_none_or(|expiry| expiry > read::now());
            if is_there && item.is_large {
                item.value.clear();
                let meta = match self.get(table, item.key.as_key(), &mut item.value) {
                    // A value that lacks a part: to end here would be to end for good.
                    Err(error) if error.kind() == Kind::Corrupt => None,
                    found => found?,
                };
                is_there = meta.is_some();
                item.meta = meta.unwrap_or(item.meta);
            }
            if is_there {
                at += 1;
            } else {
                items.swap_remove(at);
            }
        }
        Ok(())
    }

    /// What the region holds, as far as is counted. O(segments).
    pub fn usage(self) -> Usage {
        let region = self.region;
        let size = region.layout.segment_size;
        let mut usage = Usage {
            limit: region.load(LIMIT).saturating_mul(size),
            segment_size: size,
            written: region.load(CLOCK),
            moved: region.load(MOVED),
            ..Usage::default()
        };
        for segment in Segment::all(region) {
            match segment.state() {
                SegmentState::Free => usage.free += size,
                SegmentState::Index => usage.index += size,
                SegmentState::Open(stream) => {
                    usage.open += size;
                    // The clock counts a segment when it is full.
                    let written = if stream.is_of_users() { segment.used().min(size) } else { 0 };
                    usage.written = usage.written.saturating_add(written);
                    usage.live += segment.live();
                }
                SegmentState::Tail(_) => usage.closed += size,
                SegmentState::Closed(_)
                | SegmentState::Cleaning(_)
                | SegmentState::Filling(_)
                | SegmentState::Batch(_) => {
                    usage.closed += size;
                    usage.closed_live += segment.live();
                    usage.live += segment.live();
                }
            }
        }
        usage
    }

    /// How many keys there are, those that have expired among them. Of an index of more than 64 pages that
    /// many are counted, and the rest taken to be alike: within a hundredth, as hashes are. Each of them is a
    /// miss of the cache.
    pub fn keys(self) -> u64 {
        let region = self.region;
        let root = Root::load(region);
        let entries = 1_u64 << root.depth();
        let step = (entries / INDEX_PAGES_COUNTED).max(1);
        let is_key = |slot: &Slot| {
            Record::of(region, slot.address()).is_some_and(|record| record.header.table() != TABLE_OF_PARTS)
        };
        // In shares of an entry, as small as the directory is deep: nothing is rounded before the end.
        let mut shares = 0;
        for index in (0..entries).step_by(step as usize) {
            let entry = Entry(region.load(root.address(region, index)));
            let full = entry.slots(region).filter(is_key).count() as u64;
            // A page has as many entries as it has shares of the hashes: each stands for its part.
            shares += (full * step) << entry.depth().min(root.depth());
        }
        shares >> root.depth()
    }

    /// How many keys a table has, and how many bytes they and their values are. Exact, but for the change in
    /// hand of an owner that was killed. O(1): 65 words, most of them misses of the cache.
    pub fn counted(self, table: u16) -> Counted {
        self.region.counted(table)
    }

    /// The live bytes of each segment, in order; `None` for those that hold no records.
    pub fn map(self) -> Vec<Option<u64>> {
        Segment::all(self.region)
            .map(|segment| match segment.state() {
                SegmentState::Free | SegmentState::Index | SegmentState::Tail(_) => None,
                _ => Some(segment.live()),
            })
            .collect()
    }
}

/// Bytes of a region, by what they are used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// What may be used.
    pub limit: u64,
    /// Bytes of a segment.
    pub segment_size: u64,
    /// Segments that are free, and were used or made ready.
    pub free: u64,
    /// Segments of the index.
    pub index: u64,
    /// Segments that somebody is writing to.
    pub open: u64,
    /// Segments full of records, live or dead.
    pub closed: u64,
    /// Live records.
    pub live: u64,
    /// Those of them in closed segments.
    pub closed_live: u64,
    /// What users have written since the region was made.
    pub written: u64,
    /// What cleaners have moved since then.
    pub moved: u64,
}

impl Usage {
    /// Live bytes of the segments that are full, as a share of them.
    #[expect(clippy::cast_precision_loss, reason = "a share, for people")]
    pub fn utilisation(&self) -> f64 {
        if self.closed == 0 { 0.0 } else { self.closed_live as f64 / self.closed as f64 }
    }

    /// Bytes that cleaners have moved for each that users have written.
    #[expect(clippy::cast_precision_loss, reason = "a ratio, for people")]
    pub fn cleaning_cost(&self) -> f64 {
        if self.written == 0 { 0.0 } else { self.moved as f64 / self.written as f64 }
    }

    /// Bytes of all segments in use.
    pub fn in_use(&self) -> u64 {
        self.index + self.open + self.closed
    }
}
