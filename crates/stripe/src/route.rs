//! Lines by what they go by, gathered until there are enough of them for a row group.

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek};

use hammerspace_error::{Doing, Result};
use hammerspace_split::{By, Value};

use crate::lines::{Block, Lines, lines};
use crate::schema::Schema;
use crate::stripe::{Batch, Striped, Text, stripe};
use crate::write::Options;

/// Lines that wait, by what they go by.
pub struct Router {
    waiting: HashMap<Value, Waiting>,
    /// Bytes that wait in all, and how many may.
    size: usize,
    size_max: usize,
    block: usize,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<u8>,
    numbers: Vec<u64>,
}

impl Waiting {
    fn size(&self) -> usize {
        self.lines.len() + 8 * self.numbers.len()
    }
}

impl Router {
    /// A router that holds as much as these options allow.
    pub fn new(options: &Options) -> Self {
        Self { waiting: HashMap::new(), size: 0, size_max: options.memory / 2, block: options.block() }
    }

    /// Adds a line without its newline. Hands the lines of a value to `put` once they are enough for a row group, and those of
    /// the largest values where all together are too many. Says whether `put` wants more.
    pub fn push(&mut self, value: Value, line: &[u8], number: u64, put: &mut dyn FnMut(Batch<Value>) -> bool) -> bool {
        let waiting = match self.waiting.get_mut(&value) {
            Some(waiting) => waiting,
            None => self.waiting.entry(value.clone()).or_default(),
        };
        waiting.lines.extend_from_slice(line);
        waiting.lines.push(b'\n');
        waiting.numbers.push(number);
        self.size += line.len() + 9;
        if waiting.size() >= self.block {
            return self.take(value).is_none_or(put);
        }
        self.size < self.size_max || self.make_room(put)
    }

    /// Hands the largest values on until half of the room is free: rarely, since it looks at all of them.
    fn make_room(&mut self, put: &mut dyn FnMut(Batch<Value>) -> bool) -> bool {
        let mut sizes: Vec<_> = self.waiting.iter().map(|(value, waiting)| (waiting.size(), value.clone())).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        for (_, value) in sizes {
            if self.size <= self.size_max / 2 {
                break;
            }
            if !self.take(value).is_none_or(&mut *put) {
                return false;
            }
        }
        true
    }

    fn take(&mut self, value: Value) -> Option<Batch<Value>> {
        let waiting = self.waiting.remove(&value)?;
        self.size -= waiting.size();
        Some(Batch { tag: value, lines: Text::Picked(waiting.lines, waiting.numbers) })
    }

    /// What still waits, in the order of values.
    pub fn finish(self) -> impl Iterator<Item = Batch<Value>> {
        let mut rest: Vec<_> = self.waiting.into_iter().collect();
        rest.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        rest.into_iter().map(|(tag, waiting)| Batch { tag, lines: Text::Picked(waiting.lines, waiting.numbers) })
    }
}

/// Stripes a stream of lines, those of each value by themselves, in the order in which they came.
pub fn stripe_by(
    from: impl Read + Send,
    by: &By,
    schema: &Schema,
    options: &Options,
    consume: impl FnMut(Striped<Value>) -> Result<()>,
) -> Result<()> {
    let produce = |put: &mut dyn FnMut(Batch<Value>) -> bool| {
        let (mut from, mut router) = (Lines::new(from, options.block()), Router::new(options));
        while let Some(block) = from.next_block()? {
            let goes_on = match block {
                Block::Lines(block, first) => {
                    lines(&block, first).all(|(line, number)| router.push(by.of_json(line), line, number, put))
                }
                Block::Long(mut file, number) => {
                    let tag = by.of_stream(BufReader::with_capacity(1 << 16, &file));
                    file.rewind().doing("read the scratch file")?;
                    put(Batch { tag, lines: Text::Long(file, number) })
                }
            };
            if !goes_on {
                return Ok(());
            }
        }
        let _ = router.finish().all(put);
        Ok(())
    };
    stripe(schema, options, produce, consume)
}
