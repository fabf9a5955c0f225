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
//! Where an element ends only its tag says, so one follows the other at the latency of what is done between two tags; the bytes
//! themselves are moved beside that. Loading a tag and then what a table says of it takes twice as long as loading one number. So
//! for a chunk of packed bytes at a time we calculate, 16 at once, how long an element would be if one began there:
//!
//! ```text
//! packed:    | 0c | 'a' | 'b' | 'c' | 'd' | 01 | 04 | …     literal of 4, copy of 4
//! advances:  |  5 |  2  |  3  |  5  | 27  |  2 |  3 | …     of which 5 and 2 are asked for
//! ```
//!
//! 1. Whatever has been decoded is what the whole block would decode to: elements never change what is before them.
//! 2. What is behind the last element decoded has not been looked at, and may be broken. Decoded to the end, everything
//!    has been looked at.

use hammerspace_bytes::field::get_u32;
use hammerspace_bytes::vlq;
use std::hint::select_unpredictable;

/// A copy makes at most 64 bytes out of 3.
const EXPANSION_MAX: u64 = 22;

/// The longest element that is short: a step moves as many bytes. What is behind those of the element is not there yet.
const STEP: usize = hammerspace_bytes::repeat::STEP;

/// What most elements do with.
const HALF_STEP: usize = STEP / 2;

/// What we need behind the bytes of a block: room for moving more than there is.
pub(crate) const SLACK: usize = 64;

/// Packed bytes of which we calculate at a time where elements would end.
const CHUNK: usize = 128;

/// A chunk, and what may be loaded for an element that begins with its last byte.
const WINDOW: usize = CHUNK + STEP;

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

    /// Decodes on until `until` bytes are made, or all there are. `out` has room for `len` bytes and [`SLACK`].
    pub(crate) fn decode(&mut self, packed: &[u8], out: &mut [u8], until: usize) -> Result<(), String> {
        let until = until.min(self.len);
        if self.made >= until {
            return Ok(());
        }
        let mut chunk = None;
        while self.made < until {
            self.short_elements(&mut chunk, packed, out, until);
            if self.made < until {
                self.element(packed, out)?;
            }
        }
        if self.made == self.len && self.read != packed.len() {
            return Err(self.broken("goes on behind its end"));
        }
        Ok(())
    }

    /// Decodes elements as long as they are short and sound, and not among the last. What is longer or stranger is left to
    /// `element`.
    fn short_elements<'a>(&mut self, chunk: &mut Option<Chunk<'a>>, packed: &'a [u8], out: &mut [u8], until: usize) {
        let Some(start_max) = packed.len().checked_sub(WINDOW) else { return };
        let until = until.min(self.len.saturating_sub(STEP));
        while self.made < until && self.read < start_max + CHUNK {
            let chunk = match chunk {
                Some(chunk) if chunk.has(self.read) => chunk,
                _ => chunk.insert(Chunk::new(packed, self.read.min(start_max))),
            };
            let (at, made) = chunk.decode(self.read - chunk.start, out, self.made, until);
            (self.read, self.made) = (chunk.start + at, made);
            if at < CHUNK {
                break;
            }
        }
    }

    #[inline]
    fn element(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), String> {
        let Some(tag) = packed.get(self.read) else { return Err(self.broken("ends early")) };
        let (at, high) = (self.read + 1, usize::from(tag >> 2));
        match tag & 3 {
            0 if high < 60 => self.literal(packed, out, at, high + 1),
            0 => {
                let size = high - 59;
                self.literal(packed, out, at + size, 1 + self.number(packed, at, size)?)
            }
            1 => self.copy(out, at + 1, (high & 7) + 4, (high >> 3) << 8 | self.number(packed, at, 1)?),
            2 => self.copy(out, at + 2, high + 1, self.number(packed, at, 2)?),
            _ => self.copy(out, at + 4, high + 1, self.number(packed, at, 4)?),
        }
    }

    #[inline]
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

    #[inline]
    fn copy(&mut self, out: &mut [u8], at: usize, len: usize, offset: usize) -> Result<(), String> {
        if len > self.len - self.made {
            return Err(self.broken("makes more bytes than it says"));
        }
        if offset == 0 || offset > self.made {
            return Err(self.broken("copies from before its start"));
        }
        let end = self.made + len;
        hammerspace_bytes::repeat::repeat(out, self.made - offset, self.made, end);
        self.read = at;
        self.made = end;
        Ok(())
    }

    /// The number of 1 to 4 bytes behind a tag.
    #[inline]
    fn number(&self, packed: &[u8], at: usize, size: usize) -> Result<usize, String> {
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

/// A part of a block that has been looked at ahead of its elements.
struct Chunk<'a> {
    /// Offset in the packed block.
    start: usize,
    window: &'a [u8; WINDOW],
    /// What an element takes that begins at this byte of the chunk.
    advances: [u8; CHUNK],
}

