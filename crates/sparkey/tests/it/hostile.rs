//! Damaged files: whatever is flipped or cut off, every call ends soon, without a panic, and says nothing that the bytes
//! do not say.
//!
//! The oracle is the plain reader in `reference.rs`: what we read from a damaged log is what it reads, up to an error.

use crate::reference::{self, Flat};
use crate::{cursor, golden};
use hammerspace_sparkey::{
    BlockCache, Compression, Cursor, Effort, Entry, Index, IndexHeader, IndexOptions, Log, LogWriter, Report, Table,
    build_index, build_index_as_c, update_index,
};
use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A generous multiple of what reading a golden file takes without optimisation.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pairs of a few hundred bytes: every bit is flipped, every length tried.
const SMALL: [&str; 8] = [
    "c01_empty_none",
    "c03_empty_zstd",
    "c04_one_entry",
    "c05_three_entries_full",
    "c22_long_delete_key",
    "j01_empty_none",
    "j18_long_delete_dropped",
    "c21_deletes_only",
];

/// Larger ones, and slow ones: samples.
const LARGE: [&str; 9] = [
    "c08_snappy64_h32",
    "c10_zstd64_h64",
    "c12_snappy10_h32",
    "c18_append_incremental_zstd",
    "c20_stale_index_snappy",
    "c26_collision_h32_snappy",
    "c27_absent_collides",
    "x01_c_index_on_java_log",
    "x05_more_entries_than_bytes",
];

#[test]
fn every_flipped_bit_of_small_files() {
    for name in SMALL {
        let sound = Pair::golden(name);
        for bit in 0..sound.len() * 8 {
            sound.flipped(bit).endure(&format!("{name}, bit {bit} flipped"));
        }
    }
}

#[test]
fn every_truncation_of_small_files() {
    for name in SMALL {
        let sound = Pair::golden(name);
        for len in 0..sound.log.len() {
            Pair { log: sound.log[..len].to_vec(), ..sound.clone() }.endure(&format!("{name}.spl cut to {len}"));
        }
        for len in 0..sound.index.len() {
            Pair { index: sound.index[..len].to_vec(), ..sound.clone() }.endure(&format!("{name}.spi cut to {len}"));
        }
    }
}

#[test]
fn sampled_damage_to_larger_files() {
    for (seed, name) in (0..).zip(LARGE) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let sound = Pair::golden(name);
        for round in 0..120 {
            let mut pair = sound.clone();
            for _ in 0..rng.usize(1..4) {
                pair = pair.flipped(rng.usize(..pair.len() * 8));
            }
            if rng.u32(..8) == 0 {
                pair.log.truncate(rng.usize(..pair.log.len()));
            }
            pair.endure(&format!("{name}, seed {seed}, round {round}"));
        }
    }
}

/// Headers are small and every field matters: all their bytes take extreme values.
#[test]
fn extreme_header_fields() {
    for name in ["c05_three_entries_full", "c12_snappy10_h32", "c27_absent_collides"] {
        let sound = Pair::golden(name);
        let log_fields = hammerspace_sparkey::LogHeader::FIELDS.map(|field| (field, 0));
        let index_fields = hammerspace_sparkey::IndexHeader::FIELDS.map(|field| (field, sound.log.len()));
        for (field, file) in log_fields.into_iter().chain(index_fields) {
            let max = u64::MAX >> (64 - 8 * field.size);
            for value in [0, 1, 84, max / 2, max / 2 + 1, max - 1, max] {
                let mut pair = sound.clone();
                field.set(if file == 0 { &mut pair.log } else { &mut pair.index }, value);
                pair.endure(&format!("{name}, {} = {value}", field.name));
            }
        }
    }
}

/// A reader that makes entries up must not get past the oracle.
#[test]
fn canary_an_invented_entry_is_noticed() {
    let sound = Pair::golden("c05_three_entries_full");
    let mut reading: Vec<Flat> =
        Log::open(&sound.log[..]).unwrap().entries().map(|entry| flat(&entry.unwrap())).collect();
    assert!(is_borne_out(&sound.log, &reading, true));
    assert!(!is_borne_out(&sound.log, &reading[..2], true), "one is missing");
    reading[1].2.push(b'!');
    assert!(!is_borne_out(&sound.log, &reading, true), "one is changed");
    let streams = reference::streams(&sound.log, &sound.offsets);
    assert!(hold(&streams, b"k1", b"v1") && !hold(&streams, b"k1", b"v2"));
}

