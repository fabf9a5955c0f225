//! Readers for what translations and tables come in: bytes in, (key, value) pairs out.
//!
//! ```text
//! bytes ─┬────────► po │ mo │ json │ yaml │ ndjson │ table (CSV, TSV) ──► sink(key, value), once per pair, in file order
//!        └ Packing ─┘          └──────┴──► i18n ──► with types, lists and trees, for Ruby's I18n
//! ```
//!
//! What always holds:
//! 1. Nothing here opens a file, and nothing here panics, whatever the bytes.
//! 2. Time, and the bytes handed to the sink, are linear in the input; where a format would allow more, a
//!    budget says no (`budget.rs`).
//! 3. `.po`, `.mo`, JSON, YAML and NDJSON give UTF-8, whatever charset they came in; CSV and TSV give the bytes they hold.
//! 4. A key that occurs twice is passed on twice. Who stores the pairs lets the last one win.
//! 5. An error names the line (the offset in a `.mo`), what was found and what to do. Some pairs before it may have been passed on.
//!
//! ```
//! use hammerspace_load::{Format, Options, read};
//!
//! let mut pairs = Vec::new();
//! let json = br#"{"fruit": {"apple": "Apfel", "pear": "Birne"}, "count": 2}"#;
//! read(Format::Json, &json[..], &Options::default(), &mut |key, value| {
//!     pairs.push(format!("{}={}", key.escape_ascii(), value.escape_ascii()));
//!     Ok(())
//! })?;
//! assert_eq!(pairs, ["fruit.apple=Apfel", "fruit.pear=Birne", "count=2"]);
//! # Ok::<(), hammerspace_error::Error>(())
//! ```
#![forbid(unsafe_code)]

mod budget;
mod charset;
mod format;
pub mod i18n;
pub mod json;
pub mod mo;
pub mod ndjson;
mod packing;
mod path;
pub mod po;
pub mod table;
mod tree;
pub mod yaml;

use hammerspace_error::{Error, Kind, Result};
use std::io::{self, BufRead, Read};

pub use format::Format;
pub use packing::Packing;

/// Where the pairs go: called with key and value; its error ends the reading and is passed on as it is.
pub type Sink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// What the file itself does not say. The default is right for most files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// CSV and TSV: the first row names the columns and holds no pair. Off by default, so that no pair is lost unseen.
    pub header_row: bool,
    /// CSV and TSV: what separates the columns of a row, if not a comma or a tab.
    pub delimiter: Option<u8>,
    /// CSV and TSV: the column of the keys, by its name in the header row or by its number, counted from 1; by default the
    /// first one. A name implies `header_row`.
    pub key_column: Option<String>,
    /// CSV and TSV: the columns of the values, likewise. Several make each value a JSON object with a member for each of them.
    /// By default the value is in the only column beside the key's.
    pub value_columns: Vec<String>,
    /// `.po` and `.mo`: pass the header on too (the entry of the empty msgid), under the empty key. Off by default.
    pub catalogue_header: bool,
}

/// Reads the whole of `input` as `format` and hands every pair to `sink`.
///
/// NDJSON, CSV and TSV stream, a line or row at a time. The other formats are brought into memory first; a caller who
/// has them there calls [`po::read`], [`mo::read`], [`json::read`] or [`yaml::read`] and saves the copy.
pub fn read(format: Format, mut input: impl BufRead, options: &Options, sink: &mut Sink) -> Result<()> {
    match format {
        Format::Po => po::read(&whole(input)?, options, sink),
        Format::Mo => mo::read(&whole(input)?, options, sink),
        Format::Json => json::read(&whole(input)?, sink),
        Format::Yaml => yaml::read(&whole(input)?, sink),
        Format::Ndjson => ndjson::read(&mut input, sink),
        Format::Csv => table::read(&mut input, table::Dialect::Csv, options, sink),
        Format::Tsv => table::read(&mut input, table::Dialect::Tsv, options, sink),
    }
}

/// All of `input`, for the readers that want it in memory.
pub fn whole(mut input: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// Why the input cannot be read: the operating system says no, or what was packed is damaged.
#[cold]
fn unreadable(cause: io::Error) -> Error {
    match cause.raw_os_error() {
        Some(_) => Error::io("read the input", cause),
        None => Error::new(Kind::Corrupt, format!("the input is cut off or damaged: {cause}"))
            .remedy("fetch the file again, or pack it again"),
    }
}

/// Editors on Windows put a byte order mark before UTF-8. It is no part of the text.
fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
