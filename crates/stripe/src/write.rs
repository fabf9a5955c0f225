//! Parquet files, written.

use std::io::{self, Write};
use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;

use crate::read::Reader;
use crate::row_group::{Encoding, RowGroup};
use crate::schema::Schema;

/// How pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// With Snappy: quick.
    #[default]
    Snappy,
    /// With zstd: small.
    Zstd,
}

impl Compression {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Snappy, Self::Zstd];

    /// Its name as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Snappy => "snappy",
            Self::Zstd => "zstd",
        }
    }
}

/// How records become a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// How pages are compressed.
    pub compression: Compression,
    /// Bytes of memory for records and columns, roughly. It decides how large row groups are: an eighth of it for two workers.
    /// A record may be larger. What its columns hold is in memory, its JSON is not.
    pub memory: usize,
    /// Threads that stripe. 0: as many as there are cores.
    pub workers: usize,
    /// Passes over members that the schema does not have, instead of refusing their record.
    pub ignore_unknown: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { compression: Compression::default(), memory: 256 << 20, workers: 0, ignore_unknown: false }
    }
}

impl Options {
    pub(crate) fn workers(&self) -> usize {
        if self.workers > 0 { self.workers } else { std::thread::available_parallelism().map_or(1, usize::from) }
    }

    /// Bytes of lines that are striped together.
    pub fn block(&self) -> usize {
        (self.memory / (4 * self.workers())).clamp(1 << 12, 64 << 20)
    }

    pub(crate) fn properties(&self, columns: usize) -> WriterPropertiesPtr {
        let codec = match self.compression {
            Compression::None => Codec::UNCOMPRESSED,
            Compression::Snappy => Codec::SNAPPY,
            Compression::Zstd => Codec::ZSTD(ZstdLevel::default()),
        };
        // Each column holds a page and a dictionary while it is written.
        let page = (self.block() / (2 * columns.max(1))).clamp(1 << 13, 1 << 20);
        let properties = WriterProperties::builder()
            .set_created_by(format!("hammerspace {}", env!("CARGO_PKG_VERSION")))
            .set_compression(codec)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_dictionary_page_size_limit(page)
            .set_data_page_size_limit(page);
        Arc::new(properties.build())
    }

    pub(crate) fn encoding(&self, columns: usize) -> Encoding {
        Encoding { properties: self.properties(columns), ignores_unknown: self.ignore_unknown }
    }
}

/// A Parquet file that is written.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: u64,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file of records of this schema.
    pub fn new(to: W, schema: &Schema, options: &Options) -> Result<Self> {
        let properties = options.properties(schema.columns().len());
        let file = SerializedFileWriter::new(to, schema.root_type(), properties).map_err(unwritten)?;
        Ok(Self { file, rows: 0 })
    }

    /// Adds a row group, if it has records.
    pub fn append(&mut self, group: RowGroup) -> Result<()> {
        if group.rows() == 0 {
            return Ok(());
        }
        self.rows += group.rows();
        let to = self.file.next_row_group().map_err(unwritten)?;
        group.append_to(to).map_err(unwritten)
    }

    /// Adds all row groups of a file, as they are.
    pub fn append_file(&mut self, from: &Reader) -> Result<()> {
        for group in 0..from.row_groups() {
            let to = self.file.next_row_group().map_err(unwritten)?;
            from.copy_row_group(group, to)?;
        }
        self.rows += from.rows();
        Ok(())
    }

    /// Records so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes what a file ends with, and gives back what it was written to.
    pub fn finish(self) -> Result<W> {
        self.file.into_inner().map_err(unwritten)
    }
}

/// What kept a file from being written.
pub(crate) fn unwritten(error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => Error::io("write the file", *cause),
            Err(cause) => Error::new(Kind::Io, format!("write the file: {cause}")),
        },
        other => Error::new(Kind::Io, format!("write the file: {other}")),
    }
}
