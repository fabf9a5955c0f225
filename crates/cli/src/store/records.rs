//! Records to put, read from a file: TSV, or NDJSON as `scan --json` writes it.
//!
//! ```text
//! ada<TAB>countess                          a key and a value
//! {"key":"ada","value":"countess"}          the same; `integer`, `kind` and `expiry` are read, and `key_base64`, `value_base64`
//! ```

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

use clap::ValueEnum;
use data_encoding::BASE64;
use hammerspace::store::{OwnedKey, ValueKind};
use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_load::{Options, read};
use serde::Deserialize;
use serde_json::Value as Json;

use super::target::Spelling;

/// What a file of records is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A key, a tab and a value in each line
    Tsv,
    /// A JSON object in each line
    Ndjson,
}

/// A record as a file has it; what the file does not say is for the caller to choose.
pub(super) struct Record {
    pub(super) key: OwnedKey,
    pub(super) value: Vec<u8>,
    pub(super) kind: Option<ValueKind>,
    pub(super) expiry: Option<SystemTime>,
}

/// A line of NDJSON. The version is the store's to choose; nothing else is left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: Option<String>,
    key_base64: Option<String>,
    value: Option<Json>,
    value_base64: Option<String>,
    integer: Option<bool>,
    kind: Option<String>,
    expiry: Option<String>,
    #[serde(rename = "version")]
    _version: Option<Json>,
}

/// Gives each record of a file to `put`, in order; `-` is standard input.
pub(super) fn each(
    file: &Path,
    format: Option<Format>,
    spelling: &Spelling,
    mut put: impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let format = format.or_else(|| named(file)).ok_or_else(|| {
        let error = Error::new(Kind::Invalid, "the name does not say what the file is in").file(file);
        error.remedy("give `--format tsv` or `--format ndjson`")
    })?;
    let mut input = open(file)?;
    match format {
        Format::Tsv => rows(input, spelling, &mut put),
        Format::Ndjson => lines(&mut input, spelling, &mut put),
    }
    .map_err(|error| error.file(file))
}

fn named(file: &Path) -> Option<Format> {
    match hammerspace_load::Format::of(file)? {
        hammerspace_load::Format::Tsv => Some(Format::Tsv),
        hammerspace_load::Format::Ndjson => Some(Format::Ndjson),
        _ => None,
    }
}

fn open(file: &Path) -> Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(file).doing("open").map_err(|error| error.file(file))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

fn rows(input: impl BufRead, spelling: &Spelling, put: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
    let mut is_read = false;
    let read = read(hammerspace_load::Format::Tsv, input, &Options::default(), &mut |key, value| {
        is_read = true;
        let key = spelling.key(OsStr::from_bytes(key))?;
        put(Record { key, value: value.to_vec(), kind: None, expiry: None })?;
        is_read = false;
        Ok(())
    });
    // The reader's remedies are options of `load`.
    read.map_err(|error| if is_read { error } else { error.remedy("write each line as a key, a tab and a value") })
}

fn lines(input: &mut dyn BufRead, spelling: &Spelling, put: &mut dyn FnMut(Record) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line).doing("read")? == 0 {
            break;
        }
        if !line.trim_ascii().is_empty() {
            let parsed: Line = serde_json::from_slice(&line).map_err(|why| unlike(number, why))?;
            put(parsed.record(spelling).map_err(|why| unlike(number, why))?)?;
        }
    }
    Ok(())
}

#[cold]
fn unlike(line: u64, why: impl std::fmt::Display) -> Error {
    Error::new(Kind::Invalid, format!("line {line} is no record: {why}"))
        .remedy("write each line as {\"key\": \"…\", \"value\": \"…\"}, or as `hammerspace store scan --json` does")
}

impl Line {
    fn record(self, spelling: &Spelling) -> std::result::Result<Record, String> {
        let key = bytes(self.key, self.key_base64)?.ok_or("it has no `key`")?;
        let key = match self.integer {
            Some(true) => OwnedKey::Integer(number(&key)?),
            Some(false) => OwnedKey::Bytes(key),
            None => spelling.key(OsStr::from_bytes(&key)).map_err(|error| error.finding().to_owned())?,
        };
        let value = match self.value {
            Some(Json::String(text)) => Some(text),
            Some(Json::Number(number)) => Some(number.to_string()),
            Some(_) => return Err("its `value` is neither a text nor a number".into()),
            None => None,
        };
        let value = bytes(value, self.value_base64)?.ok_or("it has no `value`")?;
        let kind = self.kind.map(|kind| kind.parse::<ValueKind>()).transpose().map_err(|error| error.to_string())?;
        let expiry = self.expiry.map(|expiry| humantime::parse_rfc3339(&expiry)).transpose();
        let expiry = expiry.map_err(|why| format!("its `expiry` is no instant: {why}"))?;
        Ok(Record { key, value, kind, expiry })
    }
}

fn bytes(text: Option<String>, base64: Option<String>) -> std::result::Result<Option<Vec<u8>>, String> {
    match base64 {
        Some(base64) => BASE64.decode(base64.as_bytes()).map(Some).map_err(|why| format!("its base64 is none: {why}")),
        None => Ok(text.map(String::into_bytes)),
    }
}

fn number(key: &[u8]) -> std::result::Result<u64, String> {
    let number = str::from_utf8(key).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| "its `key` is no integer from 0 to 18446744073709551615".into())
}
