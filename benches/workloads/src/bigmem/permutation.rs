//! A permutation of `0..len`, chosen by a seed: four rounds of a Feistel network over the next even power of two; numbers that
//! land beyond `len` are permuted again until they do not.

use super::mix::mix;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const ROUNDS: u64 = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    len: u64,
    /// Bits of each half.
    half: u32,
    seed: u64,
}

impl Permutation {
    pub(super) fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).max(3).leading_zeros();
        Self { len, half: bits.div_ceil(2), seed }
    }

    #[inline]
    pub(super) fn apply(&self, number: u64) -> u64 {
        self.walk(number, |permutation, mut left, mut right| {
            for round in 1..=ROUNDS {
                (left, right) = (right, left ^ permutation.scramble(round, right));
            }
            (left, right)
        })
    }

    pub(super) fn invert(&self, number: u64) -> u64 {
        self.walk(number, |permutation, mut left, mut right| {
            for round in (1..=ROUNDS).rev() {
                (left, right) = (right ^ permutation.scramble(round, left), left);
            }
            (left, right)
        })
    }

    #[inline]
    fn walk(&self, mut number: u64, network: impl Fn(&Self, u64, u64) -> (u64, u64)) -> u64 {
        loop {
            let (left, right) = network(self, number >> self.half, number & self.mask());
            number = left << self.half | right;
            if number < self.len {
                return number;
            }
        }
    }

    #[inline]
    fn scramble(&self, round: u64, half: u64) -> u64 {
        mix(half.wrapping_add(round.wrapping_mul(GOLDEN)).wrapping_add(self.seed)) & self.mask()
    }

    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_back() {
        for len in [1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097] {
            let permutation = Permutation::new(len, 1);
            let mut seen = vec![false; len as usize];
            for number in 0..len {
                let permuted = permutation.apply(number);
                assert!(!std::mem::replace(&mut seen[permuted as usize], true), "{permuted} of {len} comes twice");
                assert_eq!(permutation.invert(permuted), number);
            }
        }
    }
}
