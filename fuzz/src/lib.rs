//! What the fuzz targets hold the readers against. Each `check` takes any bytes, and panics if a reader
//!
//! - panics, overflows, or fails with an error that does not help,
//! - gives more than the bytes justify,
//! - disagrees with itself, or with a plain decoder that shares no code with it,
//! - does not read back what was written from what it gave.
//!
//! libFuzzer bounds time and memory (`README.md`). The corpus is checked by plain `cargo test`, too.
#![deny(unsafe_code)]

mod catalogue;
#[allow(unsafe_code, reason = "one symbol of libc")]
mod chance;
mod document;
pub mod hll;
mod i18n;
pub mod index;
pub mod json;
pub mod log;
pub mod mo;
pub mod po;
mod ranks;
mod reference;
pub mod stripe;
pub mod yaml;

use hammerspace_error::{Kind, Result};

/// The value, or nothing; but an error must blame the bytes and say what to do.
fn accepted<T>(result: Result<T>) -> Option<T> {
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    assert!(matches!(error.kind(), Kind::Corrupt | Kind::Unsupported), "{error:?}");
    assert!(error.advice().is_some_and(|advice| !advice.is_empty()), "no remedy: {error}");
    None
}

#[cfg(test)]
mod tests;
