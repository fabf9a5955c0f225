//! `golden/hll/`: values and hashes that PostgreSQL and java-hll gave.

use std::path::{Path, PathBuf};

use hammerspace_sketch::hll::{Hll, HllBuf, Params, hash};

use crate::rows::{bytes, is_close, parsed, read, rows};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/hll").join(name)
}

fn number<T: std::str::FromStr>(cell: &str) -> T {
    cell.parse().unwrap_or_else(|_| panic!("{cell:?} is no such number"))
}

/// The set of so many elements, added in one go.
fn counted(n: i64, params: Params) -> HllBuf {
    let mut hll = HllBuf::new(params);
    hll.add_many(&(1..=n).map(|element| hash::bigint(element, 0)).collect::<Vec<_>>());
    hll
}

#[test]
fn our_bytes_and_estimates_are_those_of_postgresql() {
    let rows = rows(&golden("auto_postgresql-hll-2.17.csv.gz"), b',');
    assert_eq!(rows.len(), 458);
    for row in &rows {
        let params = Params::new(number(&row[1]), number(&row[2]), number(&row[3]), &row[4] == "1").unwrap();
        let ours = counted(number(&row[0]), params);
        assert_eq!(ours.to_string(), row[5], "{params:?}, {} elements", &row[0]);
        assert_eq!(read(&row[5]), ours);
        // Beyond width 5 its large numbers overflow.
        let theirs: f64 = number(&row[6]);
        if params.regwidth() <= 5 || !theirs.is_nan() {
            let estimate = ours.as_hll().estimate().unwrap();
            assert!(is_close(estimate, theirs), "{estimate} and {theirs}: {params:?}, {} elements", &row[0]);
        }
    }
}

#[test]
fn values_of_java_are_read_and_estimated_as_java_does() {
    let rows = rows(&golden("autojava_java-hll-1.6.0.csv.gz"), b',');
    assert_eq!(rows.len(), 351);
    for row in &rows {
        let expthresh = match number(&row[3]) {
            expthresh @ (-1 | 0) => expthresh,
            logarithm => 1 << (logarithm - 1),
        };
        let params = Params::new(number(&row[1]), number(&row[2]), expthresh, &row[4] == "1").unwrap();
        let ours = counted(number(&row[0]), params);
        assert_eq!(read(&row[5]), ours, "{params:?}, {} elements", &row[0]);
        let rounded_up = |hll: Hll| if hll.is_saturated() { 0.0 } else { hll.estimate().unwrap().ceil() };
        let theirs: f64 = number(&row[6]);
        for estimate in [parsed(&row[5], rounded_up), rounded_up(ours.as_hll())] {
            assert!(is_close(estimate, theirs), "{estimate} and {theirs}: {params:?}, {} elements", &row[0]);
        }
    }
}

#[test]
fn our_hashes_are_those_of_postgresql() {
    let rows = rows(&golden("hash_postgresql-hll-2.17.csv"), b',');
    assert_eq!(rows.len(), 73);
    for row in &rows {
        let (input, seed, theirs): (_, u32, i64) = (bytes(&row[2]), number(&row[1]), number(&row[3]));
        let ours = match &row[0] {
            "bigint" => hash::bigint(i64::from_le_bytes(input.try_into().unwrap()), seed),
            "integer" => hash::integer(i32::from_le_bytes(input.try_into().unwrap()), seed),
            "smallint" => hash::smallint(i16::from_le_bytes(input.try_into().unwrap()), seed),
            "boolean" => hash::boolean(input == [1], seed),
            "text" => hash::text(str::from_utf8(&input).unwrap(), seed),
            // Of other types it hashes the bytes that it sends.
            _ => hash::bytea(&input, seed),
        };
        assert_eq!(ours.cast_signed(), theirs, "{row:?}");
    }
}

#[test]
fn published_values_have_their_published_cardinality() {
    for row in rows(&golden("known_values.csv"), b',') {
        let (theirs, ours): (f64, _) = (number(&row[2]), parsed(&row[1], |hll| hll.estimate().unwrap()));
        assert!((ours - theirs).abs() < 1e-4, "{ours} and {theirs}: {}", &row[0]);
    }
}
