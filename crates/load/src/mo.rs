//! GNU gettext's compiled catalogue, `.mo`.
//!
//! ```text
//!  0 magic 0x950412de, in the file's own byte order      28 (minor revision 1 only)
//!  4 revision: major << 16 | minor                       28 count of segment names
//!  8 count of strings                                    32 offset of their table: (length, offset)
//! 12 offset of the table of keys:   (length, offset)     36 count of composed strings
//! 16 offset of the table of values: (length, offset)     40 offset of their keys:   (offset)
//! 20 size and offset of a hash table                     44 offset of their values: (offset)
//!
//! key:   context \x04 msgid \0 plural msgid \0           value: form 0 \0 form 1 \0 … \0
//! composed string: offset of its text, then (length of text, segment name), …, (length of text, 0xffff_ffff)
//! ```
//! All fields have 4 bytes. A length does not count the NUL at the end. We do without the hash table, and without the
//! order of the keys; the plural msgid is no part of our key, as in [`po`](crate::po).
//!
//! Composed strings are what C's `PRId64` and the like lead to: their value differs from machine to machine, so the
//! file holds the text around and the name. We give what the `.po` had: `%<PRId64>`.
//!
//! Source: the GNU gettext manual, "The Format of GNU MO Files", and its `gmo.h` for what the manual leaves out.
//!
//! Own code, because the crate that reads `.mo` (`gettext`) overflows on hostile offsets and cannot list what it read.

use crate::budget::Budget;
use crate::charset::Charset;
use crate::{Options, Sink};
use hammerspace_error::{Error, Kind, Result};

const MAGIC: u32 = 0x9504_12de;

/// Bytes out for each byte in. Strings may share their bytes, which honest tools use for equal translations at most.
const UNFOLDING: usize = 8;

/// The segment "name" that ends a composed string.
const LAST_SEGMENT: u32 = u32::MAX;

/// Reads a catalogue and hands every entry to `sink`.
pub fn read(bytes: &[u8], options: &Options, sink: &mut Sink) -> Result<()> {
    let file = File::open(bytes)?;
    let charset = file.charset()?;
    let mut budget = Budget::new(bytes.len(), UNFOLDING);
    let mut pass_on = |key: &[u8], value: &[u8], at: u64| {
        // A NUL ends the msgid where a plural follows.
        let key = key.split(|byte| *byte == 0).next().unwrap_or_default();
        if key.is_empty() && !options.catalogue_header {
            return Ok(());
        }
        let decode = |text| charset.decode(text).map_err(|error| error.at(at));
        sink(&decode(key)?, &decode(value)?)
    };
    for index in 0..file.plain.count {
        let (key, value) = (file.plain_string(file.plain.keys, index)?, file.plain_string(file.plain.values, index)?);
        budget.spend(key.len() + value.len())?;
        pass_on(key, value, entry(file.plain.keys, index, 8))?;
    }
    for index in 0..file.composed.count {
        let key = file.composed_string(file.composed.keys, index, &mut budget)?;
        let value = file.composed_string(file.composed.values, index, &mut budget)?;
        pass_on(&key, &value, entry(file.composed.keys, index, 4))?;
    }
    Ok(())
}

/// The bytes, and what their header says. Nothing of that is believed before it is looked up.
struct File<'a> {
    bytes: &'a [u8],
    big_endian: bool,
    plain: Tables,
    composed: Tables,
    /// Offset of the table of segment names, and their count.
    names: u32,
    names_count: u32,
}

/// How many strings of one sort there are, and the offsets of the tables that lead to them.
#[derive(Default)]
struct Tables {
    count: u32,
    keys: u32,
    values: u32,
}

