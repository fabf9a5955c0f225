//! Do three implementations of Sparkey mean the same by the same bytes?
//!
//! ```text
//!   history ──► one peer creates ──► another appends ──► another indexes ──► each of them reads
//!      └──────► twin: what must be in the files ──────────────── compared with ──────┘
//! ```
//!
//! A [`Peer`] is one implementation: [`Ours`], Spotify's C library ([`C`]) and Spotify's Java library ([`Java`]). A
//! [`Twin`] is the same history in a plain map. Every reader is asked for the live entries in order, for keys that are
//! there and keys that are not, and for the header fields that it shows; [`Contents::differences`] says what it got wrong.
//!
//! The same question about HyperLogLog values has peers of its own: a [`Postgres`] with the extension `hll`, and [`JavaHll`].
#![forbid(unsafe_code)]

mod c;
mod contents;
mod history;
mod hll;
mod java;
mod jvm;
mod ours;
mod peer;

pub use c::C;
pub use contents::Contents;
pub use history::{Case, Change, Twin};
pub use hll::{JavaHll, Postgres};
pub use java::Java;
pub use ours::Ours;
pub use peer::{Format, Pair, Peer, Result};
