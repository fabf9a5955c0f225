//! What the benches write: made anew from a seed or a number, never stored.
//!
//! - [`allocations`]: W1–W8, where the sizes of objects change.
//! - [`bigmem`]: events appended to values, whose final content is known in advance.
//! - [`Picker`]: which key comes next, uniform or skewed.
#![forbid(unsafe_code)]

pub mod allocations;
pub mod bigmem;
mod picker;

pub use picker::{Picker, Skew};
