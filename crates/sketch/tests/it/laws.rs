//! Values against the model, over random histories; the laws of unions; every pair of kinds.

use fastrand::Rng;
use hammerspace_error::Kind as ErrorKind;
use hammerspace_sketch::hll::{Hll, HllBuf, Kind, Params, intersection};

use crate::model::Model;
use crate::rows::is_close;

fn random_params(rng: &mut Rng) -> Params {
    let expthresh = [-1, -1, 0, 1, 4, 64][rng.usize(..6)];
    Params::new(rng.u32(4..=9), rng.u32(1..=8), expthresh, rng.u8(..4) > 0).unwrap()
}

/// Hashes of all ranks, some of them known already, and some that raise no register.
fn random_hash(rng: &mut Rng) -> u64 {
    match rng.u8(..8) {
        0 => rng.u64(..16),
        1 => rng.u64(..200) << 4 | 1 << 63,
        2 => rng.u64(..) << rng.u32(..60),
        _ => rng.u64(..),
    }
}

/// A value and its twin.
#[derive(Clone)]
struct Pair {
    hll: HllBuf,
    model: Model,
}

impl Pair {
    fn new(params: Params) -> Self {
        Self { hll: HllBuf::new(params), model: Model::new(params) }
    }

    fn of(params: Params, hashes: &[u64]) -> Self {
        let mut pair = Self::new(params);
        pair.change(|hll| hll.add_many(hashes), |model| hashes.iter().for_each(|hash| model.add(*hash)));
        pair
    }

    /// Changes both, and compares them, and what the change said of itself.
    fn change(&mut self, change: impl FnOnce(&mut HllBuf) -> bool, model: impl FnOnce(&mut Model)) {
        let before = self.hll.clone();
        let said = change(&mut self.hll);
        model(&mut self.model);
        assert_eq!(self.hll.as_bytes(), self.model.encode(), "after {before}");
        assert_eq!(said, before != self.hll, "whether {before} changed");
    }

    fn add(&mut self, hash: u64) {
        let is_known = self.hll.as_hll().absorbs(hash);
        let before = self.hll.clone();
        self.change(|hll| hll.add(hash), |model| model.add(hash));
        assert_eq!(is_known, before == self.hll, "whether {before} absorbs {hash:#x}");
    }

    fn union(&mut self, other: &Self) {
        self.change(|hll| hll.union(&other.hll.as_hll()).unwrap(), |model| model.union(&other.model));
    }

    fn check(&self) {
        assert_eq!(HllBuf::read(self.hll.as_bytes()).unwrap(), self.hll);
        let (ours, theirs) = (Hll::parse(self.hll.as_bytes()).unwrap().estimate(), self.model.estimate());
        match ours.zip(theirs) {
            Some((ours, theirs)) => {
                assert!(is_close(ours, theirs), "{ours} and {theirs}: {}", self.hll);
            }
            None => assert_eq!(ours, theirs),
        }
    }
}

#[test]
fn random_histories_come_to_what_the_model_says() {
    let mut rng = Rng::with_seed(hammerspace_testkit::setting::seed());
    for _ in 0..150 {
        let params = random_params(&mut rng);
        let mut sum = Pair::new(params);
        for _ in 0..rng.usize(..30) {
            let hashes: Vec<u64> = (0..rng.usize(..60)).map(|_| random_hash(&mut rng)).collect();
            match rng.u8(..3) {
                0 => hashes.iter().for_each(|hash| sum.add(*hash)),
                1 => sum.change(|hll| hll.add_many(&hashes), |model| hashes.iter().for_each(|hash| model.add(*hash))),
                _ => sum.union(&Pair::of(params, &hashes)),
            }
            sum.check();
        }
    }
}

