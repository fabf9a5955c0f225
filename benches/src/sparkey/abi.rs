//! Our `libsparkey.so` beside Spotify's: the same calls of C's, on the same files. A program that swaps the library should
//! lose nothing, whatever its values' length and however they are packed. Spotify's version here knows no zstd.

use std::path::Path;
use std::time::Duration;

use hammerspace_rivals::libsparkey::{Api, Reader};
use hammerspace_sparkey::{Compression, LogOptions};

use super::LIBSPARKEY;
use super::numbered::{Values, keys};
use super::pair::Pair;
use super::read::{summed, with_c};
use crate::Result;
use crate::measure::{millions_a_second, to_and_fro};
use crate::report::Row;
use crate::scale::{Scale, in_words};

const BLOCK_SIZE: u32 = 4096;
/// Bytes of a value.
const LENS: [usize; 3] = [10, 60, 400];
const GOAL: &str = ">= 1";

pub(crate) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let ours = Api::ours()?;
    let mut rows = Vec::new();
    for compression in [Compression::None, Compression::Snappy] {
        for len in LENS {
            let options = LogOptions { compression, block_size: BLOCK_SIZE };
            let pair = Pair::write(scratch, scale.abi, options, Values::WordsOf(len))?;
            let what = format!("{}, values of {len} B, {} keys", compression.name(), in_words(pair.keys as usize));
            rows.extend(of_pair(scale, &pair, &ours, &what)?);
        }
    }
    Ok(rows)
}

fn of_pair(scale: &Scale, pair: &Pair, ours: &Api, what: &str) -> Result<Vec<Row>> {
    let (ours, theirs) = (Reader::open_with(ours, &pair.log, &pair.index)?, pair.c()?);
    let keys = keys(scale.abi_lookups, 0..pair.keys);
    let (mut our_cursor, mut their_cursor) = (ours.cursor()?, theirs.cursor()?);
    let mut sums = [0; 4];
    let [got, got_in_c, walked, walked_in_c] = &mut sums;
    let times = to_and_fro(
        scale.rounds,
        &mut [
            &mut || summed(got, || with_c(&mut our_cursor, &keys)),
            &mut || summed(got_in_c, || with_c(&mut their_cursor, &keys)),
            &mut || walk(walked, &ours),
            &mut || walk(walked_in_c, &theirs),
        ],
    )?;
    if sums[0] != sums[1] || sums[2] != sums[3] {
        return Err(format!("{what}: what is read comes to {sums:?}").into());
    }
    let [got, got_in_c, walked, walked_in_c] = times.medians();
    let row = |name: &str, count: usize, ours, theirs, spread| {
        let [ours, theirs] = [ours, theirs].map(|seconds| millions_a_second(count, seconds));
        Row::new(format!("{name}, {what}"), "M/s", ours, LIBSPARKEY, theirs).spread(spread).goal(scale.goal(GOAL))
    };
    Ok(vec![
        row("sparkey_hash_get", keys.len(), got, got_in_c, times.spread(0, 1)),
        row("sparkey_logiter_next", pair.keys as usize, walked, walked_in_c, times.spread(2, 3)),
    ])
}

/// Goes over the whole log.
fn walk(sum: &mut u64, reader: &Reader<'_>) -> Result<Duration> {
    let mut cursor = reader.cursor()?;
    summed(sum, || {
        let mut sum = 0;
        while let Some((key_len, value_len)) = cursor.step()? {
            sum += key_len + value_len;
        }
        Ok(sum)
    })
}
