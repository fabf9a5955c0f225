//! Memory has the bounds that it was given.
//!
//! The kernel keeps count: it refuses what goes beyond `ulimit -d`, the private memory of a process, and Rust then aborts.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::path::Path;

use hammerspace_sparkey::{LogOptions, LogWriter};

use crate::ran::{Place, Ran};

/// A log whose entries take 16 bytes each in the builder, 9.6 MB in all.
fn write_log(path: &Path) {
    let mut log = LogWriter::create(File::create(path).unwrap(), &LogOptions::default()).unwrap();
    for number in 0..600_000_u32 {
        log.put(&number.to_le_bytes(), b"").unwrap();
    }
    log.finish().unwrap();
}

/// Does something that makes an index with so much memory, in a process that has 6 MiB: 2 of them
/// are the stack of the thread that waits for Ctrl-C.
fn within_6_mib(place: &Place, what: &str, memory: &str) -> Ran {
    let line = format!("ulimit -d 6144; \"$0\" {what} --threads 1 --memory {memory}; exit $?");
    place.feed(Path::new("sh"), &["-c", &line, place.sparkey.to_str().unwrap()], b"")
}

fn index(place: &Place, memory: &str) -> Ran {
    within_6_mib(place, "writehash a.spl", memory)
}

#[test]
fn an_index_is_built_within_its_budget() {
    let place = Place::new();
    write_log(&place.path().join("a.spl"));
    index(&place, "1MiB").ends(0);
    let small = place.read("a.spi");
    assert!(within_6_mib(&place, "verify a.spi", "1MiB").ends(0).text().contains("600000"));

    place.sparkey("writehash a.spl --memory 1GiB").ends(0);
    assert_eq!(place.read("a.spi").len(), small.len());
}

/// Without the budget it would not fit.
#[test]
fn canary_too_large_a_budget_is_noticed() {
    let place = Place::new();
    write_log(&place.path().join("a.spl"));
    assert_ne!(index(&place, "1GiB").code, 0);
    place.sparkey("writehash a.spl").ends(0);
    assert_ne!(within_6_mib(&place, "verify a.spi", "1GiB").code, 0);
}
