//! The hashes of PostgreSQL's `hll_hash_*`: the first half of MurmurHash3 x64 128 over the bytes that each
//! type has there.
//!
//! java-hll and js-hll leave the choice of a hash to their users; sets are united only if all of them made
//! the same. Guava's `murmur3_128(seed).hashLong(x).asLong()` is [`bigint`].
//!
//! A seed of PostgreSQL is 0 to 2^31 - 1, and 0 unless one is given. An integer's type is part of its hash:
//! [`integer`] of 1 is not [`bigint`] of 1.

use hammerspace_bytes::murmur3::x64_128_low;

/// `hll_hash_boolean(value, seed)`: one byte, 0 or 1.
pub fn boolean(value: bool, seed: u32) -> u64 {
    x64_128_low(&[value.into()], seed)
}

/// `hll_hash_smallint(value, seed)`: two bytes, little-endian.
pub fn smallint(value: i16, seed: u32) -> u64 {
    x64_128_low(&value.to_le_bytes(), seed)
}

/// `hll_hash_integer(value, seed)`: four bytes, little-endian.
pub fn integer(value: i32, seed: u32) -> u64 {
    x64_128_low(&value.to_le_bytes(), seed)
}

/// `hll_hash_bigint(value, seed)`: eight bytes, little-endian.
pub fn bigint(value: i64, seed: u32) -> u64 {
    x64_128_low(&value.to_le_bytes(), seed)
}

/// `hll_hash_bytea(value, seed)`: the bytes. With seed 0, no bytes hash to 0, which raises no register.
pub fn bytea(value: &[u8], seed: u32) -> u64 {
    x64_128_low(value, seed)
}

/// `hll_hash_text(value, seed)`: the bytes of the text, in the encoding of the database, which is to be
/// UTF-8.
pub fn text(value: &str, seed: u32) -> u64 {
    x64_128_low(value.as_bytes(), seed)
}
