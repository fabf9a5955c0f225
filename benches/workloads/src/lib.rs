//! What the benches write: made anew from a seed or a number, never stored.
//!
//! - [`Picker`]: which key comes next, uniform or skewed.
#![forbid(unsafe_code)]

mod picker;

pub use picker::{Picker, Skew};
