//! Writing a directory of shards.

use std::ffi::c_char;

use hammerspace::sparkey::{Pair, Sharding, write_shards};

use crate::bytes::path;
use crate::error::{Error, answer};
use crate::options::{log_options, shard_keys};

/// Divides the live entries of a log and its index among `count` new shards, 1 to 32767, in a directory that is new or empty.
/// `keys` is a hammerspace_shard_keys, `compression` and `block_size` are those of hammerspace_log_create. The directory gets
/// its name when all is durable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_shards_write(
    log: *const c_char,
    index: *const c_char,
    directory: *const c_char,
    count: u32,
    keys: u32,
    compression: u32,
    block_size: u32,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let (log, index, directory) = unsafe { (path(log)?, path(index)?, path(directory)?) };
        let table = Pair { log: log.into(), index: index.into() }.open()?;
        let log = log_options(compression, block_size)?;
        write_shards(&table, directory, &Sharding { count: count as usize, keys: shard_keys(keys)?, log })
    })
}
