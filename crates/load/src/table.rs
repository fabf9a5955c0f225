//! Tables whose first two columns are key and value: CSV and TSV.
//!
//! CSV is RFC 4180: commas, fields in double quotes where need be, a quote within them doubled. TSV is IANA's
//! text/tab-separated-values: a field is whatever stands between two tabs, so a double quote means itself.
//!
//! Every row is a pair unless [`Options::header_row`] is set, further columns are ignored, empty lines are skipped. The
//! bytes are passed on as they are: a table says nothing about its charset. A quote that is never closed makes the rest
//! of the file one field.

use crate::{Options, READING, Sink};
use hammerspace_error::{Doing, Error, Kind, Result};
use std::io::{self, BufRead};

/// Which of the two kinds of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Commas, with quoting.
    Csv,
    /// Tabs, without.
    Tsv,
}

/// Reads rows until the end of `input`, one in memory at a time, and hands every pair to `sink`.
pub fn read(input: &mut dyn BufRead, dialect: Dialect, options: Options, sink: &mut Sink) -> Result<()> {
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(options.header_row)
        .flexible(true)
        .quoting(dialect == Dialect::Csv)
        .delimiter(if dialect == Dialect::Csv { b',' } else { b'\t' })
        .from_reader(input);
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(io::Error::from).doing(READING)? {
        let (Some(key), Some(value)) = (row.get(0), row.get(1)) else { return Err(lone(&row, dialect)) };
        sink(key, value)?;
    }
    Ok(())
}

#[cold]
fn lone(row: &csv::ByteRecord, dialect: Dialect) -> Error {
    // The csv crate counts empty lines just above to the row. So we show what stands there as well.
    let line = row.position().map_or(0, csv::Position::line);
    let field = row.get(0).unwrap_or_default();
    let shown = field[..field.len().min(40)].escape_ascii();
    let (separator, other) = match dialect {
        Dialect::Csv => ("comma", "TSV"),
        Dialect::Tsv => ("tab", "CSV"),
    };
    Error::new(Kind::Corrupt, format!("line {line}: `{shown}` stands alone, and a pair needs two columns"))
        .remedy(format!("separate key and value by a {separator}, or say that the file is {other}"))
}
