//! Bringing an index up to date with a log that has grown.

use super::builder::{Builder, IndexOptions, Ties, capacity_for, shape_for, trusted_puts};
use super::bulk::build;
use super::counts::Counts;
use super::header::IndexHeader;
use super::{Index, check_pair};
use crate::log::entry::Address;
use crate::log::{Log, named};
use hammerspace_error::Result;

/// Slots per ten puts for a log that is known to grow: it may by a quarter before its table has to be made anew.
const ROOMY: u64 = 16;

/// Makes the index of `log` from `old`, an index of the same log when it was shorter: the bytes of an `.spi` file.
///
/// As long as the new keys fit the old table (at most 0.8 of its slots occupied), this costs a copy of the table and the
/// new entries, however long the log is. When they do not, or another hash size is asked for, the log is replayed into a
/// larger table, with room to grow. The seed stays the old one's, unless `options` names another.
///
/// The result answers like a fresh index, but need not equal one byte by byte. A damaged `old` is
/// [`Corrupt`](hammerspace_error::Kind::Corrupt), as far as it is looked at.
pub fn update_index<B, C>(log: &Log<B>, old: &Index<C>, options: &IndexOptions) -> Result<Vec<u8>>
where
    B: AsRef<[u8]> + Sync,
    C: AsRef<[u8]>,
{
    check_pair(log.header(), old.header()).map_err(|error| named(error, old.file()))?;
    let new_puts = log.header().num_puts.saturating_sub(old.header().num_puts);
    let seed = options.seed.unwrap_or(old.header().hash_seed);
    if !fits(log, old, new_puts, seed, options) {
        let hash_size = options.hash_size.or(Some(old.header().hash_size));
        let options = IndexOptions { hash_size, seed: Some(seed) };
        let puts = trusted_puts(log)?;
        return build(log, log.header().data_end, puts, capacity_for(puts, ROOMY), &options);
    }
    let mut builder = Builder {
        log,
        end: log.header().data_end,
        shape: *old.shape(),
        seed,
        ties: Ties::ByAge,
        image: old.bytes()[..IndexHeader::SIZE + old.table().len()].to_vec(),
        garbage_size: old.header().garbage_size,
        num_entries: old.header().num_entries,
        counts: Some(Counts::said_by(old.header())),
        source: old.file(),
    };
    builder.replay(Address { offset: old.header().data_end, index: 0 }, new_puts)?;
    builder.finish()
}

/// Whether the old table can take the new entries as it is.
fn fits<B, C>(log: &Log<B>, old: &Index<C>, new_puts: u64, seed: u32, options: &IndexOptions) -> bool
where
    B: AsRef<[u8]>,
    C: AsRef<[u8]>,
{
    let (shape, header) = (old.shape(), old.header());
    let needed = shape_for(log.header(), log.header().data_end, shape.hash_size, shape.capacity);
    let narrow = needed.address_size > shape.address_size || needed.block_bits > shape.block_bits;
    // Zero bits is a promise to Java where nothing is compressed; C's indexes may break it.
    let skewed = needed.block_bits == 0 && shape.block_bits != 0;
    let same_hash = seed == header.hash_seed && options.hash_size.is_none_or(|size| size == shape.hash_size);
    let most = header.num_entries.saturating_add(new_puts);
    same_hash && !narrow && !skewed && (most <= header.hash_capacity / 5 * 4 || new_puts == 0)
}
