//! Lines of JSON to row groups, on several threads.

use std::fs;
use std::io::{self, BufReader, Read, Seek};

use hammerspace_error::{Doing, Error, Kind, Result};

use crate::lines::{Block, Lines, lines};
use crate::parallel::in_order;
use crate::row_group::{Encoding, RowGroup};
use crate::schema::Schema;
use crate::striper::{Reject, Striper};
use crate::write::{Options, unwritten};

/// Lines that are striped together, and what to call them afterwards.
pub struct Batch<T> {
    /// Comes back with what was made of the lines.
    pub tag: T,
    /// The lines.
    pub lines: Text,
}

/// Lines of JSON.
pub enum Text {
    /// Whole lines, by the number of the first.
    Lines(Vec<u8>, u64),
    /// Whole lines, by the number of each that is not blank.
    Picked(Vec<u8>, Vec<u64>),
    /// One line that is longer than a block, in a file, by its number.
    Long(fs::File, u64),
}

/// What was made of a batch.
pub struct Striped<T> {
    /// Of the batch.
    pub tag: T,
    /// Its records.
    pub group: RowGroup,
    /// Lines that are no records of the schema.
    pub rejects: Vec<Rejected>,
}

/// A line that is no record of the schema.
pub struct Rejected {
    /// Its number.
    pub line: u64,
    /// Why.
    pub why: Reject,
    /// The line.
    pub text: Rejectable,
}

/// A line, in memory or in a file.
pub enum Rejectable {
    /// In memory.
    Short(Vec<u8>),
    /// In a file.
    Long(fs::File),
}

impl Rejected {
    /// The line as an error.
    pub fn error(&self) -> Error {
        Error::new(Kind::Invalid, format!("line {} does not fit the schema: {}", self.line, self.why))
            .remedy("correct the line or the schema, or give --rejects FILE to set such lines aside")
    }
}

/// Stripes the batches that `produce` gives, and hands each row group to `consume`, in order.
pub fn stripe<T: Send>(
    schema: &Schema,
    options: &Options,
    produce: impl FnOnce(&mut dyn FnMut(Batch<T>) -> bool) -> Result<()> + Send,
    consume: impl FnMut(Striped<T>) -> Result<()>,
) -> Result<()> {
    let encoding = options.encoding(schema.columns().len());
    let work = |batch: Batch<T>, put: &mut dyn FnMut(Striped<T>) -> bool| {
        let (group, rejects) = match batch.lines {
            Text::Long(file, number) => stripe_long(schema, &encoding, file, number)?,
            Text::Lines(block, first) => stripe_lines(schema, &encoding, lines(&block, first))?,
            Text::Picked(block, numbers) => stripe_lines(
                schema,
                &encoding,
                lines(&block, 0).zip(numbers).map(|((line, _), number)| (line, number)),
            )?,
        };
        put(Striped { tag: batch.tag, group, rejects });
        Ok(())
    };
    in_order(options.workers(), produce, work, consume)
}

/// Stripes a stream of lines, one row group behind the other.
pub fn stripe_all(
    from: impl Read + Send,
    schema: &Schema,
    options: &Options,
    consume: impl FnMut(Striped<()>) -> Result<()>,
) -> Result<()> {
    let produce = |put: &mut dyn FnMut(Batch<()>) -> bool| {
        let mut from = Lines::new(from, options.block());
        while let Some(block) = from.next_block()? {
            let lines = match block {
                Block::Lines(block, first) => Text::Lines(block, first),
                Block::Long(file, number) => Text::Long(file, number),
            };
            if !put(Batch { tag: (), lines }) {
                break;
            }
        }
        Ok(())
    };
    stripe(schema, options, produce, consume)
}

type Done = (RowGroup, Vec<Rejected>);

fn stripe_lines<'a>(
    schema: &Schema,
    encoding: &Encoding,
    lines: impl Iterator<Item = (&'a [u8], u64)>,
) -> Result<Done> {
    let feed = |striper: &mut Striper<'_>| {
        let mut rejects = Vec::new();
        for (text, line) in lines {
            if let Err(why) = striper.json(text)? {
                rejects.push(Rejected { line, why, text: Rejectable::Short(text.to_vec()) });
            }
        }
        Ok(rejects)
    };
    RowGroup::encode(schema, encoding, feed).map_err(unwritten)
}

/// A long line has a row group of its own.
fn stripe_long(schema: &Schema, encoding: &Encoding, mut file: fs::File, line: u64) -> Result<Done> {
    let feed = |striper: &mut Striper<'_>| striper.json_stream(BufReader::with_capacity(1 << 16, &file));
    let (group, outcome) = RowGroup::encode(schema, encoding, feed).map_err(unwritten)?;
    let Err(why) = outcome else { return Ok((group, Vec::new())) };
    file.rewind().doing("read the scratch file")?;
    Ok((group, vec![Rejected { line, why, text: Rejectable::Long(file) }]))
}

impl Rejectable {
    /// Writes the line and a newline.
    pub fn write_to(&mut self, to: &mut impl io::Write) -> io::Result<()> {
        match self {
            Self::Short(line) => to.write_all(line)?,
            Self::Long(file) => drop(io::copy(file, to)?),
        }
        to.write_all(b"\n")
    }
}
