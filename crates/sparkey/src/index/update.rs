//! Bringing an index up to date with a log that has grown.

use super::Index;
use super::builder::{Builder, IndexOptions, build, shape_for, trusted_puts};
use super::header::IndexHeader;
use crate::fault;
use crate::log::Log;
use crate::log::entry::Address;
use hammerspace_error::Result;

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
    B: AsRef<[u8]>,
    C: AsRef<[u8]>,
{
    check_pair(log, old)?;
    let puts = trusted_puts(log)?;
    let new_puts = puts.saturating_sub(old.header().num_puts);
    let seed = options.seed.unwrap_or(old.header().hash_seed);
    if !fits(log, old, new_puts, seed, options) {
        let hash_size = options.hash_size.or(Some(old.header().hash_size));
        let options = IndexOptions { hash_size, seed: Some(seed) };
        return build(log, log.header().data_end, puts, roomy_capacity_for(puts), &options);
    }
    let mut builder = Builder {
        log,
        end: log.header().data_end,
        shape: *old.shape(),
        seed,
        image: old.bytes()[..IndexHeader::SIZE + old.table().len()].to_vec(),
        garbage_size: old.header().garbage_size,
        num_entries: old.header().num_entries,
    };
    builder.replay(Address { offset: old.header().data_end, index: 0 }, new_puts)?;
    builder.finish()
}

/// Slots for a log that is going to grow: it may by a third before it has to move again.
fn roomy_capacity_for(puts: u64) -> u64 {
    puts.saturating_add(puts / 3 * 2) | 1
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

fn check_pair<B: AsRef<[u8]>, C: AsRef<[u8]>>(log: &Log<B>, old: &Index<C>) -> Result<()> {
    let (log, index) = (log.header(), old.header());
    if log.file_identifier != index.file_identifier {
        return Err(fault::invalid(format!(
            "the index belongs to the log with identifier {:#010x}, not {:#010x}",
            index.file_identifier, log.file_identifier
        )));
    }
    if index.data_end > log.data_end {
        let (covered, end) = (index.data_end, log.data_end);
        return Err(fault::index(20, format!("the index covers the log up to {covered}, past its data_end {end}")));
    }
    Ok(())
}
