//! Counting distinct elements: [`hll`], HyperLogLog in the storage format that PostgreSQL's extension `hll`
//! reads.
//!
//! Everything here works on bytes that the caller holds. Nothing does I/O, and no byte is believed before it
//! is checked.
#![forbid(unsafe_code)]

pub mod hll;
