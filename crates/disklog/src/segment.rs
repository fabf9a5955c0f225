//! D-segments: the files of a log, numbered in the order in which they were begun.
//!
//! ```text
//! | header 64 | block | block | …
//! ```

use hammerspace_bytes::Field;
use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::{Dir, File};

use crate::block::{self, Block};

/// Bytes of the header.
pub(crate) const HEADER: usize = 64;
/// A segment that has so many bytes is followed by another.
pub(crate) const SIZE: u64 = 32 << 20;
const MAGIC_WORD: u64 = u64::from_le_bytes(*b"HMRSDLOG");
const FORMAT_WORD: u64 = 1;

const MAGIC: Field = Field::u64("magic", 0);
const FORMAT: Field = Field::u32("format", 8);
const CHECKSUM: Field = Field::u32("checksum", 12);
const FEATURES: Field = Field::u64("features", 16);
const LOG_LOW: Field = Field::u64("log_low", 24);
const LOG_HIGH: Field = Field::u64("log_high", 32);
const NUMBER: Field = Field::u64("number", 40);
#[cfg(test)]
pub(crate) const FIELDS: [Field; 7] = [MAGIC, FORMAT, CHECKSUM, FEATURES, LOG_LOW, LOG_HIGH, NUMBER];

/// The file's name.
pub(crate) fn name(number: u64) -> String {
    format!("{number:08}")
}

/// The number of a file of this name.
pub(crate) fn number(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number| self::name(*number) == name)
}

/// The checksum of a header whose other fields are in place.
pub(crate) fn checksum_of(header: &[u8], field: Field) -> u64 {
    let checksum = crc32c::crc32c(&header[..field.offset]);
    u64::from(crc32c::crc32c_append(checksum, &header[field.offset + field.size..]))
}

/// Makes a segment's file, and its header durable.
pub(crate) fn create(dir: &Dir, log: u128, number: u64, mode: u32) -> Result<File> {
    let mut header = [0; HEADER];
    for (field, value) in [
        (MAGIC, MAGIC_WORD),
        (FORMAT, FORMAT_WORD),
        (LOG_LOW, log as u64),
        (LOG_HIGH, (log >> 64) as u64),
        (NUMBER, number),
    ] {
        field.set(&mut header, value);
    }
    let checksum = checksum_of(&header, CHECKSUM);
    CHECKSUM.set(&mut header, checksum);
    // What a crash left of the same number was never named by the manifest.
    dir.unlink(&name(number))?;
    let file = dir.create_file_with_mode(&name(number), mode)?;
    file.write_at(&header, 0)?;
    file.sync()?;
    dir.sync()?;
    Ok(file)
}

/// Refuses what is not the header of this segment of this log.
fn check(header: &[u8], log: u128, number: u64) -> Result<()> {
    let Some(header) = header.get(..HEADER) else { return Err(corrupt(0, "the segment has lost its header")) };
    if MAGIC.get(header) != MAGIC_WORD || CHECKSUM.get(header) != checksum_of(header, CHECKSUM) {
        return Err(corrupt(0, "the segment's header is damaged"));
    }
    if (FORMAT.get(header), FEATURES.get(header)) != (FORMAT_WORD, 0) {
        let finding = format!(
            "the segment has format {} with features {:#x}, which this build does not know",
            FORMAT.get(header),
            FEATURES.get(header)
        );
        return Err(Error::new(Kind::Unsupported, finding).remedy("use a build that knows it"));
    }
    let is_of = u128::from(LOG_LOW.get(header)) | u128::from(LOG_HIGH.get(header)) << 64;
    if (is_of, NUMBER.get(header)) != (log, number) {
        return Err(corrupt(0, "the segment belongs to another log, or to another place in this one"));
    }
    Ok(())
}

pub(crate) fn corrupt(at: usize, finding: impl Into<String>) -> Error {
    Error::new(Kind::Corrupt, finding)
        .at(at as u64)
        .remedy("`hammerspace store repair` salvages what can be read, and lists what is lost")
}

/// A segment in memory.
pub(crate) struct Segment {
    pub(crate) file: File,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// What lies at some place of a segment.
pub(crate) enum Found<'b> {
    Block(Block<'b>),
    /// The segment ends here.
    End,
    /// Damaged bytes, and where a block follows them, if one does.
    Damage(Option<usize>),
}

impl Segment {
    /// Reads a segment of a log as a whole.
    pub(crate) fn read(dir: &Dir, log: u128, number: u64) -> Result<Self> {
        let segment = Self::read_damaged(dir, number)?;
        check(&segment.bytes, log, number).map_err(|error| error.file(segment.file.path()))?;
        Ok(segment)
    }

    /// The same, whatever its header says.
    pub(crate) fn read_damaged(dir: &Dir, number: u64) -> Result<Self> {
        let Some(file) = dir.open_file_to_write(&name(number))? else {
            let error =
                Error::new(Kind::Corrupt, "a segment of the log is missing").file(dir.path().join(name(number)));
            return Err(error.remedy("restore it, or let `hammerspace store repair` salvage the rest"));
        };
        let mut bytes = vec![0; file.len()? as usize];
        let len = file.read_at(&mut bytes, 0)?;
        bytes.truncate(len);
        Ok(Self { file, number, bytes })
    }

    pub(crate) fn at(&self, offset: usize) -> Found<'_> {
        if offset >= self.bytes.len() {
            return Found::End;
        }
        Block::read(&self.bytes, offset)
            .map_or_else(|| Found::Damage(block::find(&self.bytes, offset + 1)), Found::Block)
    }

    /// Where the blocks end. Behind them there may be a torn block, if this is the last segment.
    pub(crate) fn end(&self, is_last: bool) -> Result<usize> {
        let mut offset = HEADER;
        loop {
            match self.at(offset) {
                Found::Block(block) => offset += block.len(),
                Found::End => return Ok(offset),
                Found::Damage(None) if is_last => return Ok(offset),
                Found::Damage(_) => {
                    let error = corrupt(offset, "a block of the log is damaged");
                    return Err(error.file(self.file.path()));
                }
            }
        }
    }

    /// The blocks up to `end`, which [`end`](Self::end) gave.
    pub(crate) fn blocks(&self, end: usize) -> impl Iterator<Item = (usize, Block<'_>)> {
        let mut offset = HEADER;
        std::iter::from_fn(move || {
            let block = (offset < end).then(|| Block::read(&self.bytes, offset))??;
            let at = offset;
            offset += block.len();
            Some((at, block))
        })
    }

    /// Cuts off a torn tail for good.
    pub(crate) fn cut(&self, end: usize) -> Result<()> {
        if end < self.bytes.len() {
            self.file.truncate(end as u64)?;
            self.file.sync()?;
        }
        Ok(())
    }
}
