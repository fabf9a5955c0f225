//! Lookups where nothing is compressed: two cache misses, one for the slot and one for the entry, and little else.
//!
//! A single lookup cannot overlap its two misses; but the processor runs ahead into the next lookup while it waits, as far as
//! it can foresee the branches. So there is one straight path for what is nearly always the case, and whatever is not
//! plainly so is looked at again, at leisure, by [`Lookup`]. A batch overlaps the misses of its keys by asking for the memory
//! of all before it looks at any ("Prefetching for Hash Joins", Chen, Ailamaki, Gibbons and Mowry, 2004: group prefetching).

use crate::index::slot::Slot;
use crate::log::header::LogHeader;
use crate::log::lookup::{Found, Lookup, Seen};
use crate::log::named;
use crate::table::Table;
use hammerspace_bytes::vlq;
use hammerspace_error::Result;
use hammerspace_os::prefetch;
use std::borrow::Cow;
use std::ops::Range;

/// Keys whose cache misses overlap: more than a core keeps track of at once.
const IN_FLIGHT: usize = 32;

/// Bytes of a cache line on the processors that are promised.
const LINE: usize = 64;

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Table<L, I> {
    /// Where the log has the value of `key`, whose hash is given.
    #[expect(clippy::inline_always, reason = "a result that goes through memory holds up the processor")]
    #[inline(always)]
    pub(crate) fn find_plain(&self, key: &[u8], hash: u64) -> Result<Option<Range<usize>>> {
        let data = self.data();
        for (at, slot) in self.index().probe(hash) {
            let offset = self.offset(slot);
            // What does not lie in the entry's first line would be waited for after that.
            prefetch(data, offset + LINE - 1);
            let found = value_of(data, offset, key);
            if found.is_some() {
                return Ok(found);
            }
            if let Some(range) = self.look_closer(at, slot, key)? {
                return Ok(Some(range));
            }
        }
        Ok(None)
    }

    /// The values of many keys.
    pub(crate) fn get_many_plain<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        let mut values = Vec::with_capacity(keys.len());
        for some in keys.chunks(IN_FLIGHT) {
            self.get_in_flight(some, &mut values)?;
        }
        Ok(values)
    }

    /// Each step for all keys before the next step: what one asks for comes while the others have their turn.
    fn get_in_flight<'a, K: AsRef<[u8]>>(&'a self, keys: &[K], values: &mut Vec<Option<Cow<'a, [u8]>>>) -> Result<()> {
        let (data, mut hashes, mut offsets) = (self.data(), [0; IN_FLIGHT], [None; IN_FLIGHT]);
        for (key, hash) in keys.iter().zip(&mut hashes) {
            *hash = self.index().hash(key.as_ref());
            self.index().prefetch(*hash);
        }
        for (hash, offset) in hashes[..keys.len()].iter().zip(&mut offsets) {
            *offset = self.index().probe(*hash).next().map(|(_, slot)| self.offset(slot));
            if let Some(offset) = *offset {
                prefetch(data, offset);
                prefetch(data, offset + LINE - 1);
            }
        }
        for ((key, hash), offset) in keys.iter().zip(hashes).zip(offsets) {
            let Some(offset) = offset else {
                values.push(None);
                continue;
            };
            let range = match value_of(data, offset, key.as_ref()) {
                Some(range) => Some(range),
                None => self.find_plain(key.as_ref(), hash)?,
            };
            values.push(range.map(|range| Cow::Borrowed(&data[range])));
        }
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn offset(&self, slot: Slot) -> usize {
        self.index().shape().unpack(slot.address).offset as usize
    }

    /// What slot `at` points to, without haste: another key, an unusual length, or damage.
    #[cold]
    fn look_closer(&self, at: usize, slot: Slot, key: &[u8]) -> Result<Option<Range<usize>>> {
        let address = self.address(at, slot)?;
        let mut lookup = Lookup::Plain(self.data());
        let in_log = |error| named(error, self.log().file());
        match lookup.put_at(address, key).map_err(in_log)? {
            Seen::Put(put) => {
                let Found::Mapped(range) = lookup.value(&put).map_err(in_log)? else {
                    unreachable!("an uncompressed log has no blocks")
                };
                Ok(Some(range))
            }
            Seen::Other => Ok(None),
            Seen::Delete => Err(self.delete_at(at, address)),
        }
    }
}

/// Where the value of the put at `offset` lies, if that is plainly the put of `key`, all of it within the data.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn value_of(data: &[u8], offset: usize, key: &[u8]) -> Option<Range<usize>> {
    let entry = data.get(offset..).filter(|_| offset >= LogHeader::SIZE)?;
    let (key_len, key_len_len) = vlq::read(entry).ok()?;
    let (value_len, value_len_len) = vlq::read(&entry[key_len_len..]).ok()?;
    let (found, rest) = entry[key_len_len + value_len_len..].split_at_checked(key.len())?;
    let same = key_len == key.len() as u64 + 1 && found == key && value_len <= rest.len() as u64;
    let start = offset + key_len_len + value_len_len + key.len();
    same.then_some(start..start + value_len as usize)
}
