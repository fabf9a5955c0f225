//! The reference's samples and tables, and that `check` sees every kind of fault.

use std::collections::HashSet;

use super::*;

const SMALL: &str = include_str!("../../../vectors/bigmem/table_78000_212000.csv");

fn small() -> BigMemory {
    BigMemory::parse(SMALL, 1)
}

fn assert_is_sampled(table: &str, sample: &str) {
    let workload = BigMemory::parse(table, 1);
    let mut records = 0;
    for line in sample.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = fields[0].parse().unwrap();
        let record = workload.record(number);
        let value = format!("{:032x}", u128::from_be_bytes(record.event()));
        let ordinal = workload.ordinal_of_record(number);
        let found = [number.to_string(), ordinal.to_string(), format!("{:016x}", record.key), value];
        assert_eq!(found.as_slice(), fields);
        records += 1;
    }
    assert_eq!(records, 11);
    let (mut checksum, mut keys) = (0_u64, HashSet::new());
    let mut first = vec![Record::default(); 100_000];
    workload.fill(0, &mut first);
    for record in first {
        checksum = checksum.wrapping_mul(31).wrapping_add(record.key);
        keys.insert(record.key);
    }
    let words = format!("rolling checksum {checksum:016x}, distinct keys {}", keys.len());
    assert!(sample.contains(&words), "{words}");
}

#[test]
fn records_are_the_references() {
    assert_is_sampled(SMALL, include_str!("../../../vectors/bigmem/sample_78000_212000.csv"));
    assert_is_sampled(
        include_str!("../../../vectors/bigmem/table_78000000_212000000.csv"),
        include_str!("../../../vectors/bigmem/sample_78000000_212000000.csv"),
    );
    assert_is_sampled(
        include_str!("../../../vectors/bigmem/table_125000000_840000000.csv"),
        include_str!("../../../vectors/bigmem/sample_125000000_840000000.csv"),
    );
}

#[test]
fn every_table_adds_up_to_its_name() {
    for (table, keys, events) in [
        (SMALL, 78_000, 212_000),
        (include_str!("../../../vectors/bigmem/table_78000000_212000000.csv"), 78_000_000, 212_000_000),
        (include_str!("../../../vectors/bigmem/table_125000000_840000000.csv"), 125_000_000, 840_000_000),
        (include_str!("../../../vectors/bigmem/table_1500000000_10080000000.csv"), 1_500_000_000, 10_080_000_000),
    ] {
        let workload = BigMemory::parse(table, 1);
        assert_eq!((workload.keys(), workload.events()), (keys, events));
    }
}

/// All values of the small workload, made by appending.
fn appended(workload: &BigMemory, numbers: impl Iterator<Item = u64>) -> Vec<Vec<u8>> {
    let mut values = vec![Vec::new(); workload.keys() as usize];
    for number in numbers {
        let record = workload.record(number);
        values[workload.ordinal(record.key).unwrap() as usize].extend(record.event());
    }
    values
}

#[test]
fn the_small_one_walked_whole_gives_every_key_its_value() {
    let workload = small();
    for (ordinal, value) in (0..).zip(appended(&workload, 0..workload.events())) {
        assert_eq!(value, workload.value(ordinal));
        assert_eq!(value.len() as u64, 16 * workload.count(ordinal));
        assert_eq!(workload.check(workload.key(ordinal), &value, 1), Ok(()));
    }
}

#[test]
fn shares_of_threads_may_come_in_any_order() {
    let workload = small();
    let shares: Vec<Range<u64>> = (0..3).map(|thread| workload.share(thread, 3)).collect();
    assert_eq!((shares[0].start, shares[2].end), (0, workload.events()));
    assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
    let mut wrong = 0;
    for (ordinal, value) in (0..).zip(appended(&workload, shares.into_iter().rev().flatten())) {
        let key = workload.key(ordinal);
        assert_eq!(workload.check(key, &value, 3), Ok(()));
        wrong += u64::from(workload.check(key, &value, 1).is_err());
    }
    assert!(wrong > workload.keys() / 10, "with one thread that would be the wrong order");
}

#[test]
fn canary_every_fault_is_seen() {
    let workload = small();
    let ordinal = (0..workload.keys()).find(|ordinal| workload.count(*ordinal) == 3).unwrap();
    let (key, value) = (workload.key(ordinal), workload.value(ordinal));
    let check = |value: &[u8]| workload.check(key, value, 1).unwrap_err();
    assert_eq!(workload.check(key ^ 1, &value, 1), Err(Fault::UnknownKey));
    assert_eq!(check(&value[..32]), Fault::Length { expected: 48 });
    assert_eq!(check(&[&value[..32], &value[..16]].concat()), Fault::OutOfOrder { at: 2 });
    assert_eq!(check(&[&value[..16], &value[..16], &value[32..]].concat()), Fault::OutOfOrder { at: 1 });
    let other = workload.value(ordinal + 1);
    assert_eq!(check(&[&value[..32], &other[32..]].concat()), Fault::Foreign { at: 2 });
    // The key of this one, the record of the other.
    assert_eq!(check(&[&value[..40], &other[40..]].concat()), Fault::Foreign { at: 2 });
    for byte in 0..value.len() {
        let mut torn = value.clone();
        torn[byte] ^= 1;
        assert!(matches!(check(&torn), Fault::Foreign { .. }), "byte {byte}");
    }
}
