//! One leaf's values and levels, waiting to be written.

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

/// Values and levels of a leaf. Levels are kept only where they can differ.
#[derive(Debug)]
pub struct Column {
    pub(crate) max_def: i16,
    pub(crate) max_rep: i16,
    pub(crate) defs: Vec<i16>,
    pub(crate) reps: Vec<i16>,
    pub(crate) values: Values,
}

/// Values of one physical type.
#[derive(Debug)]
pub(crate) enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Strings),
    Fixed(Strings),
}

/// Strings of bytes, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// How much a column held at some moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    levels: usize,
    values: usize,
}

/// The same on the values of any type.
macro_rules! each {
    ($values:expr, $inner:ident => $then:expr) => {
        match $values {
            Values::Bool($inner) => $then,
            Values::Int32($inner) => $then,
            Values::Int64($inner) => $then,
            Values::Int96($inner) => $then,
            Values::Float($inner) => $then,
            Values::Double($inner) => $then,
            Values::Bytes($inner) | Values::Fixed($inner) => $then,
        }
    };
}

/// Entries that a column keeps room for.
const USUAL: usize = 1 << 14;

impl Strings {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }

    fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn shrink_to(&mut self, len: usize) {
        self.ends.shrink_to(len);
    }

    /// All strings, as shares of one buffer.
    fn take<T: From<ByteArray>>(&mut self) -> Vec<T> {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let mut start = 0;
        let share = |end| {
            let share = bytes.slice(start..end);
            start = end;
            T::from(ByteArray::from(share))
        };
        self.ends.drain(..).map(share).collect()
    }
}

impl Column {
    pub(crate) fn new(of: &ColumnDescPtr) -> Self {
        let values = match of.physical_type() {
            Physical::BOOLEAN => Values::Bool(Vec::new()),
            Physical::INT32 => Values::Int32(Vec::new()),
            Physical::INT64 => Values::Int64(Vec::new()),
            Physical::INT96 => Values::Int96(Vec::new()),
            Physical::FLOAT => Values::Float(Vec::new()),
            Physical::DOUBLE => Values::Double(Vec::new()),
            Physical::BYTE_ARRAY => Values::Bytes(Strings::default()),
            Physical::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Strings::default()),
        };
        Self { max_def: of.max_def_level(), max_rep: of.max_rep_level(), defs: Vec::new(), reps: Vec::new(), values }
    }

    /// Notes the levels of an entry; where the definition level is the highest, its value is pushed too.
    #[inline]
    pub(crate) fn levels(&mut self, rep: i16, def: i16) {
        if self.max_def > 0 {
            self.defs.push(def);
        }
        if self.max_rep > 0 {
            self.reps.push(rep);
        }
    }

    /// Entries, absent values among them.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.max_def > 0 { self.defs.len() } else { self.values.len() }
    }

    /// Roughly what it takes in memory.
    pub(crate) fn size(&self) -> usize {
        2 * (self.defs.len() + self.reps.len()) + self.values.size()
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { levels: self.len(), values: self.values.len() }
    }

    /// Forgets what came after `mark`.
    pub(crate) fn truncate(&mut self, mark: Mark) {
        self.defs.truncate(mark.levels);
        self.reps.truncate(mark.levels);
        self.values.truncate(mark.values);
    }

    /// Gives memory back that a long record has taken.
    fn shrink(&mut self) {
        self.defs.shrink_to(USUAL);
        self.reps.shrink_to(USUAL);
        each!(&mut self.values, values => values.shrink_to(USUAL));
    }

    /// Hands everything to a writer of the same leaf.
    pub(crate) fn flush(&mut self, to: &mut ColumnWriter) -> Result<()> {
        let defs = (self.max_def > 0).then_some(&self.defs[..]);
        let reps = (self.max_rep > 0).then_some(&self.reps[..]);
        let written = match (to, &mut self.values) {
            (ColumnWriter::BoolColumnWriter(to), Values::Bool(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::Int32ColumnWriter(to), Values::Int32(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::Int64ColumnWriter(to), Values::Int64(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::Int96ColumnWriter(to), Values::Int96(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::FloatColumnWriter(to), Values::Float(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::DoubleColumnWriter(to), Values::Double(values)) => to.write_batch(values, defs, reps),
            (ColumnWriter::ByteArrayColumnWriter(to), Values::Bytes(values)) => {
                to.write_batch(&values.take::<ByteArray>(), defs, reps)
            }
            (ColumnWriter::FixedLenByteArrayColumnWriter(to), Values::Fixed(values)) => {
                to.write_batch(&values.take::<FixedLenByteArray>(), defs, reps)
            }
            _ => unreachable!("the writer was made for this leaf"),
        };
        self.truncate(Mark::default());
        self.shrink();
        written.map(drop)
    }
}

impl Strings {
    fn len(&self) -> usize {
        self.ends.len()
    }
}

impl Values {
    fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    fn truncate(&mut self, len: usize) {
        each!(self, values => values.truncate(len));
    }

    fn size(&self) -> usize {
        match self {
            Self::Bytes(strings) | Self::Fixed(strings) => strings.bytes.len() + 8 * strings.ends.len(),
            other => 8 * other.len(),
        }
    }
}
