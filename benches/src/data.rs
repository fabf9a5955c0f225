//! Keys and values to measure with: the same in every run.

use fastrand::Rng;

/// Pairs like those the original gem was measured with: values of 50 to 200 bytes, and 14.4 MB of keys and values in
/// 100,000 pairs.
pub(crate) struct Data {
    pub(crate) pairs: Vec<(Vec<u8>, Vec<u8>)>,
    rng: Rng,
}

impl Data {
    pub(crate) fn new(keys: usize) -> Self {
        let mut rng = Rng::with_seed(0x5eed);
        let pairs = (0..keys).map(|number| (key(number), value(&mut rng))).collect();
        Self { pairs, rng }
    }

    /// What looking at every value once comes to.
    pub(crate) fn weight(&self) -> u64 {
        self.pairs.iter().map(|(_, value)| weight(Some(value))).sum()
    }

    /// All keys, in random order.
    pub(crate) fn present(&mut self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = self.pairs.iter().map(|(key, _)| key.clone()).collect();
        self.rng.shuffle(&mut keys);
        keys
    }

    /// As many keys that are not there, in random order.
    pub(crate) fn absent(&mut self) -> Vec<Vec<u8>> {
        let count = self.pairs.len();
        let mut keys: Vec<Vec<u8>> = (count..2 * count).map(key).collect();
        self.rng.shuffle(&mut keys);
        keys
    }

    /// One of the keys, and a new value for it.
    pub(crate) fn change(&mut self) -> (Vec<u8>, Vec<u8>) {
        let at = self.rng.usize(..self.pairs.len());
        (self.pairs[at].0.clone(), value(&mut self.rng))
    }
}

/// What a look at a value gives: its length, its first and its last byte.
pub(crate) fn weight(value: Option<&[u8]>) -> u64 {
    let Some(value) = value else { return 0 };
    let end = |byte: Option<&u8>| byte.copied().map_or(0, u64::from);
    value.len() as u64 + end(value.first()) + end(value.last())
}

fn key(number: usize) -> Vec<u8> {
    format!("screen_{:03}.{number:07}", number % 997).into_bytes()
}

fn value(rng: &mut Rng) -> Vec<u8> {
    (0..rng.usize(50..=200)).map(|_| rng.u8(b' '..=b'~')).collect()
}
