//! HyperLogLog values go to PostgreSQL and java-hll, and theirs come to us: the same sets, and the same
//! numbers.
//!
//! js-hll is in no package registry, so its bytes are only read where its test data is
//! (`crates/sketch/tests/it/upstream.rs`).

use std::fmt::Write;
use std::path::Path;

use fastrand::Rng;
use hammerspace_interop::{JavaHll, Postgres};
use hammerspace_sketch::hll::{Hll, HllBuf, Params, hash};

const CASES: u64 = 150;

/// A set of random size and parameters, and its hashes.
struct Case {
    params: Params,
    hashes: Vec<u64>,
    hll: HllBuf,
}

impl Case {
    /// For PostgreSQL, which has no width of 8 and misreads SPARSE words of fewer than 8 bits
    /// (`docs/format/hll.md`).
    fn for_postgres(rng: &mut Rng) -> Self {
        let regwidth = rng.u32(1..=7);
        let log2m = rng.u32(4.max(8 - regwidth)..=12);
        Self::random(rng, log2m, regwidth)
    }

    fn for_java(rng: &mut Rng) -> Self {
        let (log2m, regwidth) = (rng.u32(4..=12), rng.u32(1..=8));
        Self::random(rng, log2m, regwidth)
    }

    fn random(rng: &mut Rng, log2m: u32, regwidth: u32) -> Self {
        let expthresh = [-1, -1, 0, 1 << rng.u32(..8)][rng.usize(..4)];
        Self::of(Params::new(log2m, regwidth, expthresh, rng.u8(..4) > 0).unwrap(), rng)
    }

    fn of(params: Params, rng: &mut Rng) -> Self {
        let count = 1 << rng.u32(..12);
        let hashes: Vec<u64> = (0..rng.usize(count / 2..count)).map(|_| random_hash(rng)).collect();
        let mut hll = HllBuf::new(params);
        if rng.bool() {
            hll.add_many(&hashes);
        } else {
            for hash in &hashes {
                hll.add(*hash);
            }
        }
        Self { params, hashes, hll }
    }
}

/// Most of any rank, and some that raise no register or come again.
fn random_hash(rng: &mut Rng) -> u64 {
    match rng.u8(..8) {
        0 => rng.u64(..40),
        1 => rng.u64(..) << rng.u32(..60),
        _ => rng.u64(..),
    }
}

fn signed(hashes: &[u64]) -> String {
    hashes.iter().map(|hash| hash.cast_signed().to_string()).collect::<Vec<_>>().join(",")
}

fn arguments(params: Params) -> String {
    let sparseon = u8::from(params.sparseon());
    format!("{}, {}, {}, {sparseon}", params.log2m(), params.regwidth(), params.expthresh())
}

fn check_postgres_estimate(hll: &Hll, theirs: &str) {
    let (Some(ours), Ok(theirs)) = (hll.estimate(), theirs.parse::<f64>()) else {
        assert_eq!((hll.estimate(), theirs), (None, ""), "{hll:?}");
        return;
    };
    // Beyond width 5 its large numbers overflow; what is saturated is NaN at any width.
    if !theirs.is_nan() {
        assert!((ours - theirs).abs() <= 1e-12 * ours.max(1.0), "{ours} and {theirs}: {hll:?}");
    } else if hll.params().regwidth() <= 5 {
        assert!(hll.is_saturated(), "{ours}: {hll:?}");
    }
}

#[test]
fn postgresql_writes_the_same_bytes_and_estimates_the_same_numbers() {
    let postgres = Postgres::start().unwrap_or_else(|why| panic!("{why}"));
    sets_are_written_alike(&postgres);
    unions_are_written_alike(&postgres);
    hashes_are_alike(&postgres);
    refusals_are_errors(&postgres);
}

/// Both count the same hashes.
fn sets_are_written_alike(postgres: &Postgres) {
    let mut rng = Rng::with_seed(1);
    let cases: Vec<Case> = (0..CASES).map(|_| Case::for_postgres(&mut rng)).collect();
    let mut sql = String::new();
    for case in &cases {
        let (arguments, hashes) = (arguments(case.params), signed(&case.hashes));
        let added = format!("select hll_add_agg(h::hll_hashval, {arguments}) from unnest('{{{hashes}}}'::bigint[]) h");
        writeln!(sql, "select hll_cardinality(v), v from (select coalesce(({added}), hll_empty({arguments})) v) t;")
            .unwrap();
    }
    let lines = postgres.ask(&sql).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(lines.len(), cases.len());
    for (case, line) in cases.iter().zip(lines) {
        let (cardinality, value) = line.split_once('|').unwrap();
        assert_eq!(case.hll.to_string(), value, "{:?}, {} hashes", case.params, case.hashes.len());
        check_postgres_estimate(&case.hll.as_hll(), cardinality);
    }
}

