//! A log and its index, read together: a hash table from bytes to bytes.

use crate::cache::{BlockCache, Share};
use crate::fast_path::{IN_FLIGHT, SlotShape, dispatch};
use crate::index::Index;
use crate::index::bulk::Effort;
use crate::index::slot::Slot;
use crate::live::Live;
use crate::log::entries::Entries;
use crate::log::entry::{Address, Entry};
use crate::log::header::LogHeader;
pub use crate::log::lookup::Found;
use crate::log::lookup::{Lookup, Put, Seen};
use crate::log::{Log, named};
use crate::report::Report;
use crate::{fault, index};
use hammerspace_error::{Error, Result};
use std::borrow::Cow;
use std::io::{Read, Seek, Write};
use std::sync::Arc;

/// A log and its index, opened for reading.
///
/// Sees the log as the index does: entries that were appended later are invisible, to lookups and to iteration. Any number
/// of threads may share one. A lookup costs one hash and, where nothing is compressed, usually one slot and one entry.
#[derive(Clone, Debug)]
pub struct Table<L, I> {
    log: Log<L>,
    index: Index<I>,
    slot_shape: SlotShape,
    /// Where decoded blocks are kept, if anywhere.
    share: Option<Share>,
}

impl<L: AsRef<[u8]>, I: AsRef<[u8]>> Table<L, I> {
    /// Opens both from their bytes: constant time.
    pub fn open(log: L, index: I) -> Result<Self> {
        let index = Index::open(index)?;
        Self::join(Log::open(log)?, index)
    }

    /// Puts a log and its index together; refuses two that do not belong together.
    pub fn join(log: Log<L>, index: Index<I>) -> Result<Self> {
        index::check_pair(log.header(), index.header()).map_err(|error| named(error, index.file()))?;
        let slot_shape = SlotShape::of(log.header(), index.header());
        Ok(Self { log, index, slot_shape, share: None })
    }

    /// Keeps the blocks that lookups decode in `cache`, and looks for them there. An uncompressed log has none.
    #[must_use]
    pub fn with_cache(self, cache: Arc<BlockCache>) -> Self {
        let share = Share::new(cache, self.log.header().block_size);
        Self { share: Some(share), ..self }
    }

    /// The log.
    pub fn log(&self) -> &Log<L> {
        &self.log
    }

    /// The index.
    pub fn index(&self) -> &Index<I> {
        &self.index
    }

    /// Gives log and index back.
    pub fn into_parts(self) -> (Log<L>, Index<I>) {
        (self.log, self.index)
    }

    /// Live keys.
    pub fn len(&self) -> u64 {
        self.index.header().num_entries
    }

