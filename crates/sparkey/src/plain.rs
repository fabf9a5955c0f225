//! Lookups where nothing is compressed: two cache misses, one for the slot and one for the entry, and little else.
//!
//! A single lookup cannot overlap its two misses; but the processor runs ahead into the next lookup while it waits, as far as
//! it can foresee the branches. So there is one straight path for what is nearly always the case, and whatever is not
//! plainly so is looked at again, at leisure, by [`Lookup`]. It is part of whoever calls it: a call's own instructions are a
//! seventh of it, and callers who know their keys' length save half of the hash. A batch overlaps the misses of its keys by asking for the memory
//! of all before it looks at any ("Prefetching for Hash Joins", Chen, Ailamaki, Gibbons and Mowry, 2004: group prefetching).

use crate::codec::Compression;
use crate::index::glance::Glance;
use crate::index::header::{HashSize, IndexHeader};
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
pub(crate) const IN_FLIGHT: usize = 32;

/// Bytes of a cache line on the processors that are promised.
const LINE: usize = 64;

/// Lines of an entry that are asked for, at most, beside its first: a batch of them fits into the nearest cache.
const LINES_MAX: u64 = 4;

/// Which way lookups go: the straight one, by the bytes of a slot's hash and address, or the general one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    FourFour,
    FourEight,
    EightFour,
    EightEight,
    General,
}

impl Way {
    pub(crate) fn of(log: &LogHeader, index: &IndexHeader) -> Self {
        // Where the slots outnumber the hashes, a remainder takes more than `Shape::wanted_of` computes.
        let hashes_suffice = index.hash_size == HashSize::Eight || u32::try_from(index.hash_capacity).is_ok();
        match (index.hash_size, index.address_size) {
            _ if log.compression != Compression::None || !hashes_suffice => Self::General,
            // Where nothing is compressed, an address is an offset, if nobody is out for mischief.
            _ if index.entry_block_bits != 0 => Self::General,
            (HashSize::Four, 4) => Self::FourFour,
            (HashSize::Four, _) => Self::FourEight,
            (HashSize::Eight, 4) => Self::EightFour,
            (HashSize::Eight, _) => Self::EightEight,
        }
    }
}

