//! Tables: CSV and TSV.
//!
//! CSV is RFC 4180: commas, fields in double quotes where need be, a quote within them doubled. TSV is IANA's
//! text/tab-separated-values: a field is whatever stands between two tabs, so a double quote means itself.
//!
//! ```text
//! id,de,fr                       --key-column id --value-column de          1 = Apfel
//! 1,Apfel,pomme                  --value-column de --value-column fr        1 = {"de":"Apfel","fr":"pomme"}
//! ```
//!
//! Every row is a pair, unless a header row is announced or a column is named. Without [columns](Options::value_columns) a row
//! has a key, a value and nothing else: a third field is an error, because it would be lost. Empty lines are skipped. Bytes
//! are passed on as they are, since a table says nothing about its charset. A byte order mark before the first field is no part
//! of it. A quote that is never closed makes the rest of the file one field.

use std::borrow::Cow;
use std::io::BufRead;

use csv::ByteRecord;
use hammerspace_error::{Error, Kind, Result};
use indexmap::IndexMap;
use json_event_parser::{JsonEvent, WriterJsonSerializer};

use crate::{Options, Sink, unreadable};

/// Which of the two kinds of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Commas, with quoting.
    Csv,
    /// Tabs, without.
    Tsv,
}

/// Reads rows until the end of `input`, one in memory at a time, and hands every pair to `sink`.
pub fn read(input: &mut dyn BufRead, dialect: Dialect, options: &Options, sink: &mut Sink) -> Result<()> {
    let columns = || options.key_column.iter().chain(&options.value_columns);
    let delimiter = options.delimiter.unwrap_or(if dialect == Dialect::Csv { b',' } else { b'\t' });
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(options.header_row || columns().any(|column| number(column).is_none()))
        .flexible(true)
        .quoting(dialect == Dialect::Csv)
        .delimiter(delimiter)
        .from_reader(input);
    let header =
        if rows.has_headers() { Some(rows.byte_headers().map_err(|wrong| unreadable(wrong.into()))?) } else { None };
    let layout = Layout::of(options, header)?;
    let mut row = ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(|wrong| unreadable(wrong.into()))? {
        let pair = layout.pair(&row).map_err(|wrong| wrong.error(&row, delimiter))?;
        sink(pair.0, &pair.1)?;
    }
    Ok(())
}

/// Where in a row its key and its value lie, counted from 0.
struct Layout {
    key: usize,
    values: Values,
}

enum Values {
    /// In the only other column.
    Rest,
    One(usize),
    /// In several columns, each with the name of its member in a JSON object.
    Object(Vec<(String, usize)>),
}

/// What is wrong with a row.
enum Wrong {
    Lone,
    Crowded,
    Lacks(usize),
    NoText(usize),
}

impl Layout {
    fn of(options: &Options, header: Option<&ByteRecord>) -> Result<Self> {
        let place = |column: &str| place(column, header);
        let key = options.key_column.as_deref().map_or(Ok(0), place)?;
        let values = match &options.value_columns[..] {
            [] => Values::Rest,
            [column] => Values::One(place(column)?),
            columns => Values::Object(members(columns, header)?),
        };
        Ok(Self { key, values })
    }

    fn pair<'r>(&self, row: &'r ByteRecord) -> std::result::Result<(&'r [u8], Cow<'r, [u8]>), Wrong> {
        let field = |at: usize| row.get(at).ok_or(Wrong::Lacks(at));
        let value = match &self.values {
            Values::Rest => match row.len() {
                ..2 => return Err(Wrong::Lone),
                2 => field(usize::from(self.key == 0))?.into(),
                3.. => return Err(Wrong::Crowded),
            },
            Values::One(at) => field(*at)?.into(),
            Values::Object(members) => object(members, row)?.into(),
        };
        Ok((field(self.key)?, value))
    }
}

