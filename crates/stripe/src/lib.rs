//! Nested records as columns, in Parquet files: striped from JSON, and put together again from the fields asked for.
//!
//! ```text
//! lines of JSON ─▶ Striper ─▶ values and levels, one column a leaf ─▶ RowGroup ─▶ Writer ─▶ file.parquet
//! lines of JSON ◀─ Assembler ◀─ Stream, one a leaf asked for ◀────────────────── Reader ◀─┘
//!                      └─ Automaton: which leaf is read next
//! ```
//! Schemas are written in Parquet's message syntax ([`Schema`]). What is ours is the way between records and columns; the
//! bytes of the file are the business of the crate `parquet`, so that other engines read what is written here.
//!
//! What always holds:
//! 1. A record comes back as it was: the same members with the same values, in the order of the schema. An absent
//!    optional member and a null are the same, and so are an empty and an absent `repeated` field.
//! 2. Memory is bounded by [`Options::memory`] and by what the columns of one record hold, whatever the number of records
//!    and the length of a line. Reading holds a few hundred records of the leaves asked for.
//! 3. Only the columns asked for are read.
//!
//! ```
//! use hammerspace_stripe::{Options, Reader, Schema, Writer, stripe_all};
//!
//! let schema = Schema::parse("message event { required int64 ts; repeated group imp { optional double cost; } }")?;
//! let events = "{\"ts\": 7, \"imp\": [{\"cost\": 1.5}, {}]}\n{\"ts\": 8}\n";
//! let options = Options::default();
//! let mut writer = Writer::new(tempfile::NamedTempFile::new()?, &schema, &options)?;
//! stripe_all(events.as_bytes(), &schema, &options, |striped| writer.append(striped.group))?;
//! let file = writer.finish()?;
//!
//! let reader = Reader::open(file.path())?;
//! let mut lines = Vec::new();
//! reader.unstripe(&reader.schema().select(&["imp.cost"])?, 1, |some| Ok(lines.extend_from_slice(some)))?;
//! assert_eq!(lines, b"{\"imp\":[{\"cost\":1.5},{}]}\n{}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod assembler;
mod automaton;
mod column;
mod decimal;
mod files;
mod infer;
mod leaf;
mod lines;
mod pairs;
mod parallel;
mod read;
mod render;
mod route;
mod row_group;
mod schema;
mod stream;
mod stripe;
mod striper;
mod time;
mod write;

pub use files::Files;
pub use infer::Inference;
pub use lines::{Block, Lines, lines};
pub use read::Reader;
pub use route::{Router, stripe_by};
pub use row_group::RowGroup;
pub use schema::Schema;
pub use stripe::{Batch, Rejectable, Rejected, Striped, Text, stripe, stripe_all};
pub use striper::{Outcome, Reject, Striper};
pub use write::{Compression, Options, Writer};

#[cfg(test)]
mod tests;