/// Calls a method with the bytes of the slots' hashes and addresses as constants; or else does something in general.
macro_rules! straight {
    ($this:ident.$method:ident($($argument:expr),*), else $general:expr) => {
        match $this.way() {
            Way::FourFour => $this.$method::<4, 4>($($argument),*),
            Way::FourEight => $this.$method::<4, 8>($($argument),*),
            Way::EightFour => $this.$method::<8, 4>($($argument),*),
            Way::EightEight => $this.$method::<8, 8>($($argument),*),
            Way::General => $general,
        }
    };
}
pub(crate) use straight;

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Table<L, I> {
    /// The value of `key`. Registers are scarce: whatever takes longer is the last thing that is done, and comes not back here.
    #[expect(clippy::inline_always, reason = "see the module")]
    #[inline(always)]
    pub(crate) fn get_straight<const HASH: usize, const ADDRESS: usize>(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (data, hash) = (self.data(), self.index().hash_of::<HASH>(key));
        let wanted = self.index().shape().wanted_of::<HASH>(hash);
        match self.index().glance::<HASH, ADDRESS>(hash, wanted) {
            Glance::Seen(packed) => {
                let offset = packed as usize;
                // What does not lie in the entry's first line would be waited for after that.
                prefetch(data, offset.wrapping_add(LINE - 1));
                if let Some(value) = value_at(data, offset, key) {
                    return Ok(Some(value));
                }
            }
            Glance::Absent => return Ok(None),
            Glance::Unclear => {}
        }
        // Taken apart and put together again: else what is found at once would go through memory, where this result is.
        let slowly = self.get_slowly(key, hash)?;
        Ok(slowly)
    }

    /// The same where the first slot with the hash is not near, or not plainly the put of the key.
    #[cold]
    fn get_slowly(&self, key: &[u8], hash: u64) -> Result<Option<&[u8]>> {
        for (at, slot) in self.index().probe(hash) {
            if let Some(range) = self.look_closer(at, slot, key)? {
                return Ok(Some(&self.data()[range]));
            }
        }
        Ok(None)
    }

    /// Adds the values of at most [`IN_FLIGHT`] keys. Each step is done for all keys before the next step: what one asks for comes
    /// while the others have their turn.
    pub(crate) fn get_in_flight<'a, const HASH: usize, const ADDRESS: usize>(
        &'a self,
        keys: &[impl AsRef<[u8]>],
        values: &mut Vec<Option<Cow<'a, [u8]>>>,
    ) -> Result<()> {
        let (data, index) = (self.data(), self.index());
        // Whoever asks for a value reads it to its end.
        let lines = self.log().header().mean_put().div_ceil(LINE as u64).clamp(1, LINES_MAX) as usize;
        let (mut wants, mut glances) = ([(0, 0); IN_FLIGHT], [Glance::Absent; IN_FLIGHT]);
        for (key, want) in keys.iter().zip(&mut wants) {
            let hash = index.hash_of::<HASH>(key.as_ref());
            let wanted = index.shape().wanted_of::<HASH>(hash);
            index.prefetch(wanted);
            *want = (hash, wanted);
        }
        for ((hash, wanted), glance) in wants[..keys.len()].iter().zip(&mut glances) {
            *glance = index.glance::<HASH, ADDRESS>(*hash, *wanted);
            if let Glance::Seen(packed) = *glance {
                let offset = packed as usize;
                prefetch(data, offset);
                for line in 1..=lines {
                    prefetch(data, offset.wrapping_add(line * LINE - 1));
                }
            }
        }
        for ((key, (hash, _)), glance) in keys.iter().zip(wants).zip(glances) {
            let key = key.as_ref();
            let plainly = match glance {
                Glance::Seen(packed) => value_at(data, packed as usize, key),
                Glance::Absent | Glance::Unclear => None,
            };
            let value = match plainly {
                None if glance != Glance::Absent => self.get_slowly(key, hash)?,
                plainly => plainly,
            };
            values.push(value.map(Cow::Borrowed));
        }
        Ok(())
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

/// The value of the put at `offset`, if that is plainly the put of `key`, all of it within the data: the key shorter than 127
/// bytes, the value than 16 KiB.
#[expect(clippy::inline_always, reason = "see the module")]
#[inline(always)]
fn value_at<'a>(data: &'a [u8], offset: usize, key: &[u8]) -> Option<&'a [u8]> {
    let entry = data.get(offset..)?;
    let [key_len, low, high] = *entry.first_chunk()?;
    let (value_len, len_len) = vlq::read_short(low, high)?;
    if offset < LogHeader::SIZE || key_len >= 0x80 || usize::from(key_len) != key.len() + 1 {
        return None;
    }
    let start = 1 + len_len;
    let middle = start + key.len();
    let entry = entry.get(..middle + value_len as usize)?;
    let (found, value) = (entry.get(start..middle)?, entry.get(middle..)?);
    same(found, key).then_some(value)
}

/// Whether two keys of one length are the same. Those of 8 to 16 bytes are compared as two integers that overlap: a call of the
/// general comparison costs more than that.
#[expect(clippy::inline_always, reason = "see the module")]
#[inline(always)]
fn same(left: &[u8], right: &[u8]) -> bool {
    let ends = |key: &[u8]| Some((u64::from_le_bytes(*key.first_chunk()?), u64::from_le_bytes(*key.last_chunk()?)));
    match (ends(left), ends(right)) {
        (Some(lefts), Some(rights)) if left.len() <= 16 => lefts.0 == rights.0 && lefts.1 == rights.1,
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_in_any_byte_are_not_the_same() {
        for len in 0..40 {
            let key: Vec<u8> = (0..len).collect();
            assert!(same(&key, &key.clone()));
            for at in 0..key.len() {
                let mut other = key.clone();
                other[at] ^= 0x80;
                assert!(!same(&key, &other), "{len} bytes, another one at {at}");
            }
        }
    }
}
