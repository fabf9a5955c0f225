//! What the suites share. Never part of the product.
#![forbid(unsafe_code)]

pub mod disk;
pub mod page;