impl<'a> Chunk<'a> {
    fn new(packed: &'a [u8], start: usize) -> Self {
        let window: &[u8; WINDOW] = packed[start..].first_chunk().expect("a window before the end");
        let mut advances = [0; CHUNK];
        for (advance, tag) in advances.iter_mut().zip(window) {
            *advance = advance_of(*tag);
        }
        Self { start, window, advances }
    }

    fn has(&self, read: usize) -> bool {
        (self.start..self.start + CHUNK).contains(&read)
    }

    /// Decodes short elements from byte `at` of the chunk on, until `until` bytes are made. Gives how far it came in both.
    ///
    /// Whether the next element is a literal or a copy, no processor foresees: so there is no branch on it.
    #[inline(never)] // so that it has all registers for itself
    fn decode(&self, mut at: usize, out: &mut [u8], mut made: usize, until: usize) -> (usize, usize) {
        // Said once, and then not checked for each element.
        assert!(out.len() >= STEP && until <= out.len() - STEP, "room for a step from wherever an element begins");
        while at < CHUNK && made < until {
            let tag = &TAGS[usize::from(self.window[at])];
            let number = get_u32(self.window, at + 1) & tag.mask;
            let (len, offset) = (usize::from(tag.len), usize::from(tag.offset) + number as usize);
            let from = made.wrapping_sub(offset);
            // It would overlap itself, or begin before the block, as do the first literals of one.
            if offset < len || from > made {
                break;
            }
            let literal = self.window[at + 1..].first_chunk().expect("a step within the window");
            let copied = out[from..].first_chunk().expect("a step within the room");
            let source: &[u8; STEP] = select_unpredictable(tag.mask == 0, literal, copied);
            if len <= HALF_STEP {
                put::<HALF_STEP>(*source.first_chunk().expect("half of it"), out, made);
            } else {
                put(*source, out, made);
            }
            at += usize::from(self.advances[at]);
            made += len;
        }
        (at, made)
    }
}

#[inline]
fn put<const N: usize>(bytes: [u8; N], out: &mut [u8], at: usize) {
    *out[at..].first_chunk_mut().expect("a step within the room") = bytes;
}

/// Bytes of an element with this tag, if it is no literal whose length follows. Calculated rather than looked up, which can be
/// done for many tags at once.
#[inline]
fn advance_of(tag: u8) -> u8 {
    match tag & 3 {
        0 => (tag >> 2) + 2,
        3 => 5,
        low => low + 1,
    }
}

/// What the tag of a short element says.
#[derive(Clone, Copy)]
struct Tag {
    /// The bits of the number that follows a copy's tag, 1 to 4 bytes of it; 0 for a literal.
    mask: u32,
    /// The high part of a copy's offset; the number adds the rest. A literal's is its length, which is no overlap.
    offset: u16,
    len: u16,
}

impl Tag {
    /// Overlaps itself whatever follows, and so is left to `element`.
    const LONG: Self = Self { mask: 0, offset: 0, len: 1 };
}

