//! Records as lines: NDJSON, CSV, TSV.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use hammerspace::store::{Entry, OwnedKey};
use hammerspace::{Error, Kind, Result};
use hammerspace_error::Doing;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::output::{Pair, shown};
use crate::store::shown::{described, record, shown_key, shown_value};

/// A record that is exported.
pub(crate) enum Record<'a> {
    /// Of a space.
    Pair(Pair<'a>),
    /// Of a store.
    Entry(&'a Entry),
}

/// The columns of a store's records as rows. Those of a space are the key and the value.
pub(crate) const STORE_COLUMNS: [&str; 6] = ["key", "value", "integer", "kind", "version", "expiry"];

impl Record<'_> {
    fn row(&self) -> Vec<Cow<'_, [u8]>> {
        match self {
            Self::Pair(Pair { key, value }) => [Some(*key), *value].into_iter().flatten().map(Cow::Borrowed).collect(),
            Self::Entry(Entry { key, value }) => {
                let object = described(value.meta);
                let text = |name: &str| match &object[name] {
                    Json::String(text) => text.clone().into_bytes(),
                    Json::Null => Vec::new(),
                    other => other.to_string().into_bytes(),
                };
                let is_integer = matches!(key, OwnedKey::Integer(_)).to_string().into_bytes();
                let [kind, version, expiry] = ["kind", "version", "expiry"].map(text);
                [shown_key(key), shown_value(value), is_integer, kind, version, expiry].map(Cow::Owned).into()
            }
        }
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Pair(pair) => pair.serialize(to),
            Self::Entry(Entry { key, value }) => record(key, Some(value)).serialize(to),
        }
    }
}

/// What lines are in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Ndjson,
    Csv,
    Tsv,
}

/// Makes lines of records.
pub(crate) struct Lines {
    form: Form,
    line: Rc<RefCell<Vec<u8>>>,
    rows: csv::Writer<Tape>,
}

/// What a writer of rows writes to.
struct Tape(Rc<RefCell<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const WRITING: &str = "write the export";

impl Lines {
    pub(crate) fn new(form: Form) -> Self {
        let line = Rc::default();
        let rows = csv::WriterBuilder::new().flexible(true).from_writer(Tape(Rc::clone(&line)));
        Self { form, line, rows }
    }

    /// Hands the line of a record, with its newline, to `put`.
    pub(crate) fn line<T>(&mut self, record: &Record, put: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.line.borrow_mut().clear();
        match self.form {
            Form::Ndjson => object(record, &mut self.line.borrow_mut())?,
            Form::Csv => {
                self.rows.write_record(record.row()).map_err(io::Error::from).doing(WRITING)?;
                self.rows.flush().doing(WRITING)?;
            }
            Form::Tsv => tabbed(record, &mut self.line.borrow_mut())?,
        }
        put(&self.line.borrow())
    }

    /// The same for a row that names the columns.
    pub(crate) fn header<T>(&mut self, names: &[&str], put: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let separator = if self.form == Form::Tsv { "\t" } else { "," };
        put(format!("{}\n", names.join(separator)).as_bytes())
    }
}

/// A record as a line of JSON.
pub(crate) fn object(record: &impl Serialize, to: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(&mut *to, record).map_err(io::Error::from).doing(WRITING)?;
    to.push(b'\n');
    Ok(())
}

fn tabbed(record: &Record, to: &mut Vec<u8>) -> Result<()> {
    for (at, field) in record.row().iter().enumerate() {
        if field.iter().any(|byte| b"\t\r\n".contains(byte)) {
            return Err(unfit(field, "free of tabs and line ends, and TSV has no quotes"));
        }
        if at > 0 {
            to.push(b'\t');
        }
        to.extend_from_slice(field);
    }
    to.push(b'\n');
    Ok(())
}

/// Says that a field has no form in the format asked for.
pub(crate) fn unfit(bytes: &[u8], what: &str) -> Error {
    Error::new(Kind::Invalid, format!("`{}` is not {what}", shown(bytes))).remedy("export it as ndjson, csv or sparkey")
}
