//! The arithmetic of our formats: little-endian [`field`]s, [`vlq`] numbers, [`murmur3`] hashes, remainders by a [`modulus`],
//! and the copies of LZ77 decoders ([`repeat`]).
//!
//! Pure functions over slices. Nothing here does I/O, allocates, or is `unsafe`; every function takes time linear in the
//! bytes it is given and reads nothing past them.
#![forbid(unsafe_code)]

pub mod field;
pub mod modulus;
pub mod murmur3;
pub mod repeat;
pub mod vlq;

pub use field::Field;
pub use modulus::Modulus;