#[derive(Clone)]
struct Pair {
    log: Vec<u8>,
    index: Vec<u8>,
    /// The keys before the damage.
    keys: Vec<Vec<u8>>,
    /// Where blocks started before the damage.
    offsets: Vec<usize>,
}

impl Pair {
    fn golden(name: &str) -> Self {
        let (log, index) = (golden::bytes(&format!("{name}.spl")), golden::bytes(&format!("{name}.spi")));
        let mut keys: Vec<_> = reference::read(&log).unwrap().entries.into_iter().map(|(_, key, _)| key).collect();
        keys.sort();
        keys.dedup();
        Self { offsets: reference::block_offsets(&log), log, index, keys }
    }

    fn len(&self) -> usize {
        self.log.len() + self.index.len()
    }

    /// The pair with one bit flipped, counted through the log and on through the index.
    fn flipped(&self, bit: usize) -> Self {
        let mut pair = self.clone();
        let (at, mask) = (bit / 8, 1 << (bit % 8));
        match at.checked_sub(self.log.len()) {
            None => pair.log[at] ^= mask,
            Some(at) => pair.index[at] ^= mask,
        }
        pair
    }

    /// Calls everything there is.
    fn endure(&self, what: &str) {
        let started = Instant::now();
        if let Ok(log) = Log::open(&self.log[..]) {
            self.endure_log(&log, what);
        }
        if let Ok(table) = Table::open(&self.log[..], &self.index[..]) {
            self.endure_table(&table, what);
        }
        let mut writer = LogWriter::append(io::Cursor::new(self.log.clone()));
        if let Ok(writer) = &mut writer {
            writer.put(b"more", b"and more").unwrap();
            writer.flush().unwrap();
        }
        assert!(started.elapsed() < PATIENCE, "{what}: took {:?}", started.elapsed());
    }

    fn endure_log(&self, log: &Log<&[u8]>, what: &str) {
        let (read, whole) = read_until_error(log.entries());
        assert!(is_borne_out(&self.log, &read, whole), "{what}: raw iteration reads what is not there");
        let mut lent = Vec::new();
        let mut entries = log.entries();
        while let Ok(Some(entry)) = entries.lend() {
            lent.push(flat(&entry));
        }
        assert!(lent == read, "{what}: lent entries differ");
        assert!(cursor::read_all(log, u64::MAX).0 == read, "{what}: a cursor reads something else");
        log.verify();
        // What an index made of a damaged log says is as good as the log; it must only be made, or refused.
        drop(build_index(log, &IndexOptions::default()));
        if let Ok(old) = Index::open(&self.index[..]) {
            drop(update_index(log, &old, &IndexOptions::default()));
            drop(build_index_as_c(log, Some(&old), &IndexOptions::default()));
        }
    }