static TAGS: [Tag; 256] = {
    let mut tags = [Tag::LONG; 256];
    let mut tag = 0;
    while tag < 256 {
        let high = tag as u16 >> 2;
        let (mask, offset, len) = match tag & 3 {
            0 => (0, high + 1, high + 1),
            1 => (0xff, (high >> 3) << 8, (high & 7) + 4),
            2 => (0xffff, 0, high + 1),
            _ => (u32::MAX, 0, high + 1),
        };
        // Of a literal whose length follows, `len` is above 60 here.
        if len as usize <= STEP {
            tags[tag] = Tag { mask, offset, len };
        }
        tag += 1;
    }
    tags
};

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use hammerspace_testkit::agreement::Library;

    const SNAP: Library = Library {
        pack: |block, _| snap::raw::Encoder::new().compress_vec(block).unwrap(),
        unpack: |packed| snap::raw::Decoder::new().decompress_vec(packed).map_err(|error| error.to_string()),
    };

    fn ours(packed: &[u8], until: usize) -> Result<Vec<u8>, String> {
        let mut progress = Progress::start(packed)?;
        // What is in the room for more must not matter.
        let mut out = vec![0xa5; progress.len + SLACK];
        progress.decode(packed, &mut out, until)?;
        out.truncate(progress.made);
        Ok(out)
    }

    #[test]
    fn it_agrees_with_snap_on_sound_and_broken_blocks() {
        SNAP.check_many(&ours, 1, 60);
    }

    /// Every element of two bytes, behind a literal and before one, and every copy from near and from far beyond the start.
    #[test]
    fn it_agrees_with_snap_on_every_tag() {
        let mut rng = Rng::with_seed(2);
        let long = [&[60 << 2, 39][..], &(b'A'..b'A' + 40).collect::<Vec<u8>>()].concat();
        let nexts = [[0; 3], [1, 0, 0], [2, 0, 0], [4, 0, 0], [255, 0, 0], [4, 0, 1]];
        for (tag, next) in (0..=255_u8).flat_map(|tag| nexts.map(|next| (tag, next))) {
            for (len, literal) in (1..=127).flat_map(|len| [(len, &[3 << 2, b'a', b'b', b'c', b'd'][..]), (len, &long)])
            {
                // The last is longer than a window: behind the long literal the tag is that of a short element, if it can be.
                let elements = [&[len][..], literal, &[tag], &next, &[0; 200]].concat();
                for end in [literal.len() + 3, literal.len() + 73, elements.len() - 1, elements.len()] {
                    SNAP.check(&ours, &elements[..end], usize::from(len), &mut rng);
                }
            }
        }
    }

    #[test]
    fn all_kinds_of_elements() {
        for (packed, expected) in [
            (&b"\x0b\x10Wikip\x00e\x01\x04"[..], None),
            (b"\x06\x04ab\x01\x02", Some(&b"ababab"[..])),
            (b"\x05\x04ab\x0a\x02\x00", Some(b"ababa")),
            (b"\x05\x04ab\x0b\x02\x00\x00\x00", Some(b"ababa")),
            (b"\x04\xf0\x03abcd", Some(b"abcd")),
            (b"\x04\xf4\x03\x00abcd", Some(b"abcd")),
            (b"\x04\xf8\x03\x00\x00abcd", Some(b"abcd")),
            (b"\x04\xfc\x03\x00\x00\x00abcd", Some(b"abcd")),
            (b"\x02\xf0\x01ab", Some(b"ab")),
        ] {
            assert_eq!(ours(packed, usize::MAX).ok().as_deref(), expected, "{}", packed.escape_ascii());
        }
    }

    #[test]
    fn what_is_behind_is_not_looked_at() {
        let mut rng = Rng::with_seed(3);
        let letters: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(10_000).collect();
        let mut packed = vec![0xd8, 0xb6, 0x01]; // 23,384
        packed.extend([&[61 << 2, 0x0f, 0x27][..], &letters].concat());
        packed.extend([0xff; 2000]);
        assert_eq!(ours(&packed, 10_000).as_deref(), Ok(&letters[..]));
        assert!(ours(&packed, 10_001).is_err());
    }

    #[test]
    fn canary_faults_are_noticed() {
        SNAP.check_canaries(&ours);
    }
}