/// A value of each kind, and a second one that shares some elements with the first.
fn of_all_kinds(params: Params) -> Vec<(Kind, Pair)> {
    let hashes = |from: u64, count: u64| -> Vec<u64> {
        (from..from + count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    let undefined = Pair { hll: HllBuf::undefined(params), model: Model::undefined(params) };
    let mut pairs = vec![(Kind::Undefined, undefined), (Kind::Empty, Pair::new(params))];
    for (kind, count) in [(Kind::Explicit, 30), (Kind::Explicit, 3), (Kind::Sparse, 60), (Kind::Full, 900)] {
        pairs.push((kind, Pair::of(params, &hashes(1, count))));
        pairs.push((kind, Pair::of(params, &hashes(20, count))));
    }
    pairs
}

#[test]
fn all_pairs_of_kinds_are_united() {
    let params = Params::new(8, 5, 32, true).unwrap();
    let all = of_all_kinds(params);
    for (kind, pair) in &all {
        assert_eq!(pair.hll.as_hll().kind(), *kind);
        for (_, other) in &all {
            let mut union = pair.clone();
            union.union(other);
            union.check();
            let mut reverse = other.clone();
            reverse.union(pair);
            assert_eq!(union.hll, reverse.hll, "{} and {}", pair.hll, other.hll);
            let united = union.hll.clone();
            union.union(pair);
            assert_eq!(union.hll, united, "a union absorbs its parts");
        }
    }
}

#[test]
fn a_union_may_be_taken_in_any_order() {
    let params = Params::new(8, 5, 32, true).unwrap();
    let all = of_all_kinds(params);
    let united = |parts: [&Pair; 2]| {
        let mut union = parts[0].hll.clone();
        union.union(&parts[1].hll.as_hll()).unwrap();
        Pair { hll: union, model: parts[0].model.clone() }
    };
    for (_, a) in &all {
        for (_, b) in &all {
            for (_, c) in &all {
                let (left, right) = (united([&united([a, b]), c]), united([a, &united([b, c])]));
                assert_eq!(left.hll, right.hll, "{}, {} and {}", a.hll, b.hll, c.hll);
            }
        }
    }
}

/// Cutoff and `sparseon` are about storage: the left ones stay. The size of registers is about content.
#[test]
fn sets_of_other_parameters_are_united_or_refused_by_name() {
    let hashes: Vec<u64> = (0..40).map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let of = |log2m, regwidth, expthresh, sparseon| {
        Pair::of(Params::new(log2m, regwidth, expthresh, sparseon).unwrap(), &hashes)
    };
    let (mut left, right) = (of(8, 5, 0, true), of(8, 5, 64, false));
    let before = left.hll.clone();
    left.union(&right);
    assert_eq!(left.hll, before, "the same set");
    for (other, words) in [(of(9, 5, 0, true), "log2m 9 and regwidth 5"), (of(8, 6, 0, true), "log2m 8 and regwidth 6")]
    {
        let error = left.hll.union(&other.hll.as_hll()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let finding = format!("an HLL of {words} cannot be united with one of log2m 8 and regwidth 5");
        assert_eq!(
            (error.finding(), error.advice()),
            (&finding[..], Some("count both with the same log2m and regwidth"))
        );
        assert!(intersection(&left.hll.as_hll(), &other.hll.as_hll()).is_err());
    }
    assert_eq!(left.hll, before);
}

#[test]
fn an_overlap_of_lists_is_exact_and_one_with_the_unknown_is_unknown() {
    let params = Params::new(8, 5, 32, true).unwrap();
    let [left, right] = [0..30, 20..50].map(|range| Pair::of(params, &range.map(|n: u64| n << 20).collect::<Vec<_>>()));
    let overlap = intersection(&left.hll.as_hll(), &right.hll.as_hll()).unwrap().unwrap();
    assert_eq!((overlap.estimate, overlap.standard_error), (10.0, 0.0));
    let undefined = HllBuf::undefined(params);
    assert_eq!(intersection(&left.hll.as_hll(), &undefined.as_hll()).unwrap(), None);
    let empty = HllBuf::new(params);
    let overlap = intersection(&left.hll.as_hll(), &empty.as_hll()).unwrap().unwrap();
    assert_eq!((overlap.estimate, overlap.standard_error), (0.0, 0.0));
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refused = |log2m, regwidth, expthresh| Params::new(log2m, regwidth, expthresh, true).unwrap_err();
    for (error, words) in [
        (refused(3, 5, -1), "3 is no log2m of an HLL; choose a number from 4 to 31"),
        (refused(32, 5, -1), "32 is no log2m of an HLL; choose a number from 4 to 31"),
        (refused(11, 0, -1), "0 is no regwidth of an HLL; choose a number from 1 to 8"),
        (refused(11, 9, -1), "9 is no regwidth of an HLL; choose a number from 1 to 8"),
        (refused(11, 5, 3), "3 is no expthresh of an HLL; choose -1, 0 or a power of two up to 2^30"),
        (refused(11, 5, 1 << 31), "2147483648 is no expthresh of an HLL; choose -1, 0 or a power of two up to 2^30"),
    ] {
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Invalid, words.to_string()));
    }
    for (log2m, regwidth, expthresh) in [(4, 1, 0), (31, 8, 1 << 30), (11, 5, -1), (11, 5, 1)] {
        let params = Params::new(log2m, regwidth, expthresh, false).unwrap();
        assert_eq!((params.log2m(), params.regwidth(), params.expthresh()), (log2m, regwidth, expthresh));
        assert_eq!(HllBuf::read(HllBuf::new(params).as_bytes()).unwrap().as_hll().params(), params);
    }
}
