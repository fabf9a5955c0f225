//! Reading while others write: by the owner's threads and by any other process, with the same few loads.
//!
//! ```text
//! slot  ──  generation of its segment  ──  slot again: the record was whole, and named, when the generation was this
//! head, key, value …
//! generation again: the segment has not been used for anything else, so all that was read belongs to that record
//! ```
//!
//! A read takes effect when it looks at the slot for the second time. A key is absent if it was found nowhere and the directory is
//! as before. Nothing is written and nothing waited for: a reader may be stopped or killed at any instant, and nobody knows.
//! Readers begin anew when something changed under them; since a segment that became free is the last to be used again, that
//! hardly ever happens.

use hammerspace_error::{Error, Kind, Result};

use crate::geometry::BUCKET;
use crate::index::bucket::Home;
use crate::index::directory::Place;
use crate::index::slot::Slot;
use crate::record::{Key, Record, Traits};
use crate::region::Region;

/// How often a read begins anew before it says that the region cannot be read.
pub(crate) const TRIES: u32 = 10_000;
/// How many keys of a batch wait for memory at the same time.
pub(crate) const IN_FLIGHT: usize = 32;

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

/// What a key's record was at one instant.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) traits: Traits,
}

impl Seen {
    pub(crate) fn meta(&self) -> Meta {
        Meta { kind: self.traits.kind, version: self.traits.version, expiry: self.traits.expiry }
    }
}

/// What came of looking at one slot.
enum Look<T> {
    /// It was what was wanted.
    Hit(T),
    /// It was another key's.
    Other,
    /// It changed meanwhile.
    Changed,
}

/// Finds a key and appends its value to `out`, as the record has it.
#[inline]
pub(crate) fn read(region: &Region, table: u16, key: Key<'_>, hash: u64, out: &mut Vec<u8>) -> Result<Option<Seen>> {
    let start = out.len();
    for _ in 0..TRIES {
        let place = Place::of(region, hash);
        let found = Home::new(region, place, hash).find(|address, slot| {
            let looked = look(region, address, slot, |record| {
                record.is_of(region, table, key).then(|| {
                    record.read_value(region, out);
                    Seen { traits: record.traits(region) }
                })
            });
            if let Look::Other = looked { None } else { Some(looked) }
        });
        match found {
            Some(Look::Hit(seen)) => return Ok(Some(seen)),
            None if place.is_current_after(region, hash) => return Ok(None),
            _ => out.truncate(start),
        }
        std::hint::spin_loop();
    }
    Err(restless())
}

/// Looks at the record that a slot names. What `take` makes of it counts only if it was that record all the time.
#[inline]
fn look<T>(region: &Region, at: u64, slot: Slot, take: impl FnOnce(Record) -> Option<T>) -> Look<T> {
    let address = slot.address();
    let generation = region.generation(address);
    if generation.is_none() || region.load(at) != slot.0 {
        return Look::Changed;
    }
    let taken = take(Record::at(region, address));
    if region.generation_after(address) != generation {
        return Look::Changed;
    }
    taken.map_or(Look::Other, Look::Hit)
}

/// Gives `take` each record whose key has this home, and collects what it makes of them. `false` if one could not be read.
pub(crate) fn read_home<T>(
    region: &Region,
    home: Home<'_>,
    mut take: impl FnMut(Record) -> Option<T>,
    out: &mut Vec<T>,
) -> bool {
    let mut is_read = true;
    home.for_each(|at, mut slot| {
        for _ in 0..TRIES {
            match look(region, at, slot, &mut take) {
                Look::Hit(taken) => return out.push(taken),
                Look::Other => return,
                Look::Changed => slot = Slot(region.load(at)),
            }
            if slot.is_empty() {
                return;
            }
        }
        is_read = false;
    });
    is_read
}

/// Asks for the memory that reads of these hashes will need: first all their buckets, then what those name.
pub(crate) fn warm(region: &Region, hashes: &[u64]) {
    let home = |hash: u64| Home::new(region, Place::of(region, hash), hash);
    for &hash in hashes {
        region.prefetch(home(hash).address());
    }
    for &hash in hashes {
        if let Some(slot) = home(hash).find(|_, slot| Some(slot)) {
            prefetch_record(region, slot);
        }
    }
}

/// Asks for the first lines of the record that a slot names.
pub(crate) fn prefetch_record(region: &Region, slot: Slot) {
    region.prefetch(slot.address());
    region.prefetch(slot.address() + BUCKET);
}

#[cold]
pub(crate) fn restless() -> Error {
    Error::new(Kind::Busy, "the key's record changed each of the ten thousand times it was read")
        .remedy("try again; if it stays so, the region is damaged: `hammerspace store verify` tells")
}
