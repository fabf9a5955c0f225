//! Lookups where nothing is compressed: two cache misses, one for the slot and one for the entry, and little else.
//!
//! A single lookup cannot overlap its two misses. While it waits, the processor runs ahead into the next lookup, as far
//! as it predicts the branches. The fast path therefore has no branch that is hard to predict. It
//! covers nearly every lookup; [`Lookup`] repeats the rest without haste. The path is inlined into its caller: a call
//! alone would add a seventh to it, and a caller with keys of a known length saves half of the hash. A batch overlaps
//! the misses of its keys: it prefetches the memory of all of them before it reads any ("Prefetching for Hash Joins",
//! Chen, Ailamaki, Gibbons and Mowry, 2004: group prefetching).

use crate::codec::Compression;
use crate::index::group_probe::GroupProbe;
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

/// The widths of a slot's hash and address, for which the fast path is compiled; `General` has no fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotShape {
    FourFour,
    FourEight,
    EightFour,
    EightEight,
    General,
}

impl SlotShape {
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

/// Calls a method with the widths of hashes and addresses as constants; evaluates `else` where there is no fast path.
macro_rules! dispatch {
    ($this:ident.$method:ident($($argument:expr),*), else $general:expr) => {
        match $this.slot_shape() {
            SlotShape::FourFour => $this.$method::<4, 4>($($argument),*),
            SlotShape::FourEight => $this.$method::<4, 8>($($argument),*),
            SlotShape::EightFour => $this.$method::<8, 4>($($argument),*),
            SlotShape::EightEight => $this.$method::<8, 8>($($argument),*),
            SlotShape::General => $general,
        }
    };
}
pub(crate) use dispatch;

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Table<L, I> {
    /// The value of `key`. Registers are scarce: whatever takes longer is the last thing that is done, and comes not back here.
    #[expect(clippy::inline_always, reason = "see the module")]
    #[inline(always)]
    pub(crate) fn get_fast<const HASH: usize, const ADDRESS: usize>(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let (data, hash) = (self.data(), self.index().hash_of::<HASH>(key));
        let wanted = self.index().shape().wanted_of::<HASH>(hash);
        match self.index().probe_group::<HASH, ADDRESS>(hash, wanted) {
            GroupProbe::Seen(packed) => {
                let offset = packed as usize;
                // What does not lie in the entry's first line would be waited for after that.
                prefetch(data, offset.wrapping_add(LINE - 1));
                if let Some(value) = value_at(data, offset, key) {
                    return Ok(Some(value));
                }
            }
            GroupProbe::Absent => return Ok(None),
            GroupProbe::Unclear => {}
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
        let (mut wants, mut probes) = ([(0, 0); IN_FLIGHT], [GroupProbe::Absent; IN_FLIGHT]);
        for (key, want) in keys.iter().zip(&mut wants) {
            let hash = index.hash_of::<HASH>(key.as_ref());
            let wanted = index.shape().wanted_of::<HASH>(hash);
            index.prefetch(wanted);
            *want = (hash, wanted);
        }
        for ((hash, wanted), probe) in wants[..keys.len()].iter().zip(&mut probes) {
            *probe = index.probe_group::<HASH, ADDRESS>(*hash, *wanted);
            if let GroupProbe::Seen(packed) = *probe {
                let offset = packed as usize;
                prefetch(data, offset);
                for line in 1..=lines {
                    prefetch(data, offset.wrapping_add(line * LINE - 1));
                }
            }
        }
        for ((key, (hash, _)), probe) in keys.iter().zip(wants).zip(probes) {
            let key = key.as_ref();
            let plainly = match probe {
                GroupProbe::Seen(packed) => value_at(data, packed as usize, key),
                GroupProbe::Absent | GroupProbe::Unclear => None,
            };
            let value = match plainly {
                None if probe != GroupProbe::Absent => self.get_slowly(key, hash)?,
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
