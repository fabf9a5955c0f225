//! Remainders by a divisor that stays the same: two multiplications instead of a division.
//!
//! Sources: Barrett, "Implementing the Rivest Shamir and Adleman public key encryption algorithm" (1986), for 64 bits; Lemire,
//! Kaser and Kurz, "Faster remainder by direct computation" (2019), for 32.

/// A divisor, prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    divisor: u64,
    /// `(2^64 - 1) / divisor`.
    reciprocal: u64,
}

impl Modulus {
    /// Prepares `divisor`, which must not be 0: costs one division.
    pub const fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// `n % divisor`.
    #[inline]
    pub fn of(self, n: u64) -> u64 {
        // The reciprocal falls short of `2^64 / divisor` by 1 at most, so this of `n / divisor` by less than 1 before it is rounded.
        let quotient = ((u128::from(self.reciprocal) * u128::from(n)) >> 64) as u64;
        let rest = n.wrapping_sub(quotient.wrapping_mul(self.divisor));
        // So there may be one divisor left in it. If not, the difference wraps, and is the larger one.
        rest.min(rest.wrapping_sub(self.divisor))
    }

    /// The same, where `n` and the divisor have 32 bits: the low 64 bits of `n` times `2^64 / divisor`, rounded up, are the
    /// fraction that `n / divisor` leaves behind, scaled; times the divisor, their top is the remainder.
    #[inline]
    pub const fn of_short(self, n: u32) -> u32 {
        debug_assert!(self.divisor <= u32::MAX as u64);
        // For a divisor of 1 this wraps to 0, and so do all remainders.
        let fraction = self.reciprocal.wrapping_add(1).wrapping_mul(n as u64);
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
