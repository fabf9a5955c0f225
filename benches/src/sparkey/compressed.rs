//! Point reads of compressed tables, in blocks of 4 KiB: with no cache, with a warm one, with one of a tenth of the data.
//!
//! The C library of the peer crate predates zstd. Beside zstd runs what its later versions do for every read, and nothing
//! else of what they do: decoding the key's block, whole, in a fresh context. sparkey-java reads both, with no cache.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use hammerspace_bytes::vlq;
use hammerspace_os::{Map, Paging};
use hammerspace_sparkey::{BlockCache, Compression, LogOptions, Table};

use super::LIBSPARKEY;
use super::java::{self, Jvm, SPARKEY_JAVA};
use super::numbered::{Key, Values, keys, zipf_keys};
use super::pair::Pair;
use super::read::{summed, with_c};
use crate::Result;
use crate::data::weight;
use crate::measure::{in_turn, millions_a_second};
use crate::report::Row;
use crate::scale::{Scale, in_words};

const BLOCK_SIZE: u32 = 4096;
const ONE_SHOT: &str = "zstd, whole block, fresh context";

/// Reads all keys, and gives the sum of what was looked at.
type Pass<'a> = &'a mut dyn FnMut(&[Key]) -> Result<u64>;

pub(super) fn rows(scale: &Scale, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (compression, goals) in [(Compression::Snappy, [">= 2.5", ">= 4"]), (Compression::Zstd, [">= 3.5", ">= 12"])] {
        let options = LogOptions { compression, block_size: BLOCK_SIZE };
        let pair = Pair::write(scratch, scale.compressed, options, Values::Words)?;
        let table = pair.table(Paging::OnDemand)?;
        let (bytes, c) = (table.log().header().put_size as usize, pair.c());
        if compression == Compression::Snappy {
            let c = c?;
            let mut cursor = c.cursor()?;
            rows.extend(beside(scale, &pair, bytes, goals, LIBSPARKEY, true, &mut |keys| with_c(&mut cursor, keys))?);
        } else {
            let blocks = Blocks::of(&table)?;
            rows.extend(beside(scale, &pair, bytes, goals, ONE_SHOT, false, &mut |keys| blocks.decode_each(keys))?);
        }
    }
    Ok(rows)
}

/// Our three ways beside a peer's one; `reads` says whether the peer reads values, which then must be ours.
fn beside(
    scale: &Scale,
    pair: &Pair,
    bytes: usize,
    goals: [&'static str; 2],
    peer_name: &'static str,
    reads: bool,
    peer: Pass<'_>,
) -> Result<Vec<Row>> {
    let cached = |bytes| {
        Ok::<_, Box<dyn std::error::Error>>(pair.table(Paging::OnDemand)?.with_cache(Arc::new(BlockCache::new(bytes))))
    };
    let (plain, warm, tenth) = (pair.table(Paging::OnDemand)?, cached(2 * bytes)?, cached(bytes / 10)?);
    let (uniform, zipf) =
        (keys(scale.compressed_lookups, 0..pair.keys), zipf_keys(scale.compressed_lookups, pair.keys));
    // What is to be found in a warm cache was asked for before.
    shown(&warm, &keys(4 * pair.keys as usize, 0..pair.keys))?;

    let (uniform_file, zipf_file) = (java::written(&uniform)?, java::written(&zipf)?);

    let mut sums = [0; 7];
    let [sum_plain, sum_warm, sum_peer, sum_java, sum_tenth, sum_zipf, sum_java_zipf] = &mut sums;
    let (peer, jvm) = (RefCell::new(peer), RefCell::new(Jvm::start()?));
    let seconds = in_turn(
        scale.rounds_large,
        &mut [
            &mut || summed(sum_plain, || shown(&plain, &uniform)),
            &mut || summed(sum_warm, || shown(&warm, &uniform)),
            &mut || summed(sum_peer, || (peer.borrow_mut())(&uniform)),
            &mut || jvm.borrow_mut().timed(sum_java, pair, &uniform_file),
            &mut || summed(sum_tenth, || shown(&tenth, &zipf)),
            &mut || summed(sum_zipf, || (peer.borrow_mut())(&zipf)),
            &mut || jvm.borrow_mut().timed(sum_java_zipf, pair, &zipf_file),
        ],
    )?;
    let [plain, warm, in_peer, in_java, tenth, in_peer_zipf, in_java_zipf] = sums;
    let same = |sums: &[u64]| sums.iter().all(|sum| *sum == sums[0]);
    let agree = same(&[plain, warm, in_java]) && same(&[tenth, in_java_zipf]);
    if !agree || reads && !(same(&[plain, in_peer]) && same(&[tenth, in_peer_zipf])) {
        return Err(format!("{}: the values read come to {sums:?}", pair.log.display()).into());
    }
    let [plain, warm, peer, java, tenth, peer_zipf, java_zipf] =
        seconds.map(|seconds| millions_a_second(scale.compressed_lookups, seconds));
    let compression = pair.table(Paging::OnDemand)?.log().header().compression.name();
    let named = |what: &str| format!("get, {compression}, {what}, {} keys", in_words(pair.keys as usize));
    let [no_cache, warm_cache, of_a_tenth] =
        ["uniform, no cache", "uniform, warm cache", "Zipf, cache of a tenth"].map(named);
    Ok(vec![
        Row::new(&no_cache, "M/s", plain, peer_name, peer).goal(scale.goal(goals[0])),
        Row::new(no_cache, "M/s", plain, SPARKEY_JAVA, java),
        Row::new(&warm_cache, "M/s", warm, peer_name, peer).goal(scale.goal(goals[1])),
        Row::new(warm_cache, "M/s", warm, SPARKEY_JAVA, java),
        Row::new(&of_a_tenth, "M/s", tenth, peer_name, peer_zipf),
        Row::new(of_a_tenth, "M/s", tenth, SPARKEY_JAVA, java_zipf),
    ])
}

fn shown(table: &Table<Map, Map>, keys: &[Key]) -> Result<u64> {
    let mut sum = 0;
    for key in keys {
        sum += table.get_with(key, |value| weight(Some(value)))?.unwrap_or_default();
    }
    Ok(sum)
}

/// The packed block of every number's key.
struct Blocks<'a> {
    log: &'a [u8],
    of: Vec<u64>,
}

impl<'a> Blocks<'a> {
    fn of(table: &'a Table<Map, Map>) -> Result<Self> {
        let (mut entries, mut of) = (table.log().entries(), Vec::new());
        while let Some(entry) = entries.lend()? {
            of.push(entry.address.offset);
        }
        Ok(Self { log: table.log().bytes(), of })
    }

    /// Decodes the block of each key; gives how many bytes that made.
    fn decode_each(&self, keys: &[Key]) -> Result<u64> {
        let mut bytes = 0;
        for key in keys {
            let number: usize = std::str::from_utf8(&key["user:".len()..])?.parse()?;
            let block = &self.log[self.of[number] as usize..];
            let (len, len_len) = vlq::read(block).map_err(|_| "a block's length is no VLQ")?;
            let packed = &block[len_len..][..len as usize];
            bytes += zstd::bulk::decompress(packed, BLOCK_SIZE as usize)?.len() as u64;
        }
        Ok(bytes)
    }
}
