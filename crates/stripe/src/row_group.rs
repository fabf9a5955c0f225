//! A row group: columns of some records, encoded and compressed, not yet in a file.
//!
//! Each column is written to memory of its own, so that a row group is made by one thread without any file.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};

use crate::schema::Schema;
use crate::striper::Striper;

/// Encoded columns of some records.
pub struct RowGroup {
    columns: Vec<(Bytes, ColumnCloseResult)>,
    rows: u64,
}

/// How a row group is encoded.
#[derive(Clone)]
pub(crate) struct Encoding {
    pub(crate) properties: WriterPropertiesPtr,
    pub(crate) ignores_unknown: bool,
}

impl RowGroup {
    /// Encodes what `feed` gives to a striper; the answer of `feed` comes back beside it.
    pub(crate) fn encode<T>(
        schema: &Schema,
        encoding: &Encoding,
        feed: impl FnOnce(&mut Striper<'_>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let mut sinks: Vec<_> = schema.columns().iter().map(|_| TrackedWrite::new(Vec::new())).collect();
        let writer = |(column, sink)| {
            let pages = Box::new(SerializedPageWriter::new(sink));
            get_column_writer(Arc::clone(column), Arc::clone(&encoding.properties), pages)
        };
        let writers = schema.columns().iter().zip(&mut sinks).map(writer).collect();
        let mut striper = Striper::with_writers(schema, writers);
        striper.ignore_unknown(encoding.ignores_unknown);
        let answer = feed(&mut striper)?;
        let rows = striper.rows();
        let closed = striper.into_writers()?.into_iter().map(ColumnWriter::close).collect::<Result<Vec<_>>>()?;
        let bytes = sinks.into_iter().map(|sink| Ok(sink.into_inner()?.into())).collect::<Result<Vec<Bytes>>>()?;
        Ok((Self { columns: bytes.into_iter().zip(closed).collect(), rows }, answer))
    }

    /// Its records.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes it to a file.
    pub(crate) fn append_to<W: Write + Send>(self, mut to: SerializedRowGroupWriter<'_, W>) -> Result<()> {
        for (bytes, closed) in self.columns {
            to.append_column(&bytes, closed)?;
        }
        to.close().map(drop)
    }
}
