//! The hash functions, which Spotify's library exports too, though its public header does not have them.

use crate::handle::Bytes;
use hammerspace_bytes::murmur3;

/// `MurmurHash3_x86_32`, widened with zeros.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn murmurhash32_hash(bytes: Bytes, len: u64, seed: u32) -> u64 {
    bytes.get(len).map_or(0, |bytes| murmur3::x86_32(bytes, seed).into())
}

/// The first half of `MurmurHash3_x64_128`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn murmurhash64_hash(bytes: Bytes, len: u64, seed: u32) -> u64 {
    bytes.get(len).map_or(0, |bytes| murmur3::x64_128_low(bytes, seed))
}