/// It reads our values, of all kinds, and unites them as we do.
fn unions_are_written_alike(postgres: &Postgres) {
    let mut rng = Rng::with_seed(2);
    let pairs: Vec<[HllBuf; 2]> = (0..CASES)
        .map(|_| {
            let first = Case::for_postgres(&mut rng);
            let mut second = Case::of(first.params, &mut rng).hll;
            match rng.u8(..16) {
                0 => second = HllBuf::new(first.params),
                1 => second = HllBuf::undefined(first.params),
                _ => {}
            }
            if rng.bool() { [first.hll, second] } else { [second, first.hll] }
        })
        .collect();
    let mut sql = String::new();
    for [left, right] in &pairs {
        writeln!(sql, "select hll_cardinality(v), v from (select '{left}'::hll || '{right}'::hll v) t;").unwrap();
    }
    let lines = postgres.ask(&sql).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(lines.len(), pairs.len());
    for ([left, right], line) in pairs.iter().zip(lines) {
        let (cardinality, value) = line.split_once('|').unwrap();
        let mut union = left.clone();
        union.union(&right.as_hll()).unwrap();
        assert_eq!(union.to_string(), value, "{left} and {right}");
        check_postgres_estimate(&union.as_hll(), cardinality);
    }
}

fn hashes_are_alike(postgres: &Postgres) {
    let mut rng = Rng::with_seed(3);
    let (mut sql, mut ours) = (String::new(), Vec::new());
    for round in 0..40 {
        let seed = [0, rng.u32(..1 << 31)][round % 2];
        let (long, integer, short) = (rng.i64(..), rng.i32(..), rng.i16(..));
        let bytes: Vec<u8> = (0..round).map(|_| rng.u8(..)).collect();
        let text: String = (0..round).map(|_| rng.char('\u{1}'..'\u{2000}')).filter(|c| *c != '\'').collect();
        let spelled: String = bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        for (call, hash) in [
            (format!("bigint('{long}'"), hash::bigint(long, seed)),
            (format!("integer('{integer}'"), hash::integer(integer, seed)),
            (format!("smallint('{short}'"), hash::smallint(short, seed)),
            (format!("boolean({}", long > 0), hash::boolean(long > 0, seed)),
            (format!("bytea('\\x{spelled}'"), hash::bytea(&bytes, seed)),
            (format!("text('{text}'"), hash::text(&text, seed)),
        ] {
            writeln!(sql, "select hll_hash_{call}, {seed});").unwrap();
            ours.push((call, hash.cast_signed().to_string()));
        }
    }
    let theirs = postgres.ask(&sql).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(theirs.len(), ours.len());
    for ((call, ours), theirs) in ours.iter().zip(theirs) {
        assert_eq!(*ours, theirs, "hll_hash_{call}");
    }
}

/// A canary: what it refuses is an error here.
fn refusals_are_errors(postgres: &Postgres) {
    let why = postgres.ask("select '\\x118b7f00'::hll").unwrap_err();
    assert!(why.contains("inconsistently sized empty multiset"), "{why}");
}

#[test]
fn java_hll_reads_ours_and_we_read_its() {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../interop-java");
    let mut java = JavaHll::start(&built).unwrap_or_else(|why| panic!("{why}"));
    let mut rng = Rng::with_seed(4);
    for _ in 0..CASES {
        let case = Case::for_java(&mut rng);
        let (theirs, cardinality) = java.count(case.params, &case.hashes).unwrap();
        assert_eq!(HllBuf::read(&theirs).unwrap(), case.hll, "{:?}, {} hashes", case.params, case.hashes.len());
        check_java_estimate(&case.hll.as_hll(), cardinality);
        check_java_estimate(&Hll::parse(&theirs).unwrap(), cardinality);

        let other = Case::of(case.params, &mut rng).hll;
        let mut union = case.hll.clone();
        union.union(&other.as_hll()).unwrap();
        let (theirs, cardinality) = java.union(case.hll.as_bytes(), other.as_bytes()).unwrap();
        assert_eq!(HllBuf::read(&theirs).unwrap(), union, "{} and {other}", case.hll);
        check_java_estimate(&union.as_hll(), cardinality);
    }
    java.union(&[0x21, 0x8b, 0x7f], &[0x11, 0x8b, 0x7f]).expect_err("a canary: what it refuses is an error here");
}

/// It rounds up, and gives 0 for what is saturated.
fn check_java_estimate(hll: &Hll, theirs: u64) {
    let ours = if hll.is_saturated() { 0.0 } else { hll.estimate().unwrap().ceil() };
    assert_eq!(format!("{ours}"), theirs.to_string(), "{hll:?}");
}
