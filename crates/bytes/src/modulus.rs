//! Remainders by a divisor that stays the same: four multiplications instead of a division.
//!
//! Source: Lemire, Kaser and Kurz, "Faster remainder by direct computation" (2019). With `c = ceil(2^128 / d)`, the low 128
//! bits of `c * n` are the fraction `n / d` leaves behind, scaled; times `d`, their top is the remainder. Exact for all 64-bit
//! `n` and `d`, since 128 bits are at least as many as both have together.

/// A divisor, prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    divisor: u64,
    reciprocal: u128,
}

impl Modulus {
    /// Prepares `divisor`, which must not be 0: costs one division.
    pub const fn new(divisor: u64) -> Self {
        // Rounded up; for a divisor of 1 the result, 2^128, wraps to 0, and so do all remainders.
        Self { divisor, reciprocal: (u128::MAX / divisor as u128).wrapping_add(1) }
    }

    /// `n % divisor`.
    #[inline]
    pub const fn of(self, n: u64) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(n as u128);
        let low = ((fraction as u64 as u128) * self.divisor as u128) >> 64;
        let high = (fraction >> 64) * self.divisor as u128;
        ((high + low) >> 64) as u64
    }

    /// The same with two multiplications, where `n` and the divisor have 32 bits: then 64 are as many as both have together.
    #[inline]
    pub const fn of_short(self, n: u32) -> u32 {
        debug_assert!(self.divisor <= u32::MAX as u64);
        let reciprocal = ((self.reciprocal >> 64) as u64).wrapping_add(1);
        let fraction = reciprocal.wrapping_mul(n as u64);
        ((fraction as u128 * self.divisor as u128) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_remainder() {
        let edges = (0..64)
            .flat_map(|bit| [1_u64 << bit, (1 << bit) + 1, (1_u64 << bit).wrapping_mul(3) | 1])
            .chain([u64::MAX]);
        let edges: Vec<u64> = edges.collect();
        for d in &edges {
            let modulus = Modulus::new(*d);
            for n in edges
                .iter()
                .flat_map(|n| [*n, n.wrapping_sub(1), d.wrapping_mul(*n), d.wrapping_mul(*n).wrapping_sub(1)])
            {
                assert_eq!(modulus.of(n), n % d, "{n} % {d}");
                if let (Ok(n), Ok(d)) = (u32::try_from(n), u32::try_from(*d)) {
                    assert_eq!(modulus.of_short(n), n % d, "{n} % {d}");
                }
            }
        }
    }
}