    fn endure_table(&self, table: &Table<&[u8], &[u8]>, what: &str) {
        let (live, _) = read_until_error(table.iter());
        let (read, _) = read_until_error(table.log().entries());
        assert!(live.iter().all(|entry| read.contains(entry)), "{what}: live iteration gives what is not there");
        // A cursor asks the index about each. Iteration takes a header at its word that promises that all are live; and a census
        // of an uncompressed log believes every slot, whatever hash it has.
        let (asked, header) = (cursor::read_live(table, 7).0, table.index().header());
        let promised = header.num_entries == header.num_puts && header.garbage_size == 0;
        let in_blocks = table.log().header().compression != Compression::None;
        if in_blocks {
            assert!(promised || asked.starts_with(&live), "{what}: a cursor sees fewer live entries");
        } else {
            // Two bytes of the log share a bit: a broken slot may point between them.
            let pointed_at = pointed_at(table.index());
            let is_pointed_at = |at: u64| (at - 1..=at + 1).any(|at| pointed_at.binary_search(&at).is_ok());
            let all = table.iter().map_while(Result::ok).all(|entry| is_pointed_at(entry.address.offset));
            assert!(promised || all, "{what}: an entry is said to be live that no slot points to");
            // A cursor goes on to the end of the log, wherever the index says that it ends.
            let covers_all = header.data_end == table.log().header().data_end;
            let mut live = live.iter();
            let in_order = asked.iter().all(|entry| live.any(|live| live == entry));
            assert!(promised || !covers_all || in_order, "{what}: a cursor sees more live entries");
        }
        let (streams, mut cursor) = (reference::streams(&self.log, &self.offsets), Cursor::new(table.log()));
        let cached = table.clone().with_cache(Arc::new(BlockCache::new(10_000)));
        for key in self.keys.iter().take(50) {
            let found = [(); 2].map(|()| cached.get(key).ok());
            if let Some(Some(value)) = &found[0] {
                assert!(hold(&streams, key, value), "{what}: {key:02x?} has a value that is not there");
            }
            assert!(found[0] == found[1], "{what}: {key:02x?} has another value in a cached block");
            // Blocks to be kept are decoded to the end. Without a cache, little behind an entry is, and damage there need not be seen.
            assert!(found[0].is_none() || found[0] == table.get(key).ok(), "{what}: {key:02x?} has two values");
            drop(table.find(key));
            drop(table.contains(key));
            if let (Ok(true), Ok(value)) = (cursor.get(table, key), table.get(key)) {
                assert_eq!(cursor::value(&mut cursor, table.log(), 5).ok(), value.map(Cow::into_owned), "{what}");
            }
        }
        drop(table.get(b"absent"));
        let report = table.verify();
        assert!(report.findings.len() as u64 <= report.count);
        for finding in &report.findings {
            assert!(finding.offset().is_some() && finding.advice().is_some(), "{what}: {finding}");
        }
        let little = Effort { memory: 100, ..Effort::default() };
        let within = table.verify_within(&little, || Ok(io::Cursor::new(Vec::new()))).unwrap();
        let said = |report: &Report| (report.count, format!("{:?}", report.findings));
        assert!(said(&report) == said(&within), "{what}: {report:?}, with little memory {within:?}");
    }
}

/// Whether a log says what was read from it: all of it, if it was read to the end.
fn is_borne_out(log: &[u8], read: &[Flat], whole: bool) -> bool {
    let Some(reading) = reference::read(log) else { return false };
    reading.entries.starts_with(read) && (!whole || (reading.whole && reading.entries.len() == read.len()))
}

fn read_until_error<'a>(entries: impl Iterator<Item = hammerspace_error::Result<Entry<'a>>>) -> (Vec<Flat>, bool) {
    let (mut read, mut whole) = (Vec::new(), true);
    for entry in entries {
        match entry {
            Ok(entry) => read.push(flat(&entry)),
            Err(error) => {
                assert!(error.offset().is_some() && error.advice().is_some(), "{error}");
                whole = false;
            }
        }
    }
    (read, whole)
}

/// Where the slots of an index for an uncompressed log point to, as the format page says, in order.
fn pointed_at(index: &Index<&[u8]>) -> Vec<u64> {
    let (hash_size, address_size) = (index.header().hash_size.bytes(), index.header().address_size as usize);
    let slots = index.bytes()[IndexHeader::SIZE..].chunks_exact(hash_size + address_size);
    let address = |slot: &[u8]| slot[hash_size..].iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte));
    let mut offsets: Vec<u64> = slots.map(|slot| address(slot) >> index.header().entry_block_bits).collect();
    offsets.sort_unstable();
    offsets
}

fn flat(entry: &Entry<'_>) -> Flat {
    (entry.kind, entry.key.to_vec(), entry.value.to_vec())
}

/// Whether the log has this put anywhere: an index may be wrong about where entries start, and lead us there.
fn hold(streams: &[Vec<u8>], key: &[u8], value: &[u8]) -> bool {
    let put = [&vlq(key.len() + 1), &vlq(value.len()), key, value].concat();
    streams.iter().any(|stream| stream.windows(put.len()).any(|window| window == put))
}

fn vlq(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
