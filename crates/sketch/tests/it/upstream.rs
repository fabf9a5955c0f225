//! The test vectors of postgresql-hll, go-hll and js-hll, which are others' data: read where
//! `HAMMERSPACE_HLL_VECTORS` says, a directory with folders `postgresql-hll`, `go-hll` and `js-hll`, each as
//! in its project's repository.
//!
//! Their generator went FULL at fixed numbers of registers, and pinned some values to one kind. So sets are
//! compared, each written by our rule.

use std::fs;
use std::path::{Path, PathBuf};

use hammerspace_sketch::hll::{HllBuf, hash};

use crate::rows::{bytes, is_close, parsed, read, rows};

#[test]
fn the_vectors_of_other_projects_hold() {
    let Some(directory) = std::env::var_os("HAMMERSPACE_HLL_VECTORS") else {
        println!("absent: set HAMMERSPACE_HLL_VECTORS to check the vectors of postgresql-hll, go-hll and js-hll");
        return;
    };
    let mut count = 0;
    for project in ["postgresql-hll", "go-hll", "js-hll"] {
        let files = files(&Path::new(&directory).join(project));
        assert!(!files.is_empty(), "no vectors of {project} in {}", Path::new(&directory).display());
        count += files.iter().map(|file| check(file)).sum::<usize>();
    }
    println!("{count} rows hold");
}

/// The CSV files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable directory").path()).collect();
    paths.sort();
    let files_of = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.into_iter().flat_map(files_of).filter(|path| name(path).contains(".csv")).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn check(file: &Path) -> usize {
    let name = name(file);
    if name.starts_with("murmur") {
        check_hashes(file)
    } else if name.contains("_add_") {
        check_additions(file)
    } else if name.contains("_union_") {
        check_unions(file)
    } else {
        check_registers(file)
    }
}

/// `seed,element,hash`
fn check_hashes(file: &Path) -> usize {
    let rows = rows(file, b',');
    for row in &rows {
        let seed = row[0].parse().unwrap();
        let ours = match row[1].parse() {
            Ok(element) => hash::bigint(element, seed),
            Err(_) => hash::bytea(&bytes(&row[1]), seed),
        };
        assert_eq!(ours.cast_signed(), row[2].parse::<i64>().unwrap(), "{}: {row:?}", file.display());
    }
    rows.len()
}

fn check_estimate(file: &Path, text: &str, cardinality: &str) {
    let (ours, theirs) = (parsed(text, |hll| hll.estimate().unwrap()), cardinality.parse().unwrap());
    assert!(is_close(ours, theirs), "{}: {ours} and {theirs}: {text}", file.display());
}

/// `cardinality,hash,value`, where the first value is the one to begin with.
fn check_additions(file: &Path) -> usize {
    let rows = rows(file, b',');
    let mut sum = read(&rows[0][2]);
    for row in &rows[1..] {
        sum.add(row[1].parse::<i64>().unwrap().cast_unsigned());
        assert_eq!(sum, read(&row[2]), "{}: {row:?}", file.display());
        check_estimate(file, &row[2], &row[0]);
    }
    rows.len()
}

/// `cardinality,value,cardinality of the union,union`, where the first union is the one to begin with.
fn check_unions(file: &Path) -> usize {
    let rows = rows(file, b',');
    let mut union: Option<HllBuf> = None;
    for row in &rows {
        check_estimate(file, &row[1], &row[0]);
        check_estimate(file, &row[3], &row[2]);
        let Some(union) = &mut union else {
            union = Some(read(&row[3]));
            continue;
        };
        parsed(&row[1], |hll| union.union(&hll)).unwrap();
        assert_eq!(*union, read(&row[3]), "{}: {row:?}", file.display());
    }
    rows.len()
}

/// `value|registers, or the hashes of a list|cardinality, rounded up`
fn check_registers(file: &Path) -> usize {
    let rows = rows(file, b'|');
    for row in &rows {
        let numbers = row[1].trim_matches(['[', ']']).split(',').map(str::trim).filter(|number| !number.is_empty());
        let numbers: Vec<i64> = numbers.map(|number| number.parse().unwrap()).collect();
        let value = read(&row[0]);
        let expected = match value.as_hll().hashes() {
            Some(_) => listed(&numbers, &value),
            None => with_registers(&numbers, &value),
        };
        assert_eq!(value, expected, "{}: {row:?}", file.display());
        let rounded_up = parsed(&row[0], |hll| hll.estimate().unwrap().ceil());
        assert!(is_close(rounded_up, row[2].parse().unwrap()), "{}: {row:?}", file.display());
    }
    rows.len()
}

fn listed(hashes: &[i64], like: &HllBuf) -> HllBuf {
    let mut list = HllBuf::new(like.as_hll().params());
    list.add_many(&hashes.iter().map(|hash| hash.cast_unsigned()).collect::<Vec<_>>());
    list
}

/// A value of these registers: for each a hash that raises it to its rank, added to what no list can begin
/// with.
fn with_registers(ranks: &[i64], like: &HllBuf) -> HllBuf {
    let log2m = like.as_hll().params().log2m();
    let mut header = like.as_bytes()[..3].to_vec();
    header[0] = 0x13;
    let mut value = HllBuf::read(&header).unwrap();
    for (index, rank) in (0_u64..).zip(ranks).filter(|(_, rank)| **rank > 0) {
        value.add(index | 1 << (i64::from(log2m) + rank - 1));
    }
    value
}
