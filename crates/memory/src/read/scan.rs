//! Enumeration: every record, in the order of the index, a few at a time.
//!
//! A cursor stands in front of one home bucket of one prefix of the hash. What lies before it has been given
//! out: all keys of lesser prefixes, and of this prefix those with a lesser home. A split leaves each key's
//! home as it is, so it does not change what lies before the cursor; of a prefix whose page was split
//! meanwhile, all pages are visited for one home, then for the next. The cleaner changes where records lie
//! and not where slots are.
//!
//! So whatever is there from the first call to the last is given out once. What comes or goes meanwhile may
//! be or not.

use hammerspace_error::Result;

use crate::index::bucket::HomeBucket;
use crate::index::directory::{Place, next_prefix};
use crate::read::prefetched::ask_for_record;
use crate::read::{self, Meta, RecordMeta};
use crate::record::Record;
use crate::record::key::OwnedKey;
use crate::region::Region;

/// How many homes ahead records are asked for.
const AHEAD: u64 = 4;

/// Where an enumeration stands: a number to keep, and to come back with, also in another process or after the
/// owner's death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The prefix, at the top, as hashes have it.
    prefix: u64,
    /// How many bits it has; unknown at its first home.
    depth: u32,
    bucket: u64,
}

impl Cursor {
    /// In front of everything.
    pub const START: Self = Self { prefix: 0, depth: 0, bucket: 0 };

    /// As one word: prefix 32 | depth 8 | bucket 24.
    pub fn to_word(self) -> u64 {
        self.prefix | u64::from(self.depth) << 24 | self.bucket
    }

    /// What `to_word` made. Any word is a cursor.
    pub fn from_word(word: u64) -> Self {
        Self { prefix: word >> 32 << 32, depth: (word >> 24 & 31) as u32, bucket: word & 0xff_ffff }
    }
}

impl Cursor {
    /// Whether a hash lies between the cursor's prefix and the next of its depth.
    fn covers(self, hash: u64) -> bool {
        let end = next_prefix(self.prefix, self.depth);
        hash >= self.prefix && (end == 0 || hash < end)
    }
}

/// A record as enumeration gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key.
    pub key: OwnedKey,
    /// The value.
    pub value: Vec<u8>,
    /// What is known beside the value.
    pub meta: Meta,
    pub(crate) is_large: bool,
}

/// Appends a table's records of the next home to `items`. Gives the cursor after it, or `None` at the end.
pub(crate) fn step(region: &Region, table: u16, at: Cursor, items: &mut Vec<Item>) -> Result<Option<Cursor>> {
    let take = |record: Record| {
        (record.header.table() == table).then(|| {
            let mut value = Vec::new();
            record.value(region).append_to(&mut value);
            let meta = RecordMeta::of(region, record).meta();
            Item { key: record.key(region), value, meta, is_large: record.header.is_large() }
        })
    };
    step_with(region, at, &take, items)
}

/// The same of all tables, with what `take` makes of a record. A record that changes meanwhile is taken anew.
pub(crate) fn step_with<T>(
    region: &Region,
    mut at: Cursor,
    take: &impl Fn(Record) -> Option<T>,
    items: &mut Vec<T>,
) -> Result<Option<Cursor>> {
    if at.bucket == 0 {
        at.depth = Place::of(region, at.prefix).depth(region);
    }
    let mut hash = at.prefix;
    loop {
        let depth = visit(region, hash, at, take, items)?.max(at.depth);
        hash = next_prefix(hash, depth);
        if hash == 0 || !at.covers(hash) {
            break;
        }
    }
    if at.bucket + 1 < region.layout.buckets() {
        return Ok(Some(Cursor { bucket: at.bucket + 1, ..at }));
    }
    Ok((hash != 0).then_some(Cursor { prefix: hash, depth: 0, bucket: 0 }))
}

/// Appends the records of one home of the page for `hash`; gives the page's depth.
fn visit<T>(
    region: &Region,
    hash: u64,
    at: Cursor,
    take: &impl Fn(Record) -> Option<T>,
    items: &mut Vec<T>,
) -> Result<u32> {
    let (start, bucket) = (items.len(), at.bucket);
    for _ in 0..read::TRIES {
        let place = Place::of(region, hash);
        let home = |bucket| HomeBucket::at(region, place.entry.page(region), bucket, hash);
        if bucket + AHEAD < region.layout.buckets() {
            home(bucket + AHEAD).for_each(|_, slot| ask_for_record(region, slot));
        }
        let is_read = read::read_home(
            region,
            home(bucket),
            // A page may have more than the cursor's prefix where an owner died while it was split.
            |slot| at.covers(slot.prefix()),
            take,
            items,
        );
        if is_read && place.is_current_after(region) {
            return Ok(place.depth(region));
        }
        items.truncate(start);
        if !is_read {
            break;
        }
    }
    Err(read::restless())
}