/// Where a column lies, by its name in the header row or else by its number.
fn place(column: &str, header: Option<&ByteRecord>) -> Result<usize> {
    let names = || header.into_iter().flatten();
    let mut places = names().enumerate().filter(|(_, name)| *name == column.as_bytes()).map(|(at, _)| at);
    match (places.next(), places.next(), number(column)) {
        (Some(at), None, _) => Ok(at),
        (None, _, Some(number)) => Ok(number - 1),
        (Some(_), Some(_), _) => Err(Error::new(Kind::Invalid, format!("the header row has `{column}` twice"))
            .remedy("give the column's number, counted from 1")),
        (None, _, None) => {
            let names: Vec<_> = names().take(20).map(shown).collect();
            Err(Error::new(Kind::Invalid, format!("the header row has no `{column}`; it has {}", names.join(", ")))
                .remedy("name one of these columns, or give its number, counted from 1"))
        }
    }
}

/// The number of a column, counted from 1.
fn number(column: &str) -> Option<usize> {
    column.parse().ok().filter(|number| *number > 0)
}

/// The members of an object: columns, each with its name in the header row, or else with its number.
fn members(columns: &[String], header: Option<&ByteRecord>) -> Result<Vec<(String, usize)>> {
    let mut members = IndexMap::new();
    for column in columns {
        let at = place(column, header)?;
        let name = header.and_then(|header| header.get(at)).map_or(column.into(), String::from_utf8_lossy);
        if members.insert(name.to_string(), at).is_some() {
            return Err(Error::new(Kind::Invalid, format!("two of the value columns are called `{name}`"))
                .remedy("name each column once, or rename one in the header row"));
        }
    }
    Ok(members.into_iter().collect())
}

fn object(members: &[(String, usize)], row: &ByteRecord) -> std::result::Result<Vec<u8>, Wrong> {
    let mut json = WriterJsonSerializer::new(Vec::new());
    let mut event = |event: JsonEvent| json.serialize_event(event).expect("a Vec takes all that is written");
    event(JsonEvent::StartObject);
    for (name, at) in members {
        let field = row.get(*at).ok_or(Wrong::Lacks(*at))?;
        event(JsonEvent::ObjectKey(name.into()));
        event(JsonEvent::String(str::from_utf8(field).map_err(|_| Wrong::NoText(*at))?.into()));
    }
    event(JsonEvent::EndObject);
    Ok(json.finish().expect("the object is closed"))
}

impl Wrong {
    #[cold]
    fn error(&self, row: &ByteRecord, delimiter: u8) -> Error {
        // The csv crate counts empty lines just above to the row. So we show what stands there as well.
        let line = row.position().map_or(0, csv::Position::line);
        let first = shown(row.get(0).unwrap_or_default());
        let (kind, finding) = match self {
            Self::Lone => (Kind::Corrupt, format!("`{first}` stands alone, and a pair needs two columns")),
            Self::Crowded => {
                (Kind::Invalid, format!("the row of `{first}` has {} columns, and a pair needs two", row.len()))
            }
            Self::Lacks(at) => (
                Kind::Corrupt,
                format!("the row of `{first}` ends at column {}, and column {} is wanted", row.len(), at + 1),
            ),
            Self::NoText(at) => (Kind::Corrupt, format!("column {} of the row of `{first}` is no UTF-8", at + 1)),
        };
        let separator = delimiter.escape_ascii();
        Error::new(kind, format!("line {line}: {finding}")).remedy(match self {
            Self::Lone => format!("separate key and value by `{separator}`, or say what separates them: `--delimiter`"),
            Self::Crowded => {
                "say which columns are wanted: `--key-column`, `--value-column` (by name or number)".into()
            }
            Self::Lacks(_) => {
                format!("complete the row, or say what separates its columns: `--delimiter`, now `{separator}`")
            }
            Self::NoText(_) => {
                "several values of a row become JSON, which is UTF-8: convert the file, or take one value".into()
            }
        })
    }
}

/// The beginning of a field, for a message.
fn shown(field: &[u8]) -> String {
    field[..field.len().min(40)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests;
