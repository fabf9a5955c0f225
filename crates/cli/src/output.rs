//! Where answers go: to standard output, as words or as JSON.
//!
//! What always holds:
//! 1. With `--json`, standard output carries exactly one object, or for a verb that streams one object per line; an
//!    error is the last of them, `{"error":{…}}`. Standard error then carries nothing but a progress bar, or the steps of
//!    the demo.
//! 2. Without it, standard output carries what was asked for and nothing else; errors and notes go to standard error,
//!    as `hammerspace: …`.
//! 3. Bytes go out as they are. JSON knows only text, so a field whose bytes are not UTF-8 is named `…_base64` instead.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use console::style;
use data_encoding::BASE64;
use hammerspace_error::{Doing, Error, Result};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::exit::Outcome;

/// What a verb writes its answer to.
pub(crate) struct Output {
    to: BufWriter<StdoutLock<'static>>,
    json: bool,
    is_quiet: bool,
    name: &'static str,
}

impl Output {
    /// Standard output, held until the end; `name` opens every message on standard error.
    pub(crate) fn new(json: bool, name: &'static str) -> Self {
        Self { to: BufWriter::with_capacity(1 << 16, io::stdout().lock()), json, is_quiet: false, name }
    }

    /// The same, without words on what was done.
    pub(crate) fn quiet(self, is_quiet: bool) -> Self {
        Self { is_quiet, ..self }
    }

    /// Whether JSON is wanted.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// The one answer of a verb that does not stream.
    pub(crate) fn answer(&mut self, answer: &(impl Serialize + fmt::Display)) -> Result<()> {
        if self.json { self.object(answer) } else { write!(self.to, "{answer}").doing(WRITING) }
    }

    /// What was done by a verb that was not called for its answer: words that `--quiet` leaves out.
    pub(crate) fn done(&mut self, answer: &(impl Serialize + fmt::Display)) -> Result<()> {
        if self.is_quiet && !self.json { Ok(()) } else { self.answer(answer) }
    }

    /// One JSON object and a newline.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.to, object).map_err(io::Error::from).doing(WRITING)?;
        self.bytes(b"\n")
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).doing(WRITING)
    }

    /// What a lookup of `key` gave: the value's bytes and nothing else, or an object with `found`.
    pub(crate) fn lookup(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<Outcome> {
        match value {
            _ if self.json => self.object(&Lookup { found: value.is_some(), pair: Pair { key, value } })?,
            Some(value) => self.bytes(value)?,
            None => {}
        }
        Ok(if value.is_some() { Outcome::Found } else { Outcome::NotFound })
    }

    /// Tells of an error that ends the verb.
    pub(crate) fn error(&mut self, error: &Error) -> Result<()> {
        if self.json { self.object(&Failure { error: Told(error) }) } else { self.complain(error) }
    }

    /// Tells of an error on standard error, after what was already written to standard output.
    pub(crate) fn complain(&mut self, error: &Error) -> Result<()> {
        self.flush()?;
        eprintln!("{} {error}", style(format_args!("{}:", self.name)).for_stderr().red().bold());
        Ok(())
    }

    /// Says something beside the answer, on standard error; with `--json` the answer alone counts.
    #[cfg(feature = "parquet")]
    pub(crate) fn note(&mut self, note: &str) -> Result<()> {
        self.flush()?;
        if !self.json {
            eprintln!("{}: {note}", self.name);
        }
        Ok(())
    }

    /// Hands everything to the system.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.to.flush().doing(WRITING)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// What was being done when standard output refused.
const WRITING: &str = "write to standard output";

#[derive(serde::Serialize)]
struct Failure<'a> {
    error: Told<'a>,
}

/// An error as JSON: `kind`, `message`, and where known `file`, `offset` and `remedy`.
pub(crate) struct Told<'a>(pub(crate) &'a Error);

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("kind", self.0.kind().name())?;
        map.serialize_entry("message", self.0.finding())?;
        if let Some(file) = self.0.path() {
            map.serialize_entry("file", &file.to_string_lossy())?;
        }
        if let Some(offset) = self.0.offset() {
            map.serialize_entry("offset", &offset)?;
        }
        if let Some(remedy) = self.0.advice() {
            map.serialize_entry("remedy", remedy)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Lookup<'a> {
    found: bool,
    #[serde(flatten)]
    pair: Pair<'a>,
}

/// A key, or a key and its value, as fields of a JSON object: `key` and `value`, or `key_base64` and `value_base64`
/// where the bytes are not UTF-8.
pub(crate) struct Pair<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: Option<&'a [u8]>,
}

impl Serialize for Pair<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        text_or_base64(&mut map, ["key", "key_base64"], self.key)?;
        if let Some(value) = self.value {
            text_or_base64(&mut map, ["value", "value_base64"], value)?;
        }
        map.end()
    }
}

/// Bytes as a field of a JSON object, under the second name where they are not UTF-8.
pub(crate) fn text_or_base64<M: SerializeMap>(
    map: &mut M,
    [text, base64]: [&'static str; 2],
    bytes: &[u8],
) -> std::result::Result<(), M::Error> {
    match std::str::from_utf8(bytes) {
        Ok(bytes) => map.serialize_entry(text, bytes),
        Err(_) => map.serialize_entry(base64, &BASE64.encode(bytes)),
    }
}

/// Bytes for a person's eyes, in a message: text as it is, anything else escaped.
pub(crate) fn shown(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(char::is_control) => text.into(),
        _ => bytes.escape_ascii().to_string().into(),
    }
}
