//! The same done by both libraries, at random: the files must be equal byte by byte.
//!
//! ```text
//! theirs: empty log and its index ──copy──► ours
//!            │  append, index again            │ append, index again        the same changes, three times
//!            ▼                                 ▼
//!         log, index ═══════ equal ═══════ log, index
//! ```
//! What a library draws at random is drawn by theirs alone: the file identifier with the log, the seed with the index, which
//! both keep from then on. An index of an empty log has no slots to go on with, so the second one is as good as fresh.
//!
//! Snappy's packed bytes differ from one release of its library to the next, and so between that and ours. So theirs is built
//! twice. With our compressor in the place of libsnappy, packed logs must be equal byte by byte too; with libsnappy, the blocks
//! must be cut at the same entries. The indexes are made of one log, theirs.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use data_encoding::HEXLOWER;
use fastrand::Rng;
use hammerspace_sparkey::{Compression, Index, IndexHeader, Log, LogHeader, Table};
use hammerspace_testkit::golden;
use tempfile::tempdir;

use crate::peers::{PEERS, Whose};

/// Every one with the compressions that both know.
const SEEDS: std::ops::Range<u64> = 0..12;

/// How logs are packed, and by which of Spotify's.
const KINDS: [(Compression, Whose); 3] = [
    (Compression::None, Whose::Spotifys),
    (Compression::Snappy, Whose::Spotifys),
    (Compression::Snappy, Whose::SpotifysPackingAsOurs),
];

#[test]
fn both_libraries_make_the_same_files_of_the_same_changes() {
    for seed in SEEDS {
        for kind in KINDS {
            twins(seed, kind, |_| ()).unwrap_or_else(|difference| panic!("seed {seed}, {kind:?}: {difference}"));
        }
    }
}

#[test]
fn canary_a_change_that_only_one_makes_is_noticed() {
    for kind in KINDS {
        let lost = |lines: &mut String| *lines = lines.replacen("put .", "put .ff", 1);
        assert!(twins(1, kind, lost).is_err(), "{kind:?}");
    }
}

/// The comparison that sees no bytes sees where blocks end; the one that sees bytes sees how they were packed.
#[test]
fn canary_a_block_that_is_cut_or_packed_otherwise_is_noticed() {
    let cut = |lines: &mut String| *lines = lines.replace("\nput .", "\nflush\nput .");
    for (kind, finding) in [(KINDS[1], "other blocks"), (KINDS[2], "it.spl differs")] {
        // Of the first seeds, some have blocks with room for several entries.
        let differences: Vec<_> = (0..4).filter_map(|seed| twins(seed, kind, cut).err()).collect();
        let difference = differences.concat();
        assert!(difference.contains(finding), "{kind:?}: {difference}");
    }
    let logs = [Whose::Spotifys, Whose::SpotifysPackingAsOurs].map(|whose| {
        let scratch = tempdir().unwrap();
        let lines = changes(&mut Rng::with_seed(1), true).replace("append it.spl", "create it.spl 1 4096");
        PEERS.replay(whose, scratch.path(), &lines).unwrap();
        fs::read(scratch.path().join("it.spl")).unwrap().split_off(LogHeader::SIZE)
    });
    assert_ne!(logs[0], logs[1], "one compressor under both; or libsnappy has come to pack as ours does");
}

/// What ours counts, and theirs does not.
#[test]
fn only_the_key_of_a_delete_makes_the_headers_differ() {
    let [ours, theirs] = Whose::BOTH.map(|whose| {
        let scratch = tempdir().unwrap();
        PEERS.replay(whose, scratch.path(), "create it.spl 0 0\nput .61 .62\ndelete .616263\nclose\n").unwrap();
        LogHeader::parse(&fs::read(scratch.path().join("it.spl")).unwrap()).unwrap()
    });
    assert_eq!((ours.max_key_len, theirs.max_key_len), (3, 1));
    assert_eq!(ours, LogHeader { max_key_len: 3, file_identifier: ours.file_identifier, ..theirs });
}

