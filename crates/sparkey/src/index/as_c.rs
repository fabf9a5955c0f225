//! An index as Spotify's C library makes it: slot for slot, given the seed.
//!
//! A fresh one is the replay of the log, like any other; only ties are broken otherwise. One that is there is gone on with:
//!
//! ```text
//! old slots, left to right ── re-insert ──► new table, 1.3 slots a key ◄── replay ── the log from the old data_end on
//! ```
//! So the table depends on its past, which is why our own updates do otherwise. We leave C where it goes wrong: with another
//! hash size it replays the whole log into a table for the live keys alone, and counts garbage twice; we build afresh then.

use super::builder::{
    Builder, FRESH, IndexOptions, Ties, capacity_for, hash_size_for, seed_of, shape_for, trusted_puts,
};
use super::counts::Counts;
use super::header::{HashSize, IndexHeader};
use super::slot::Shape;
use super::{Index, check_pair};
use crate::fault;
use crate::log::Log;
use crate::log::entry::Address;
use crate::log::header::LogHeader;
use hammerspace_error::{Error, Result};

/// The average key of a sound table lies one or two slots from home. Re-inserting one in which they lie so far, by
/// damage or by malice, could take hours.
const DISPLACEMENT_MAX: u64 = 1000;

/// Makes the index of `log` as `sparkey_hash_write` does, from `old` if that is an index of the same log: the bytes of an
/// `.spi` file, or `None` if `old` is up to date already.
///
/// The seed is that of `old`; of `options`, or random, where there is no such index. Linear in the log, or in `old` and in
/// what was appended since. An `old` that is damaged counts for nothing.
pub fn build_index_as_c<B, C>(log: &Log<B>, old: Option<&Index<C>>, options: &IndexOptions) -> Result<Option<Vec<u8>>>
where
    B: AsRef<[u8]>,
    C: AsRef<[u8]>,
{
    let puts = trusted_puts(log)?;
    if let Some(old) = old.filter(|old| is_usable(log, old, puts)) {
        let header = old.header();
        let new_puts = puts - header.num_puts;
        let capacity = capacity_for(new_puts + header.num_entries, FRESH);
        let sticky = if header.hash_size == HashSize::Eight { HashSize::Eight } else { hash_size_for(capacity) };
        let hash_size = options.hash_size.unwrap_or(sticky);
        if hash_size == header.hash_size && is_sound(old) {
            if header.data_end == log.header().data_end {
                return Ok(None);
            }
            if let Ok(index) = extended(log, old, new_puts, capacity) {
                return Ok(Some(index));
            }
        }
        let options = IndexOptions { hash_size: Some(hash_size), seed: Some(header.hash_seed) };
        return fresh(log, puts, &options).map(Some);
    }
    fresh(log, puts, options).map(Some)
}

fn fresh<B: AsRef<[u8]>>(log: &Log<B>, puts: u64, options: &IndexOptions) -> Result<Vec<u8>> {
    let capacity = capacity_for(puts, FRESH);
    let hash_size = options.hash_size.unwrap_or(hash_size_for(capacity));
    let mut builder = empty(log, hash_size, capacity, seed_of(options)?)?;
    builder.replay(Address::FIRST, puts)?;
    builder.finish()
}

fn empty<B: AsRef<[u8]>>(log: &Log<B>, hash_size: HashSize, capacity: u64, seed: u32) -> Result<Builder<'_, B>> {
    let end = log.header().data_end;
    let shape = shape_for(log.header(), end, hash_size, capacity as usize);
    Builder::new(log, end, shape, seed, Ties::AsC)
}

/// The old slots, and what the log has had since.
fn extended<B, C>(log: &Log<B>, old: &Index<C>, new_puts: u64, capacity: u64) -> Result<Vec<u8>>
where
    B: AsRef<[u8]>,
    C: AsRef<[u8]>,
{
    let header = old.header();
    let mut builder = empty(log, header.hash_size, capacity, header.hash_seed)?;
    builder.garbage_size = header.garbage_size;
    let (shape, table) = (*old.shape(), old.table());
    for at in 0..shape.capacity {
        let mut slot = shape.get(table, at);
        if slot.is_empty() {
            continue;
        }
        let address = shape.unpack(slot.address);
        let within = (LogHeader::SIZE as u64..header.data_end).contains(&address.offset);
        let repacked = builder.shape.pack(address).filter(|_| within);
        slot.address = repacked.ok_or_else(|| astray(shape, at))?;
        builder.insert(slot)?;
    }
    builder.replay(Address { offset: header.data_end, index: 0 }, new_puts)?;
    builder.finish()
}

fn astray(shape: Shape, at: usize) -> Error {
    fault::index(shape.offset(at), format!("slot {at} points outside the log's data"))
}

/// Whether C would go on with it: an index of this log, made when the log was no longer than it is.
fn is_usable<B: AsRef<[u8]>, C: AsRef<[u8]>>(log: &Log<B>, old: &Index<C>, puts: u64) -> bool {
    let header = old.header();
    let pair = check_pair(log.header(), header).is_ok();
    pair && header.minor_version == IndexHeader::MINOR_VERSION && header.num_puts <= puts
}

fn is_sound<C: AsRef<[u8]>>(old: &Index<C>) -> bool {
    let mut sound = true;
    let counts = Counts::of(old.table(), old.shape(), |_, _| sound = false);
    let bearable = counts.total_displacement <= counts.entries.saturating_mul(DISPLACEMENT_MAX);
    sound && bearable && counts.entries == old.header().num_entries
}
