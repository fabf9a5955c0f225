//! Pairs that are made from their number: tables of any size without a copy of their keys in memory.

use std::ops::Range;

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

/// What values look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// 8 to 24 bytes that do not compress.
    Small,
    /// 50 to 200 bytes of words, which compress to less than half.
    Words,
    /// Such words, of so many bytes.
    WordsOf(usize),
}

impl Values {
    /// The value of a number.
    pub(super) fn of(self, number: u64, into: &mut Vec<u8>) {
        let mut rng = Rng::with_seed(number);
        into.clear();
        match self {
            Self::Small => {
                into.extend_from_slice(&rng.u64(..).to_le_bytes());
                into.extend((0..rng.usize(..=16)).map(|_| rng.u8(b' '..=b'~')));
            }
            Self::Words | Self::WordsOf(_) => {
                let len = if let Self::WordsOf(len) = self { len } else { rng.usize(50..=200) };
                while into.len() < len {
                    into.extend_from_slice(WORDS[rng.usize(..WORDS.len())].as_bytes());
                    into.push(b' ');
                }
                into.truncate(len);
            }
        }
    }
}

const WORDS: [&str; 32] = [
    "account", "address", "album", "artist", "born", "city", "closed", "country", "created", "deleted", "email",
    "free", "genre", "invited", "label", "language", "locale", "name", "offline", "owner", "phone", "plan", "playlist",
    "premium", "region", "score", "since", "state", "street", "student", "trial", "updated",
];

/// So many keys with random numbers from a range, each as likely as the others.
pub(super) fn keys(count: usize, numbers: Range<u64>) -> Vec<Key> {
    let mut rng = Rng::with_seed(0x5eed);
    (0..count).map(|_| key(rng.u64(numbers.clone()))).collect()
}

/// So many keys with numbers below `numbers`, the nth most frequent in proportion to 1/n (Zipf), and no two frequent ones
/// side by side.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "counts far below 2^52")]
pub(super) fn zipf_keys(count: usize, numbers: u64) -> Vec<Key> {
    let mut rng = Rng::with_seed(0x5eed);
    let rank = |rng: &mut Rng| (numbers as f64).powf(rng.f64()) as u64 - 1;
    (0..count).map(|_| key(scattered(rank(&mut rng), numbers))).collect()
}

/// A permutation of the numbers below `count`, as long as that is no multiple of the prime.
pub(super) fn scattered(number: u64, count: u64) -> u64 {
    const PRIME: u64 = 2_654_435_761;
    (u128::from(number) * u128::from(PRIME) % u128::from(count)) as u64
}
