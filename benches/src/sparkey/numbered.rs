//! Pairs that are made from their number: tables of any size without a copy of their keys in memory.

use fastrand::Rng;

/// Bytes of a key.
pub(super) const KEY_LEN: usize = 15;

/// A key: in one piece of memory with its neighbours, so that reading keys to look up costs no cache miss of its own.
pub(super) type Key = [u8; KEY_LEN];

/// The key of a number below 10^10.
pub(super) fn key(number: u64) -> Key {
    let mut key = *b"user:0000000000";
    let (mut rest, mut at) = (number, KEY_LEN);
    while rest > 0 {
        at -= 1;
        key[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

/// The value of a number in a table of small values: 8 to 24 bytes.
pub(super) fn value(number: u64, into: &mut Vec<u8>) {
    let mut rng = Rng::with_seed(number);
    into.clear();
    into.extend_from_slice(&rng.u64(..).to_le_bytes());
    into.extend((0..rng.usize(..=16)).map(|_| rng.u8(b' '..=b'~')));
}

/// So many keys with random numbers from a range.
pub(super) fn keys(count: usize, numbers: std::ops::Range<u64>) -> Vec<Key> {
    let mut rng = Rng::with_seed(0x5eed);
    (0..count).map(|_| key(rng.u64(numbers.clone()))).collect()
}