/// Java writes a block size and one entry per block where nothing is compressed. Both take the first back, we the other too.
#[test]
fn a_log_of_javas_that_is_appended_to_has_no_blocks() {
    let [ours, theirs] = Whose::BOTH.map(|whose| {
        let scratch = tempdir().unwrap();
        fs::copy(golden::path("j14_none_blocksize_kept.spl"), scratch.path().join("it.spl")).unwrap();
        PEERS.replay(whose, scratch.path(), "append it.spl\nput .61 .62\nclose\n").unwrap();
        let mut log = fs::read(scratch.path().join("it.spl")).unwrap();
        let entries = log.split_off(LogHeader::SIZE);
        (LogHeader::parse(&log).unwrap(), entries)
    });
    assert_eq!((theirs.0.block_size, theirs.0.max_entries_per_block), (0, 1));
    assert_eq!(ours.0, LogHeader { max_entries_per_block: 0, ..theirs.0 });
    assert_eq!(ours.1, theirs.1);
}

/// Does the same with both libraries, but for what `alter` does to our changes, and says how the files differ.
fn twins(seed: u64, (packed, whose): (Compression, Whose), alter: impl Fn(&mut String)) -> Result<(), String> {
    let mut rng = Rng::with_seed(seed);
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let block_size = rng.choice([10, 37, 100, 1000, 4096]).unwrap();
    let start = format!(
        "create it.spl {} {block_size}\nclose\nindex it.spi it.spl {}\n",
        packed.code(),
        rng.choice([0, 4, 8]).unwrap()
    );
    PEERS.replay(whose, theirs.path(), &start)?;
    for file in ["it.spl", "it.spi"] {
        fs::copy(theirs.path().join(file), ours.path().join(file)).map_err(|cause| cause.to_string())?;
    }
    for round in 0..3 {
        let changes = changes(&mut rng, round == 0);
        let mut altered = changes.clone();
        alter(&mut altered);
        let there = |difference| format!("round {round}: {difference}");
        let both = |ours_lines: &str, lines: &str| -> Result<[String; 2], String> {
            Ok([PEERS.replay(Whose::Ours, ours.path(), ours_lines)?, PEERS.replay(whose, theirs.path(), lines)?])
        };
        let same = |[ours, theirs]: [String; 2]| {
            if ours == theirs { Ok(()) } else { Err(there("they answer differently".to_string())) }
        };
        let answers = both(&altered, &changes)?;
        if (packed, whose) == (Compression::Snappy, Whose::Spotifys) {
            compare_blocks(ours.path(), theirs.path()).map_err(there)?;
        } else {
            compare(ours.path(), theirs.path(), "it.spl").map_err(there)?;
        }
        same(answers)?;
        fs::copy(theirs.path().join("it.spl"), ours.path().join("it.spl")).map_err(|cause| cause.to_string())?;
        let lines = "index it.spi it.spl 0\nall it.spl\nlive it.spi it.spl\n";
        same(both(lines, lines)?)?;
        compare(ours.path(), theirs.path(), "it.spi").map_err(there)?;
        verify(ours.path()).map_err(there)?;
    }
    Ok(())
}

/// Appends. The first key is longer than any, so that no key of a delete is the longest.
fn changes(rng: &mut Rng, is_first: bool) -> String {
    let mut lines = String::from("append it.spl\n");
    if is_first {
        lines += &["put .", &"61".repeat(150), " .00\n"].concat();
    }
    let (keys, count) = (rng.u32(1..400), rng.usize(0..300));
    for _ in 0..count {
        let key = rng.u32(0..keys);
        let key = "6b".repeat(key as usize % 40) + &format!("{key:08x}");
        match rng.u32(0..10) {
            0 | 1 => writeln!(lines, "delete .{key}").unwrap(),
            2 => lines += "flush\n",
            _ => writeln!(lines, "put .{key} .{}", value(rng)).unwrap(),
        }
    }
    lines + "close\n"
}

