//! Damaged files: every function that reads comes back in time with a code, whatever the bytes say.

use std::fmt::Write;
use std::fs;

use fastrand::Rng;
use hammerspace_testkit::c::memcheck;
use hammerspace_testkit::golden::{self, Reject, manifest};
use tempfile::tempdir;

use crate::peers::{PEERS, Whose};

/// Everything that reads: each log and each pair, from end to end, some keys, and a new index.
const READ: &str = "all it.spl\nlive it.spi it.spl\nget it.spi it.spl .\nget it.spi it.spl .6b31\nget it.spi it.spl .6b657931\n\
    index it.spi it.spl 0\nlive it.spi it.spl\n";

#[test]
fn sound_pairs_by_all_writers_are_read_whole() {
    for pair in manifest().pairs {
        let lines =
            format!("all {0}\nlive {1} {0}\n", golden::path(&pair.spl).display(), golden::path(&pair.spi).display());
        let said = PEERS.replay(Whose::Ours, &golden::path(""), &lines).unwrap();
        let counts: Vec<&str> = said.lines().filter(|line| line.contains("entries")).collect();
        let expected = [pair.log_entries, pair.live_entries].map(|count| format!("{count} entries, 0"));
        assert_eq!(counts, expected, "{}", pair.spl);
    }
}

/// Where C opens what cannot be read, we need not.
#[test]
fn damaged_headers_are_answered_with_the_codes_of_c() {
    let mut stricter = Vec::new();
    for Reject { name, spi, spl, must_be_refused, c_logreader_open, c_hash_open } in manifest().reject {
        let lines = format!("all {0}\nlive {1} {0}\n", golden::path(&spl).display(), golden::path(&spi).display());
        let said = PEERS.replay(Whose::Ours, &golden::path(""), &lines).unwrap();
        let opened: Vec<i32> = said.lines().filter_map(|line| line.strip_prefix("open ")?.parse().ok()).collect();
        let (log, hash) = (opened[0], *opened.get(1).unwrap_or(&0));
        assert_eq!(log, c_logreader_open, "{name}");
        if hash != c_hash_open {
            assert!(c_hash_open == 0 && must_be_refused, "{name}: {hash}, and C says {c_hash_open}");
            stricter.push(name);
        } else if must_be_refused && log == 0 && hash == 0 {
            assert!(said.contains(" -1\n") || said.contains("entries, -1"), "{name}: {said}");
        }
    }
    stricter.sort();
    assert_eq!(stricter, ["r_idx_addrsize", "r_idx_capacity0", "r_idx_capacity_huge"]);
}

/// Nor is anything overrun, or lost on the way out.
#[test]
fn damaged_pairs_are_read_cleanly() {
    let mut lines = String::new();
    for Reject { spi, spl, .. } in manifest().reject {
        writeln!(
            lines,
            "all {0}\nlive {1} {0}\nget {1} {0} .6b31",
            golden::path(&spl).display(),
            golden::path(&spi).display()
        )
        .unwrap();
    }
    let mut memcheck = memcheck(&PEERS.program("replay"));
    PEERS.fed(&mut memcheck, Whose::Ours, &golden::path(""), &lines).unwrap();
}

/// C loops for ever on some of these, and reads beyond its memory on others.
#[test]
fn damage_at_random_ends_in_time_with_a_code() {
    let names =
        ["c05_three_entries_full", "c08_snappy64_h32", "c10_zstd64_h64", "c12_snappy10_h32", "c19_stale_index_none"];
    for (seed, name) in (0..).zip(names) {
        let (mut rng, scratch) = (Rng::with_seed(seed), tempdir().unwrap());
        let (log, index) =
            (fs::read(golden::path(&format!("{name}.spl"))), fs::read(golden::path(&format!("{name}.spi"))));
        let (log, index) = (log.unwrap(), index.unwrap());
        let mut lines = String::new();
        for round in 0..60 {
            let (mut log, mut index) = (log.clone(), index.clone());
            damage(&mut rng, &mut log);
            damage(&mut rng, &mut index);
            fs::write(scratch.path().join(format!("{round}.spl")), log).unwrap();
            fs::write(scratch.path().join(format!("{round}.spi")), index).unwrap();
            writeln!(lines, "{}", READ.replace("it.", &format!("{round}.")).trim_end()).unwrap();
        }
        let said = PEERS.replay(Whose::Ours, scratch.path(), &lines);
        assert!(said.is_ok(), "{name}, seed {seed}: {}", said.unwrap_err());
    }
}

fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(0..4) {
        let at = rng.usize(..bytes.len() * 8);
        bytes[at / 8] ^= 1 << (at % 8);
    }
    if rng.u32(..6) == 0 {
        bytes.truncate(rng.usize(..bytes.len()));
    }
}

/// The time limit bites, and so does a crash: Spotify's library runs into both.
#[test]
fn canary_spotifys_library_hangs_or_crashes_on_what_ours_refuses() {
    let reject = golden::path("reject/r_none_data_end_mid_entry");
    let lines = format!("all {}.spl\n", reject.display());
    assert!(PEERS.replay(Whose::Ours, &golden::path(""), &lines).unwrap().contains("-1"));
    assert!(PEERS.replay_within(2, Whose::Spotifys, &golden::path(""), &lines).is_err());
}
