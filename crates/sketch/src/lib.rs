//! Counting distinct elements: about how many, by [`hll`], HyperLogLog in the storage format that PostgreSQL's
//! extension `hll` reads; exactly, by [`set`], expressions over sets of ordinals.
//!
//! Everything here works on bytes and bitmaps that the caller holds. Nothing does I/O, and no byte is believed
//! before it is checked.
#![forbid(unsafe_code)]

pub mod hll;
pub mod set;
