//! `hammerspace store export STORE`: a table in another form; any process may own the store.

use clap::Args;
use hammerspace_error::Result;

use super::target::Place;
use crate::exit::Outcome;
use crate::exporting::{Exporting, Format, Records};
use crate::output::Output;
use crate::records::{Record, STORE_COLUMNS};

/// Write a table as NDJSON, CSV, TSV or Parquet
///
/// Each record has its key and its value, numbers in decimal; whether the key is an integer; and the value's kind, its version
/// and its expiry, where it has them. What is there from beginning to end is written once.
#[derive(Args)]
pub(crate) struct Export {
    #[command(flatten)]
    place: Place,
    /// In what form
    #[arg(long, value_enum, default_value_t = Format::Ndjson)]
    format: Format,
    /// Name the columns of CSV and TSV in a first row
    #[arg(long)]
    header_row: bool,
    #[command(flatten)]
    exporting: Exporting,
}

const SCHEMA: &str = "message record {
  required binary key;
  required binary value;
  required boolean integer;
  required binary kind (STRING);
  optional int64 version (INTEGER(64,false));
  optional int64 expiry (TIMESTAMP(MILLIS,true));
  optional int32 kind_code;
}";

impl Export {
    pub(crate) fn run(&self, out: &mut Output) -> Result<Outcome> {
        let table = self.place.attach()?;
        let is_table = matches!(self.format, Format::Csv | Format::Tsv);
        let records = Records {
            format: self.format,
            schema: SCHEMA,
            compression: None,
            header: (self.header_row && is_table).then_some(&STORE_COLUMNS[..]),
            each: &|put| table.iter().try_for_each(|entry| put(&Record::Entry(&entry?))),
        };
        self.exporting.write(&records, out)?;
        Ok(Outcome::Found)
    }
}
