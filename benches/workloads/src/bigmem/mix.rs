//! The finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators"): a bijection of 64-bit
//! numbers; and its inverse.

const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Spreads a number over all of them; no two become the same.
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(FACTORS[0]);
    let x = (x ^ x >> 27).wrapping_mul(FACTORS[1]);
    x ^ x >> 31
}

#[inline]
pub(super) const fn unmix(x: u64) -> u64 {
    let x = (x ^ x >> 31 ^ x >> 62).wrapping_mul(INVERSES[1]);
    let x = (x ^ x >> 27 ^ x >> 54).wrapping_mul(INVERSES[0]);
    x ^ x >> 30 ^ x >> 60
}

/// Of an odd number, modulo 2⁶⁴: each step of Newton's doubles the bits that are right, and an odd number is its own inverse in
/// the lowest three.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmixed_is_what_was_mixed() {
        for x in (0..64).map(|bit| 1 << bit).chain(0..1000).chain([u64::MAX]) {
            assert_eq!(unmix(mix(x)), x);
            assert_eq!(mix(unmix(x)), x);
        }
    }
}