fn value(rng: &mut Rng) -> String {
    let len = if rng.u32(0..20) == 0 { rng.usize(0..9000) } else { rng.usize(0..60) };
    let letters = rng.u8(1..=255);
    let value: Vec<u8> = (0..len).map(|_| rng.u8(0..letters)).collect();
    HEXLOWER.encode(&value)
}

fn read(directory: &Path, file: &str) -> Result<Vec<u8>, String> {
    fs::read(directory.join(file)).map_err(|cause| format!("{file}: {cause}"))
}

fn compare(ours: &Path, theirs: &Path, file: &str) -> Result<(), String> {
    let (ours, theirs) = (read(ours, file)?, read(theirs, file)?);
    if ours == theirs {
        return Ok(());
    }
    let at = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    Err(format!("{file} differs at {at:?}, {} bytes and {}", ours.len(), theirs.len()))
}

/// What two logs must have in common that were packed by different compressors.
fn compare_blocks(ours: &Path, theirs: &Path) -> Result<(), String> {
    let open = |directory| Log::open(read(directory, "it.spl")?).map_err(|error| error.to_string());
    let (ours, theirs) = (open(ours)?, open(theirs)?);
    let header = LogHeader { data_end: theirs.header().data_end, ..ours.header().clone() };
    if header != *theirs.header() {
        return Err(format!("ours says {:?}, theirs {:?}", ours.header(), theirs.header()));
    }
    let entries = |log: &Log<Vec<u8>>| -> Vec<_> {
        let entries = log.entries().map(|entry| entry.unwrap());
        entries
            .map(|entry| (entry.kind, entry.address.index, entry.key.into_owned(), entry.value.into_owned()))
            .collect()
    };
    if entries(&ours) == entries(&theirs) { Ok(()) } else { Err("other entries, or other blocks".into()) }
}

fn verify(directory: &Path) -> Result<(), String> {
    let (log, index) = (Log::open(read(directory, "it.spl")?), Index::open(read(directory, "it.spi")?));
    let table = log.and_then(|log| Table::join(log, index?)).map_err(|error| error.to_string())?;
    let report = table.verify();
    if report.is_clean() { Ok(()) } else { Err(format!("{:?}", report.findings)) }
}

/// A fresh index of the same log: the seeds differ, all else that the header says of the log does not.
#[test]
fn fresh_indexes_have_the_same_header_but_for_the_seed() {
    for (seed, packed) in [(1, Compression::None), (2, Compression::Snappy)] {
        let scratch = tempdir().unwrap();
        let changes = changes(&mut Rng::with_seed(seed), true)
            .replace("index it.spi it.spl 0\n", "")
            .replace("append it.spl\n", "");
        let start = format!("create it.spl {} 100\n", packed.code());
        let [ours, theirs] = Whose::BOTH.map(|whose| {
            if whose == Whose::Ours {
                PEERS.replay(whose, scratch.path(), &(start.clone() + &changes)).unwrap();
            }
            fs::remove_file(scratch.path().join("it.spi")).ok();
            PEERS.replay(whose, scratch.path(), "index it.spi it.spl 0\n").unwrap();
            IndexHeader::parse(&fs::read(scratch.path().join("it.spi")).unwrap()).unwrap()
        });
        let drawn = |header: &IndexHeader| IndexHeader {
            hash_seed: 0,
            max_displacement: 0,
            total_displacement: 0,
            hash_collisions: 0,
            ..header.clone()
        };
        assert_ne!(ours.hash_seed, theirs.hash_seed, "chance would be one in four thousand million");
        assert_eq!(drawn(&ours), drawn(&theirs), "seed {seed}, {packed:?}");
    }
}