    /// Whether there is no live key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`; a slice of the log's bytes where nothing is compressed.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        let found = dispatch!(self.get_fast(key), else return self.get_generally(key));
        Ok(found?.map(Cow::Borrowed))
    }

    #[inline(never)]
    fn get_generally(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        Ok(self.look_up(key, Lookup::value)?.map(|found| match found {
            Found::Mapped(range) => Cow::Borrowed(&self.log.bytes()[range]),
            Found::Decoded(value) => Cow::Owned(value.into_vec()),
            Found::Cached(value) => Cow::Owned(value.to_vec()),
        }))
    }

    /// The values of many keys, in their order. Where nothing is compressed, the cache misses of some thirty keys overlap: in
    /// large tables several times faster than to [`get`](Self::get) one after the other.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        let mut values = Vec::with_capacity(keys.len());
        for some in keys.chunks(IN_FLIGHT) {
            dispatch!(self.get_in_flight(some, &mut values), else return self.get_each(keys))?;
        }
        Ok(values)
    }

    fn get_each(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        keys.iter().map(|key| self.get_generally(key.as_ref())).collect()
    }

    /// Whether `key` is live.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        let found = dispatch!(self.get_fast(key), else return Ok(self.look_up(key, |_, _| Ok(()))?.is_some()));
        Ok(found?.is_some())
    }

    /// Shows the value of `key` to `show`, and gives what that gives. Allocates nothing, compressed or not: the fastest way to
    /// read compressed values.
    #[inline]
    pub fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let found =
            dispatch!(self.get_fast(key), else return self.look_up(key, |mut lookup, put| lookup.show(put, show)));
        Ok(found?.map(show))
    }

    /// The value of `key` without a lifetime, for owners of the bytes.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<Option<Found>> {
        let found = dispatch!(self.get_fast(key), else return self.look_up(key, Lookup::value));
        Ok(found?.map(|value| Found::Mapped(self.log.range_of(value))))
    }

    /// Live entries, in log order.
    pub fn iter(&self) -> Live<'_, L, I> {
        Live::new(self, Entries::new(self.data(), self.log.header(), self.log.file()))
    }

    /// Live entries from `address` on, which must be that of an entry, or the index's `data_end`.
    pub fn iter_from(&self, address: Address) -> Result<Live<'_, L, I>> {
        let entries = self.log.entries_between(address, self.index.header().data_end)?;
        Ok(Live::new(self, entries))
    }

    /// Reads everything, and says all that is wrong with log and index. Linear in the log; makes a second index, in memory, and
    /// takes 16 bytes more for each entry meanwhile.
    pub fn verify(&self) -> Report
    where
        L: Sync,
    {
        Report::in_memory(|effort, scratch| self.verify_within(effort, scratch))
    }

    /// The same, with so much memory and so many threads. What the memory has no room for, an index and 16 bytes for each
    /// entry, goes to what `scratch` gives, an empty file say; it is called twice at most, and not at all for a small table. An
    /// error is one of the scratch.
    pub fn verify_within<S>(&self, effort: &Effort, scratch: impl Fn() -> Result<S> + Sync) -> Result<Report>
    where
        L: Sync,
        S: Read + Write + Seek + Send,
    {
        let mut report = self.log.verify();
        let log_is_sound = report.is_clean();
        index::verify::verify(self, log_is_sound, effort, scratch, &mut report)?;
        Ok(report)
    }

    #[inline]
    pub(crate) fn slot_shape(&self) -> SlotShape {
        self.slot_shape
    }

    /// The log as far as the index covers it.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        self.log.data(self.index.header().data_end)
    }

    #[inline]
    fn look_up<'a, T>(&'a self, key: &[u8], then: impl FnOnce(Lookup<'a>, &Put) -> Result<T>) -> Result<Option<T>> {
        let mut lookup = Lookup::over(self.data(), self.log.header(), self.share.as_ref());
        for (at, slot) in self.index.probe(self.index.hash(key)) {
            let address = self.address(at, slot)?;
            let in_log = |error| named(error, self.log.file());
            match lookup.put_at(address, key).map_err(in_log)? {
                Seen::Put(put) => return then(lookup, &put).map(Some).map_err(in_log),
                Seen::Other => {}
                Seen::Delete => return Err(self.delete_at(at, address)),
            }
        }
        Ok(None)
    }

    /// Where slot `at` points to, if that is within the log.
    #[inline]
    pub(crate) fn address(&self, at: usize, slot: Slot) -> Result<Address> {
        let address = self.index.shape().unpack(slot.address);
        let end = self.index.header().data_end;
        if !(LogHeader::SIZE as u64..end).contains(&address.offset) {
            return Err(self.damaged(at, format!("log offset {}, outside the data from 84 to {end}", address.offset)));
        }
        Ok(address)
    }

    #[cold]
    pub(crate) fn delete_at(&self, at: usize, address: Address) -> Error {
        self.damaged(at, format!("a delete at log offset {}", address.offset))
    }

    #[cold]
    pub(crate) fn damaged(&self, at: usize, target: impl std::fmt::Display) -> Error {
        let error = fault::index(self.index.shape().offset(at), format!("slot {at} points to {target}"));
        named(error, self.index.file())
    }

    /// Where the slots point to that hold the hash of `key`, with the slots' numbers.
    pub(crate) fn targets(&self, key: &[u8]) -> impl Iterator<Item = Result<(usize, Address)>> {
        let probe = self.index.probe(self.index.hash(key));
        probe.map(|(at, slot)| self.address(at, slot).map(|address| (at, address)))
    }

    /// Whether the put of `key` at this address is the one that the index has for it.
    pub(crate) fn has(&self, key: &[u8], address: Address) -> bool {
        let Some(address) = self.index.shape().pack(address) else { return false };
        self.index.probe(self.index.hash(key)).any(|(_, slot)| slot.address == address)
    }
}

impl<'a, L: AsRef<[u8]>, I: AsRef<[u8]>> IntoIterator for &'a Table<L, I> {
    type Item = Result<Entry<'a>>;
    type IntoIter = Live<'a, L, I>;

    fn into_iter(self) -> Live<'a, L, I> {
        self.iter()
    }
}