impl<'a> File<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        let big_endian = match bytes.first_chunk().copied().map(u32::from_le_bytes) {
            Some(MAGIC) => false,
            Some(magic) if magic.swap_bytes() == MAGIC => true,
            _ => return Err(corrupt("it does not begin with the magic of a .mo", 0)),
        };
        let (plain, composed) = (Tables::default(), Tables::default());
        let mut file = Self { bytes, big_endian, plain, composed, names: 0, names_count: 0 };
        let revision = file.number(4)?;
        file.plain = Tables { count: file.number(8)?, keys: file.number(12)?, values: file.number(16)? };
        match (revision >> 16, revision & 0xffff) {
            (0 | 1, 0) => {}
            (0 | 1, 1) => {
                (file.names_count, file.names) = (file.number(28)?, file.number(32)?);
                file.composed = Tables { count: file.number(36)?, keys: file.number(40)?, values: file.number(44)? };
            }
            (major, minor) => {
                let finding = format!("revision {major}.{minor} of .mo is not known");
                return Err(Error::new(Kind::Unsupported, finding).at(4).remedy("use a newer build, or load the .po"));
            }
        }
        Ok(file)
    }

    /// The charset that the header names: the value of the empty key.
    fn charset(&self) -> Result<Charset> {
        for index in 0..self.plain.count {
            if self.plain_string(self.plain.keys, index)?.is_empty() {
                return Charset::named_in(self.plain_string(self.plain.values, index)?);
            }
        }
        Ok(Charset::UTF_8)
    }

    fn plain_string(&self, table: u32, index: u32) -> Result<&'a [u8]> {
        let entry = entry(table, index, 8);
        let (len, offset) = (self.number(entry)?, self.number(entry + 4)?);
        let text = self.slice(offset.into(), u64::from(len) + 1)?;
        text.strip_suffix(b"\0").ok_or_else(|| corrupt("a string without a NUL at its end", offset.into()))
    }

    fn composed_string(&self, table: u32, index: u32, budget: &mut Budget) -> Result<Vec<u8>> {
        let descriptor = u64::from(self.number(entry(table, index, 4))?);
        let mut text_at = u64::from(self.number(descriptor)?);
        let mut composed = Vec::new();
        for segment in (descriptor + 4..).step_by(8) {
            let (len, name) = (self.number(segment)?, self.number(segment + 4)?);
            budget.spend(len as usize)?;
            composed.extend_from_slice(self.slice(text_at, len.into())?);
            text_at += u64::from(len);
            if name == LAST_SEGMENT {
                break;
            }
            let name = self.segment_name(name)?;
            budget.spend(name.len() + 2)?;
            composed.push(b'<');
            composed.extend_from_slice(name);
            composed.push(b'>');
        }
        match composed.pop() {
            Some(0) => Ok(composed),
            _ => Err(corrupt("a composed string without a NUL at its end", descriptor)),
        }
    }

    fn segment_name(&self, index: u32) -> Result<&'a [u8]> {
        let entry = entry(self.names, index, 8);
        if index >= self.names_count {
            return Err(corrupt(format!("segment name {index} of {}", self.names_count), entry));
        }
        let name = self.slice(self.number(entry + 4)?.into(), self.number(entry)?.into())?;
        // Here, and only here, the length counts the NUL.
        name.strip_suffix(b"\0").ok_or_else(|| corrupt("a segment name without a NUL at its end", entry))
    }

    fn number(&self, offset: u64) -> Result<u32> {
        let bytes = self.slice(offset, 4)?.try_into().expect("a slice of 4 bytes is an array of 4");
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The one place that looks into the file.
    fn slice(&self, offset: u64, len: u64) -> Result<&'a [u8]> {
        let range = usize::try_from(offset).ok().zip(usize::try_from(offset.saturating_add(len)).ok());
        range
            .and_then(|(start, end)| self.bytes.get(start..end))
            .ok_or_else(|| corrupt(format!("{len} bytes wanted, past the end at {}", self.bytes.len()), offset))
    }
}

/// The offset of a table's entry; in 64 bits, where no count of 32 can overflow.
fn entry(table: u32, index: u32, width: u64) -> u64 {
    u64::from(table) + width * u64::from(index)
}

#[cold]
fn corrupt(finding: impl Into<String>, offset: u64) -> Error {
    Error::new(Kind::Corrupt, finding).at(offset).remedy("compile the catalogue again with `msgfmt`")
}

#[cfg(test)]
mod tests;
