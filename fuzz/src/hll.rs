//! HyperLogLog values: against a plain decoder, and against themselves after a change.
//!
//! The first byte says how many bytes are a value; what follows it is another one, and also the hashes that
//! are added.

use hammerspace_sketch::hll::{Hll, HllBuf, Kind};

use crate::accepted;
use crate::ranks::ranks;

/// Values of more registers would take the memory that their parameters ask for.
const LOG2M_MAX: u32 = 16;

/// Checks `data`.
pub fn check(data: &[u8]) {
    let Some((len, rest)) = data.split_first() else { return };
    let (first, second) = rest.split_at(usize::from(*len).min(rest.len()));
    for bytes in [rest, first, second] {
        check_value(bytes);
    }
    if let (Some(left), Some(right)) = (small(first), small(second)) {
        check_union(&left, &right);
    }
    if let Some(value) = small(first) {
        check_additions(value, second);
    }
    unchecked(rest);
}

/// What is accepted holds what a plain decoder finds, and is accepted again as we write it.
fn check_value(bytes: &[u8]) {
    let Some(hll) = accepted(Hll::parse(bytes)) else { return };
    let estimate = hll.estimate();
    assert!(estimate.is_none_or(|estimate| estimate >= 0.0), "{estimate:?}");
    if hll.params().log2m() <= LOG2M_MAX {
        let ours = HllBuf::read(bytes).expect("it was accepted");
        check_written(bytes, &ours);
    }
}

pub(crate) fn check_written(bytes: &[u8], ours: &HllBuf) {
    assert_eq!(ranks(bytes), ranks(ours.as_bytes()), "the same registers, written by our rule");
    assert_eq!(&HllBuf::read(ours.as_bytes()).expect("we wrote it"), ours, "written and read again");
}

fn small(bytes: &[u8]) -> Option<HllBuf> {
    Hll::parse(bytes).is_ok_and(|hll| hll.params().log2m() <= LOG2M_MAX).then(|| HllBuf::read(bytes).expect("parsed"))
}

fn check_union(left: &HllBuf, right: &HllBuf) {
    let mut union = left.clone();
    let Ok(changed) = union.union(&right.as_hll()) else { return };
    assert_eq!(changed, union != *left, "whether it changed");
    for part in [left, right] {
        let mut again = union.clone();
        assert_eq!(again.union(&part.as_hll()).ok(), Some(false), "a union absorbs its parts");
        assert_eq!(again, union);
    }
    if left.as_hll().kind() != Kind::Undefined && right.as_hll().kind() != Kind::Undefined {
        let parts = ranks(left.as_bytes()).into_iter().zip(ranks(right.as_bytes()));
        let greatest: Vec<u8> = parts.map(|(left, right)| left.max(right)).collect();
        assert_eq!(ranks(union.as_bytes()), greatest, "of each register the greater rank");
    }
}

/// One by one or all at once: the same bytes.
fn check_additions(value: HllBuf, hashes: &[u8]) {
    let hashes: Vec<u64> = hashes.as_chunks().0.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
    let (mut singly, mut at_once) = (value.clone(), value);
    for hash in &hashes {
        let is_known = singly.as_hll().absorbs(*hash);
        assert_eq!(singly.add(*hash), !is_known, "whether it changed");
        assert!(singly.as_hll().absorbs(*hash));
    }
    at_once.add_many(&hashes);
    assert_eq!(singly, at_once, "one by one, and all at once");
}

/// Bytes that were never checked may give anything but a panic.
fn unchecked(bytes: &[u8]) {
    let Ok(mut value) = HllBuf::open(bytes.to_vec()) else { return };
    if value.as_hll().params().log2m() > LOG2M_MAX {
        return;
    }
    let other = value.clone();
    value.add(bytes.len() as u64);
    let _ = value.union(&other.as_hll()).map(|_| value.as_hll().estimate());
}
