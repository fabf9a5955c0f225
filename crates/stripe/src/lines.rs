//! Lines of a stream in blocks: many at a time where they are short, one by one where a line is longer than a block.

use std::fs;
use std::io::{self, BufWriter, Read, Seek, Write};

use hammerspace_error::{Doing, Result};
use memchr::{memchr, memchr_iter, memrchr};

/// A stream, and what of it was read beyond the last block.
pub struct Lines<R> {
    from: R,
    ahead: Vec<u8>,
    block: usize,
    line: u64,
}

/// Some lines.
pub enum Block {
    /// Whole lines, by the number of the first.
    Lines(Vec<u8>, u64),
    /// One line that is longer than a block, in a file without a name, by its number.
    Long(fs::File, u64),
}

const READING: &str = "read the input";

impl<R: Read> Lines<R> {
    /// Lines in blocks of at most so many bytes.
    pub fn new(from: R, block: usize) -> Self {
        Self { from, ahead: Vec::new(), block, line: 1 }
    }

    /// The next lines; `None` at the end.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        let wanted = self.block.saturating_sub(self.ahead.len());
        self.ahead.reserve_exact(wanted);
        let read = self.from.by_ref().take(wanted as u64).read_to_end(&mut self.ahead).doing(READING)?;
        if self.line == 1 && self.ahead.starts_with(b"\xef\xbb\xbf") {
            self.ahead.drain(..3);
        }
        if self.ahead.is_empty() {
            return Ok(None);
        }
        let end = match memrchr(b'\n', &self.ahead) {
            Some(at) if read == wanted => at + 1,
            None if read == wanted => return self.long().map(Some),
            // The stream has ended, with a newline or without.
            _ => self.ahead.len(),
        };
        let rest = self.ahead.split_off(end);
        let block = std::mem::replace(&mut self.ahead, rest);
        let first = self.line;
        self.line += memchr_iter(b'\n', &block).count() as u64;
        Ok(Some(Block::Lines(block, first)))
    }

    /// Brings the line that has begun to a file.
    fn long(&mut self) -> Result<Block> {
        let mut spool = || -> io::Result<fs::File> {
            let mut file = BufWriter::with_capacity(1 << 16, scratch()?);
            loop {
                if let Some(end) = memchr(b'\n', &self.ahead) {
                    file.write_all(&self.ahead[..end])?;
                    self.ahead.drain(..=end);
                    break;
                }
                file.write_all(&self.ahead)?;
                self.ahead.clear();
                if self.from.by_ref().take(1 << 16).read_to_end(&mut self.ahead)? == 0 {
                    break;
                }
            }
            let mut file = file.into_inner()?;
            file.rewind()?;
            Ok(file)
        };
        let file = spool().doing("bring a long line to a scratch file")?;
        self.line += 1;
        Ok(Block::Long(file, self.line - 1))
    }
}

/// A file without a name, for what memory has no room for.
fn scratch() -> io::Result<fs::File> {
    let dir = hammerspace_os::Dir::open(std::env::temp_dir()).map_err(io::Error::other)?;
    dir.scratch().map_err(io::Error::other)
}

/// The lines of a block that hold something, and their numbers.
pub fn lines(block: &[u8], first: u64) -> impl Iterator<Item = (&[u8], u64)> {
    let mut rest = block;
    let line = move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    };
    std::iter::from_fn(line).zip(first..).filter(|(line, _)| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8], block: usize) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        let mut from = Lines::new(input, block);
        while let Some(block) = from.next_block().unwrap() {
            match block {
                Block::Lines(block, first) => {
                    found
                        .extend(lines(&block, first).map(|(line, at)| (String::from_utf8(line.to_vec()).unwrap(), at)));
                }
                Block::Long(mut file, at) => {
                    let mut line = String::new();
                    file.read_to_string(&mut line).unwrap();
                    found.push((line, at));
                }
            }
        }
        found
    }

    #[test]
    fn lines_are_the_same_whatever_the_block() {
        let long = "x".repeat(300_000);
        for last in ["", "\n"] {
            let text = format!("\u{feff}one\ntwo\n\n  \n{long}\nsix\nseven{last}");
            for block in [4, 7, 100, 299_999, 300_020, 1 << 20] {
                let found = read(text.as_bytes(), block);
                let expected = [("one", 1), ("two", 2), (&long, 5), ("six", 6), ("seven", 7)];
                assert!(found.iter().map(|(line, at)| (line.as_str(), *at)).eq(expected), "in blocks of {block}");
            }
        }
        assert!(read(b"", 10).is_empty());
    }
}
