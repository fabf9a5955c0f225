//! One column of a row group, read entry by entry.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96,
    Int96Type,
};
use parquet::errors::{ParquetError, Result};

/// Records that are read at a time: enough to make calls cheap, few enough for values of a megabyte.
const RECORDS: usize = 512;

/// A column that is read, with entries read ahead.
pub(crate) struct Stream {
    reader: Reader,
    defs: Vec<i16>,
    reps: Vec<i16>,
    entries: usize,
    /// The entry that comes next, and the value.
    entry: usize,
    value: usize,
    max_def: i16,
    has_reps: bool,
}

/// Values of one type, and where more come from.
struct Typed<T: DataType> {
    from: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

enum Reader {
    Bool(Typed<BoolType>),
    Int32(Typed<Int32Type>),
    Int64(Typed<Int64Type>),
    Int96(Typed<Int96Type>),
    Float(Typed<FloatType>),
    Double(Typed<DoubleType>),
    Bytes(Typed<ByteArrayType>),
    Fixed(Typed<FixedLenByteArrayType>),
}

/// A value as the column has it.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Int96(&'a Int96),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

macro_rules! each {
    ($reader:expr, $typed:ident => $then:expr) => {
        match $reader {
            Reader::Bool($typed) => $then,
            Reader::Int32($typed) => $then,
            Reader::Int64($typed) => $then,
            Reader::Int96($typed) => $then,
            Reader::Float($typed) => $then,
            Reader::Double($typed) => $then,
            Reader::Bytes($typed) => $then,
            Reader::Fixed($typed) => $then,
        }
    };
}

impl<T: DataType> Typed<T> {
    fn new(from: ColumnReaderImpl<T>) -> Self {
        Self { from, values: Vec::new() }
    }

    fn read(&mut self, defs: Option<&mut Vec<i16>>, reps: Option<&mut Vec<i16>>) -> Result<(usize, usize)> {
        self.values.clear();
        let (_, values, levels) = self.from.read_records(RECORDS, defs, reps, &mut self.values)?;
        Ok((values, levels))
    }
}

impl Stream {
    pub(crate) fn new(from: ColumnReader, max_def: i16, max_rep: i16) -> Self {
        let reader = match from {
            ColumnReader::BoolColumnReader(from) => Reader::Bool(Typed::new(from)),
            ColumnReader::Int32ColumnReader(from) => Reader::Int32(Typed::new(from)),
            ColumnReader::Int64ColumnReader(from) => Reader::Int64(Typed::new(from)),
            ColumnReader::Int96ColumnReader(from) => Reader::Int96(Typed::new(from)),
            ColumnReader::FloatColumnReader(from) => Reader::Float(Typed::new(from)),
            ColumnReader::DoubleColumnReader(from) => Reader::Double(Typed::new(from)),
            ColumnReader::ByteArrayColumnReader(from) => Reader::Bytes(Typed::new(from)),
            ColumnReader::FixedLenByteArrayColumnReader(from) => Reader::Fixed(Typed::new(from)),
        };
        let has_reps = max_rep > 0;
        Self { reader, defs: Vec::new(), reps: Vec::new(), entries: 0, entry: 0, value: 0, max_def, has_reps }
    }

    /// Whether there is another entry; reads on where those read ahead are used up.
    #[inline]
    pub(crate) fn has_next(&mut self) -> Result<bool> {
        if self.entry < self.entries { Ok(true) } else { self.refill() }
    }

    fn refill(&mut self) -> Result<bool> {
        self.defs.clear();
        self.reps.clear();
        let defs = (self.max_def > 0).then_some(&mut self.defs);
        let reps = self.has_reps.then_some(&mut self.reps);
        let (values, levels) = each!(&mut self.reader, typed => typed.read(defs, reps))?;
        let present = self.defs.iter().filter(|def| **def == self.max_def).count();
        let levels = if self.max_def > 0 { self.defs.len() } else { levels };
        if (self.max_def > 0 && present != values) || (self.has_reps && self.reps.len() != levels) {
            return Err(ParquetError::General("levels and values of a column do not agree".into()));
        }
        (self.entries, self.entry, self.value) = (levels, 0, 0);
        Ok(levels > 0)
    }

    /// The repetition level of the entry that comes next; 0 at the end.
    #[inline]
    pub(crate) fn rep(&mut self) -> Result<i16> {
        if !self.has_reps || !self.has_next()? {
            return Ok(0);
        }
        Ok(self.reps[self.entry])
    }

    /// Takes an entry, which must be there: its definition level, and its value where it has one.
    #[inline]
    pub(crate) fn take(&mut self) -> (i16, Option<Value<'_>>) {
        let def = if self.max_def > 0 { self.defs[self.entry] } else { 0 };
        self.entry += 1;
        if def < self.max_def {
            return (def, None);
        }
        let at = self.value;
        self.value += 1;
        let value = match &self.reader {
            Reader::Bool(typed) => Value::Bool(typed.values[at]),
            Reader::Int32(typed) => Value::Int32(typed.values[at]),
            Reader::Int64(typed) => Value::Int64(typed.values[at]),
            Reader::Int96(typed) => Value::Int96(&typed.values[at]),
            Reader::Float(typed) => Value::Float(typed.values[at]),
            Reader::Double(typed) => Value::Double(typed.values[at]),
            Reader::Bytes(typed) => Value::Bytes(typed.values[at].data()),
            Reader::Fixed(typed) => Value::Bytes(typed.values[at].data()),
        };
        (def, Some(value))
    }
}
