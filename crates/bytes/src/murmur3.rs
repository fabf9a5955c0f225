//! MurmurHash3 (Austin Appleby, public domain): the two forms that Sparkey uses (`docs/format/sparkey-index.md`), and the one
//! by which Scala hashes text (`docs/format/sparkey-shards.md`).
//!
//! All are frozen: they decide where a key lies in files that already exist.

use crate::field::{get_u32, get_u64};

/// `MurmurHash3_x86_32`: the hash of a Sparkey index with 4-byte hashes.
#[inline]
pub fn x86_32(key: &[u8], seed: u32) -> u32 {
    let (blocks, tail) = key.as_chunks::<4>();
    let mut h = seed;
    for block in blocks {
        h = absorb_32(h, u32::from_le_bytes(*block));
    }
    if !tail.is_empty() {
        h ^= scramble_32(get_short(tail) as u32);
    }
    // The format hashes the length as 32 bits; longer keys are outside it, and writers refuse them.
    finish_32(h, key.len() as u32)
}

/// Scala's `MurmurHash3.stringHash`, of text in UTF-16: like [`x86_32`], but two units make a block, the first of them in
/// its upper half, and the length is that in units.
pub fn utf16_32(units: impl IntoIterator<Item = u16>, seed: u32) -> u32 {
    let (mut h, mut len, mut units) = (seed, 0_u32, units.into_iter());
    while let Some(first) = units.next() {
        let Some(second) = units.next() else {
            return finish_32(h ^ scramble_32(first.into()), len.wrapping_add(1));
        };
        h = absorb_32(h, u32::from(first) << 16 | u32::from(second));
        len = len.wrapping_add(2);
    }
    finish_32(h, len)
}

#[inline]
fn scramble_32(k: u32) -> u32 {
    k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline]
fn absorb_32(h: u32, block: u32) -> u32 {
    (h ^ scramble_32(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline]
fn finish_32(mut h: u32, len: u32) -> u32 {
    h ^= len;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// The first 64 bits of `MurmurHash3_x64_128`: the hash of a Sparkey index with 8-byte hashes. The seed is
/// zero-extended.
#[inline]
pub fn x64_128_low(key: &[u8], seed: u32) -> u64 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let scramble_1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scramble_2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);

    let (blocks, tail) = key.as_chunks::<16>();
    let (mut h1, mut h2) = (u64::from(seed), u64::from(seed));
    for block in blocks {
        h1 ^= scramble_1(get_u64(block, 0));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scramble_2(get_u64(block, 8));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    if let Some((first, second)) = tail.split_at_checked(8) {
        h1 ^= scramble_1(get_u64(first, 0));
        h2 ^= scramble_2(get_short(second));
    } else {
        h1 ^= scramble_1(get_short(tail));
    }
    let len = u64::from(key.len() as u32);
    h1 ^= len;
    h2 ^= len;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    mix(h1).wrapping_add(mix(h2))
}

/// The integer of up to 8 bytes: they are read as two that overlap, which costs less than to copy them into a padded one.
#[inline]
fn get_short(bytes: &[u8]) -> u64 {
    match bytes.len() {
        0 => 0,
        len @ 1..=3 => {
            let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
            byte(0) | byte(len / 2) | byte(len - 1)
        }
        len => u64::from(get_u32(bytes, 0)) | u64::from(get_u32(bytes, len - 4)) << (8 * (len - 4)),
    }
}

/// The finalizer: every input bit reaches every output bit.
fn mix(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that Spotify's C and Java implementations give.
    #[test]
    fn short_integers_are_those_of_the_padded_bytes() {
        let bytes = [0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8];
        for len in 0..=8 {
            let mut padded = [0; 8];
            padded[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(get_short(&bytes[..len]), u64::from_le_bytes(padded), "{len}");
        }
    }

    #[test]
    fn the_reference_values_hold() {
        let cases: [(u32, &[u8], u32, u64); 3] = [
            (1, b"", 0x514e_28b7, 0x4610_abe5_6eff_5cb5),
            (0x9747_b28c, b"hello", 0x5d7f_56e8, 0x8c23_d685_6f07_1a2e),
            (0xffff_ffff, b"hello, world, 0123456789", 0xb12a_376e, 0xea1e_06f4_7ec5_3f16),
        ];
        for (seed, key, short, long) in cases {
            assert_eq!(x86_32(key, seed), short, "{key:?} with seed {seed:#x}");
            assert_eq!(x64_128_low(key, seed), long, "{key:?} with seed {seed:#x}");
        }
    }
}
