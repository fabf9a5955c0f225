//! Parquet files, read: only the columns asked for.

use std::io::{self, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::File;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::file::writer::SerializedRowGroupWriter;

use crate::assembler::Assembler;
use crate::automaton::Automaton;
use crate::parallel::in_order;
use crate::schema::Schema;
use crate::stream::Stream;

/// Bytes of lines that go from a worker to the writer at a time.
const PIECE: usize = 1 << 20;

/// An open Parquet file.
pub struct Reader {
    file: SerializedFileReader<Source>,
    source: Source,
    schema: Schema,
}

impl Reader {
    /// Opens a file and reads what it ends with.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        File::open(path).and_then(Self::new).map_err(|error| error.file(path))
    }

    /// Reads what a file ends with.
    pub fn new(file: File) -> Result<Self> {
        let source = Source::new(file)?;
        guarded(|| {
            let file = SerializedFileReader::new(source.clone()).map_err(unreadable)?;
            let schema = Schema::of_type(&file.metadata().file_metadata().schema_descr().root_schema_ptr())?;
            Ok(Self { file, source, schema })
        })
    }

    /// What its records look like.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Records in all.
    pub fn rows(&self) -> u64 {
        self.file.metadata().file_metadata().num_rows().try_into().unwrap_or(0)
    }

    /// Parts that can be read on their own.
    pub fn row_groups(&self) -> usize {
        self.file.metadata().num_row_groups()
    }

    /// Puts all records together from the leaves asked for, and hands them to `put` as lines of JSON, many at a time and in
    /// order. Row groups are read by as many threads as `workers` says, 0 for one a core.
    pub fn unstripe(&self, leaves: &[usize], workers: usize, put: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut put = put;
        let automaton = Automaton::new(&self.schema, leaves);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let workers = if workers == 0 { cores() } else { workers }.min(self.row_groups());
        let produce = |next: &mut dyn FnMut(usize) -> bool| {
            let _ = (0..self.row_groups()).all(next);
            Ok(())
        };
        let work = |group, put: &mut dyn FnMut(Vec<u8>) -> bool| guarded(|| self.assemble(group, &automaton, put));
        in_order(workers, produce, work, |lines: Vec<u8>| put(&lines))
    }

    fn assemble(&self, group: usize, automaton: &Automaton, put: &mut dyn FnMut(Vec<u8>) -> bool) -> Result<()> {
        let mut records = self.assembler(group, automaton).map_err(unreadable)?;
        let mut lines = Vec::with_capacity(PIECE + PIECE / 4);
        while records.record(&mut lines).map_err(unreadable)? {
            if lines.len() >= PIECE {
                let full = std::mem::replace(&mut lines, Vec::with_capacity(PIECE + PIECE / 4));
                if !put(full) {
                    return Ok(());
                }
            }
        }
        put(lines);
        Ok(())
    }

    pub(crate) fn assembler<'a>(
        &self,
        group: usize,
        automaton: &'a Automaton,
    ) -> parquet::errors::Result<Assembler<'a>> {
        let (streams, rows) = self.streams(group, automaton)?;
        Ok(Assembler::new(automaton, streams, rows))
    }

    /// The columns of a row group that an automaton reads, and how many records they are of.
    pub(crate) fn streams(&self, group: usize, automaton: &Automaton) -> parquet::errors::Result<(Vec<Stream>, u64)> {
        let group = self.file.get_row_group(group)?;
        let stream = |column: usize| {
            let about = &self.schema.columns()[column];
            Ok(Stream::new(group.get_column_reader(column)?, about.max_def_level(), about.max_rep_level()))
        };
        let streams =
            automaton.states.iter().map(|state| stream(state.column)).collect::<parquet::errors::Result<_>>()?;
        Ok((streams, u64::try_from(group.metadata().num_rows()).unwrap_or(0)))
    }

    /// Copies a row group without decoding it.
    pub(crate) fn copy_row_group<W: Write + Send>(
        &self,
        group: usize,
        mut to: SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let group = self.file.metadata().row_group(group);
        let rows_written = u64::try_from(group.num_rows()).unwrap_or(0);
        for column in group.columns() {
            let bytes_written = u64::try_from(column.compressed_size()).unwrap_or(0);
            let metadata = column.clone();
            let (bloom_filter, column_index, offset_index) = (None, None, None);
            let closed =
                ColumnCloseResult { bytes_written, rows_written, metadata, bloom_filter, column_index, offset_index };
            to.append_column(&self.source, closed).map_err(unreadable)?;
        }
        to.close().map(drop).map_err(crate::write::unwritten)
    }
}

/// A file that several threads read, each where it likes.
#[derive(Clone)]
struct Source {
    file: Arc<File>,
    len: u64,
}

impl Source {
    fn new(file: File) -> Result<Self> {
        let len = file.len()?;
        Ok(Self { file: Arc::new(file), len })
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Source {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(From { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.len);
        if end.is_none() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond the end, at {}", self.len)));
        }
        let mut bytes = vec![0; length];
        let read = self.file.read_at(&mut bytes, start).map_err(|error| ParquetError::External(Box::new(error)))?;
        bytes.truncate(read);
        Ok(bytes.into())
    }
}

/// A file from some place on.
struct From {
    file: Arc<File>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at).map_err(io::Error::other)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Makes an error of a panic: the library takes some damage for a mistake of its caller.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let finding = "the file breaks a rule of its format, and cannot be read any further";
        Err(Error::new(Kind::Corrupt, finding).remedy("restore the file, or write it again"))
    })
}

/// What keeps a file from being read.
pub(crate) fn unreadable(error: ParquetError) -> Error {
    let damaged = |what: String| Error::new(Kind::Corrupt, what).remedy("restore the file, or write it again");
    match error {
        ParquetError::External(cause) => system(&*cause).unwrap_or_else(|| damaged(cause.to_string())),
        ParquetError::NYI(what) => Error::new(Kind::Unsupported, what)
            .remedy("write it with zstd, snappy or no compression, and plain or dictionary encoding"),
        other => damaged(other.to_string()),
    }
}

/// What the operating system said, if it did; decoders report damage in the same way.
fn system(cause: &(dyn std::error::Error + 'static)) -> Option<Error> {
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(error.clone());
    }
    let cause = cause.downcast_ref::<io::Error>()?;
    match cause.raw_os_error() {
        Some(code) => Some(Error::io("read the file", io::Error::from_raw_os_error(code))),
        None => cause.get_ref()?.downcast_ref::<Error>().cloned(),
    }
}
