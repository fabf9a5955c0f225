//! Raw snappy, decoded no further than asked.
//!
//! ```text
//! | VLQ len | element | element | … |            the elements make exactly len bytes
//!
//! literal:  | n << 2 | 00 | n + 1 bytes |        n < 60; for 60..=63 the next 1..=4 bytes hold n
//! copy:     | offset >> 8 | len - 4 | 01 | offset |     len 4..=11, offset of 11 bits
//!           | len - 1         | 10 | offset 2 B |       len 1..=64
//!           | len - 1         | 11 | offset 4 B |
//! ```
//! A copy repeats `len` bytes that lie `offset` back in what was made so far; the two may overlap.
//! Source: the format description in snappy's repository, `format_description.txt`.
//!
//! 1. Whatever has been decoded is what the whole block would decode to: elements never change what is before them.
//! 2. What is behind the last element decoded has not been looked at, and may be broken. Decoded to the end, everything
//!    has been looked at.

use hammerspace_bytes::field::get_u32;
use hammerspace_bytes::vlq;

/// A copy makes at most 64 bytes out of 3.
const EXPANSION_MAX: u64 = 22;

/// Bytes that are moved at once. More than an element has may be: what follows it is not there yet.
const STEP: usize = 16;

/// What we need behind the bytes of a block: room for moving more than there is.
pub(crate) const SLACK: usize = 64;

/// How far a block has been decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Bytes of the packed block that are behind us.
    read: usize,
    /// Bytes made of them.
    pub(crate) made: usize,
    /// Bytes that the whole block makes.
    pub(crate) len: usize,
}

impl Progress {
    /// At the start of `packed`. `Err` says what is wrong with it.
    pub(crate) fn start(packed: &[u8]) -> Result<Self, String> {
        let (len, read) = vlq::read(packed).ok().filter(|(len, _)| *len <= u32::MAX.into()).ok_or_else(no_length)?;
        if len > packed.len() as u64 * EXPANSION_MAX {
            return Err(format!("claims {len} bytes, more than {} bytes of snappy can hold", packed.len()));
        }
        Ok(Self { read, made: 0, len: len as usize })
    }

    /// At the end of a block of `len` bytes.
    pub(crate) fn complete(len: usize) -> Self {
        Self { read: 0, made: len, len }
    }

    /// Decodes on until `until` bytes are made, or all there are. `out` has room for `len` bytes and [`SLACK`].
    pub(crate) fn decode(&mut self, packed: &[u8], out: &mut [u8], until: usize) -> Result<(), String> {
        let until = until.min(self.len);
        if self.made >= until {
            return Ok(());
        }
        while self.made < until {
            self.element(packed, out)?;
        }
        if self.made == self.len && self.read != packed.len() {
            return Err(self.broken("goes on behind its end"));
        }
        Ok(())
    }

    #[inline(always)]
    fn element(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), String> {
        let Some(tag) = packed.get(self.read) else { return Err(self.broken("ends early")) };
        let Tag { len, offset, trailer } = TAGS[usize::from(*tag)];
        let at = self.read + 1;
        // The trailing number, 0 to 4 bytes.
        let number = match packed.get(at..at + 4) {
            Some(_) => get_u32(packed, at) as usize & ((1 << (8 * trailer)) - 1),
            None => self.last_number(packed, at, trailer.into())?,
        };
        let at = at + usize::from(trailer);
        if tag & 3 == 0 { self.literal(packed, out, at, usize::from(len) + number) } else { self.copy(out, at, len.into(), usize::from(offset) + number) }
    }

    #[inline(always)]
    fn literal(&mut self, packed: &[u8], out: &mut [u8], at: usize, len: usize) -> Result<(), String> {
        if len > self.len - self.made {
            return Err(self.broken("makes more bytes than it says"));
        }
        if at + len + SLACK <= packed.len() {
            // Steps of a fixed size are moves, not calls.
            for done in (0..len).step_by(SLACK) {
                let (from, to) = (at + done, self.made + done);
                out[to..to + SLACK].copy_from_slice(&packed[from..from + SLACK]);
            }
        } else {
            let Some(bytes) = packed.get(at..at + len) else { return Err(self.broken("ends within a literal")) };
            out[self.made..self.made + len].copy_from_slice(bytes);
        }
        self.read = at + len;
        self.made += len;
        Ok(())
    }

    #[inline(always)]
    fn copy(&mut self, out: &mut [u8], at: usize, len: usize, offset: usize) -> Result<(), String> {
        if len > self.len - self.made {
            return Err(self.broken("makes more bytes than it says"));
        }
        if offset == 0 || offset > self.made {
            return Err(self.broken("copies from before its start"));
        }
        let (mut from, mut to) = (self.made - offset, self.made);
        let end = to + len;
        if offset >= STEP {
            while to < end {
                let step: [u8; STEP] = out[from..from + STEP].try_into().expect("a slice of as many");
                out[to..to + STEP].copy_from_slice(&step);
                (from, to) = (from + STEP, to + STEP);
            }
        } else {
            while to < end {
                out[to] = out[from];
                (from, to) = (from + 1, to + 1);
            }
        }
        self.read = at;
        self.made = end;
        Ok(())
    }

    /// The number behind a tag so near the end that it may not be there.
    #[cold]
    fn last_number(&self, packed: &[u8], at: usize, size: usize) -> Result<usize, String> {
        let bytes = packed.get(at..at + size).ok_or_else(|| self.broken("ends within an element"))?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    #[cold]
    fn broken(&self, how: &str) -> String {
        format!("is not valid snappy (at byte {} it {how})", self.read)
    }
}

#[cold]
fn no_length() -> String {
    "is not valid snappy (it does not begin with its length)".into()
}

/// What a tag says.
#[derive(Clone, Copy)]
struct Tag {
    /// The element's length, or 1 where the trailing number adds the rest.
    len: u8,
    /// The high part of a copy's offset; the trailing number adds the rest.
    offset: u16,
    /// Bytes of the number that follows.
    trailer: u8,
}

static TAGS: [Tag; 256] = {
    let mut tags = [Tag { len: 0, offset: 0, trailer: 0 }; 256];
    let mut tag = 0;
    while tag < 256 {
        let high = tag as u8 >> 2;
        tags[tag] = match tag & 3 {
            0 if high >= 60 => Tag { len: 1, offset: 0, trailer: high - 59 },
            0 => Tag { len: high + 1, offset: 0, trailer: 0 },
            1 => Tag { len: (high & 7) + 4, offset: (high as u16 >> 3) << 8, trailer: 1 },
            2 => Tag { len: high + 1, offset: 0, trailer: 2 },
            _ => Tag { len: high + 1, offset: 0, trailer: 4 },
        };
        tag += 1;
    }
    tags
};
