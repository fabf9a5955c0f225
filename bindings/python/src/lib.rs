//! Hammerspace for Python: what the package `hammerspace` has in Rust.
//!
//! ```text
//! Reader ──[key], get, get_many──▶ str | bytes | memoryview over Raw
//!   │  └──pairs──▶ Pairs: an iterator
//!   └──writer──▶ Writer ──publish──▶ the next version
//! ```
//! No logic of storage lives here, and no idiom: what makes a reader a `Mapping` is Python, in `python/hammerspace`. What
//! always holds:
//!
//! 1. Classes are frozen, and what changes in them is behind a lock that gives way to the interpreter's. No Python runs, and no
//!    Python object is made, while such a lock is held. So nothing here needs the GIL, and Python's threads may share
//!    everything. See "Python without its lock" in the design notes.
//! 2. No Python object is held by one of ours, so the garbage collector has nothing to traverse.
//! 3. Lookups keep the GIL, and so does a refresh that has nothing to do: they take less time than to give it up. What opens,
//!    publishes, loads, clears or lists versions gives it up.
//! 4. A panic arrives as PyO3's `PanicException`.

mod catalogue;
mod errors;
mod options;
mod pairs;
mod raw;
mod reader;
mod text;
#[cfg(target_arch = "x86_64")]
mod wide;
mod writer;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::catalogue::{catalogue, plural_form};
    #[pymodule_export]
    use super::pairs::Pairs;
    #[pymodule_export]
    use super::reader::Reader;
    #[pymodule_export]
    use super::writer::Writer;

    /// The version of the package.
    #[pymodule_export]
    const __VERSION__: &str = env!("CARGO_PKG_VERSION");
}
