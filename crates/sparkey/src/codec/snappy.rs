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
use std::hint::select_unpredictable;

/// A copy makes at most 64 bytes out of 3.
const EXPANSION_MAX: u64 = 22;

/// Bytes that are moved at once. More than an element has may be: what follows it is not there yet.
const STEP: usize = 32;

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
            self.short_elements(packed, out, until);
            if self.made < until {
                self.element(packed, out)?;
            }
        }
        if self.made == self.len && self.read != packed.len() {
            return Err(self.broken("goes on behind its end"));
        }
        Ok(())
    }

    /// Decodes elements as long as they are short and sound, and not the last. Whether the next one is a literal or a copy, no processor
    /// foresees: so there is no branch on it. What is longer or stranger is left to `element`.
    fn short_elements(&mut self, packed: &[u8], out: &mut [u8], until: usize) {
        let Self { mut read, mut made, len: len_max } = *self;
        while made < until {
            let Some(next) = packed[read..].first_chunk::<{ 1 + STEP + 4 }>() else { break };
            let tag = &TAGS[usize::from(next[0])];
            let (len, offset) =
                (usize::from(tag.len), usize::from(tag.offset) + (get_u32(next, 1) & tag.mask) as usize);
            if len > STEP || len > len_max - made || offset < usize::from(tag.least) || offset > made {
                break;
            }
            let literal: &[u8; STEP] = next[1..].first_chunk().expect("a step and more");
            let copied: &[u8; STEP] = out[made - offset..].first_chunk().expect("slack behind the block");
            let step = *select_unpredictable(tag.least == 0, literal, copied);
            *out[made..].first_chunk_mut().expect("slack behind the block") = step;
            read += usize::from(tag.advance);
            made += len;
        }
        (self.read, self.made) = (read, made);
    }

    #[inline]
    fn element(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), String> {
        let Some(tag) = packed.get(self.read) else { return Err(self.broken("ends early")) };
        let Tag { len, offset, mask, least, .. } = TAGS[usize::from(*tag)];
        let (at, trailer) = (self.read + 1, 4 - mask.leading_zeros() as usize / 8);
        // The trailing number, 0 to 4 bytes.
        let number = match packed.get(at..at + 4) {
            Some(_) => (get_u32(packed, at) & mask) as usize,
            None => self.last_number(packed, at, trailer)?,
        };
        let at = at + trailer;
        match least {
            0 if mask == 0 => self.literal(packed, out, at, len.into()),
            0 => self.literal(packed, out, at, 1 + number),
            _ => self.copy(out, at, len.into(), usize::from(offset) + number),
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
    /// The bits of the number that follows, 0 to 4 bytes of it.
    mask: u32,
    /// The high part of a copy's offset; the number adds the rest.
    offset: u16,
    /// The element's length; of a literal whose length is that number and one, more than a step.
    len: u8,
    /// Bytes of the whole element, if it is no such literal.
    advance: u8,
    /// The least offset of a copy that does not overlap itself; 0 for a literal, which has none.
    least: u8,
}

static TAGS: [Tag; 256] = {
    let mut tags = [Tag { mask: 0, offset: 0, len: 0, advance: 0, least: 0 }; 256];
    let mut tag = 0;
    while tag < 256 {
        let high = tag as u8 >> 2;
        let (len, offset, trailer) = match tag & 3 {
            0 if high >= 60 => (u8::MAX, 0, high - 59),
            0 => (high + 1, 0, 0),
            1 => ((high & 7) + 4, (high as u16 >> 3) << 8, 1),
            2 => (high + 1, 0, 2),
            _ => (high + 1, 0, 4),
        };
        let mask = ((1_u64 << (8 * trailer)) - 1) as u32;
        tags[tag] = match tag & 3 {
            0 => Tag { mask, offset, len, advance: len.saturating_add(1), least: 0 },
            _ => Tag { mask, offset, len, advance: 1 + trailer, least: len },
        };
        tag += 1;
    }
    tags
};

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// What our decoder, or a faulty one, makes of a block: at least `until` bytes, or all.
    type Decode = dyn Fn(&[u8], usize) -> Result<Vec<u8>, String>;

    fn ours(packed: &[u8], until: usize) -> Result<Vec<u8>, String> {
        let mut progress = Progress::start(packed)?;
        // What is in the room for more must not matter.
        let mut out = vec![0xa5; progress.len + SLACK];
        progress.decode(packed, &mut out, until)?;
        out.truncate(progress.made);
        Ok(out)
    }

    /// Holds a decoder against `snap`, to the end and to places before it.
    fn check(decode: &Decode, packed: &[u8], rng: &mut Rng) {
        let whole = decode(packed, usize::MAX);
        match snap::raw::Decoder::new().decompress_vec(packed) {
            Ok(expected) => assert_eq!(whole.as_ref(), Ok(&expected)),
            Err(error) => assert!(whole.is_err(), "{error} is overlooked"),
        }
        let len = Progress::start(packed).map_or(0, |progress| progress.len);
        let mut untils: Vec<usize> = (0..4).map(|_| rng.usize(..=len)).collect();
        untils.sort_unstable();
        let mut before = Ok(Vec::new());
        for until in untils {
            let part = decode(packed, until);
            match (&before, &part) {
                (Ok(before), Ok(part)) => assert!(part.len() >= until && part.starts_with(before), "another beginning"),
                (Err(_), Ok(_)) => panic!("a fault is forgotten"),
                (_, Err(_)) => assert!(whole.is_err(), "a part is refused, the whole is not"),
            }
            if let (Ok(part), Ok(whole)) = (&part, &whole) {
                assert!(whole.starts_with(part), "another beginning");
            }
            before = part;
        }
    }

    /// A block with something to copy, near and far.
    fn block(rng: &mut Rng) -> Vec<u8> {
        let len_max = if rng.bool() { 300 } else { 70_000 };
        let (letters, len) = (rng.u8(1..=64), rng.usize(1..len_max));
        let mut block: Vec<u8> = Vec::new();
        while block.len() < len {
            if rng.bool() && !block.is_empty() {
                let (back, count) = (rng.usize(1..=block.len()), rng.usize(1..100));
                (0..count).for_each(|_| block.push(block[block.len() - back]));
            } else {
                (0..rng.usize(1..300)).for_each(|_| block.push(rng.u8(..letters)));
            }
        }
        block
    }

    fn packed(rng: &mut Rng) -> Vec<u8> {
        snap::raw::Encoder::new().compress_vec(&block(rng)).unwrap()
    }

    fn check_many(decode: &Decode, seed: u64, rounds: usize) {
        println!("seed {seed}"); // shown if it fails
        let mut rng = Rng::with_seed(seed);
        for _ in 0..rounds {
            let sound = packed(&mut rng);
            check(decode, &sound, &mut rng);
            for _ in 0..20 {
                let mut broken = sound.clone();
                for _ in 0..rng.usize(1..3) {
                    let near = 1 << rng.u32(3..18);
                    let at = rng.usize(..broken.len().min(near));
                    broken[at] ^= 1 << rng.u32(..8);
                }
                broken.truncate(if rng.bool() { broken.len() } else { rng.usize(..=broken.len()) });
                check(decode, &broken, &mut rng);
            }
        }
    }

    #[test]
    fn it_agrees_with_snap_on_sound_and_broken_blocks() {
        check_many(&ours, 1, 60);
    }

    /// Every element of two bytes, behind a literal and before one.
    #[test]
    fn it_agrees_with_snap_on_every_tag() {
        let mut rng = Rng::with_seed(2);
        for (tag, next) in (0..=255_u8).flat_map(|tag| [0, 1, 2, 4, 255].map(|next| (tag, next))) {
            for len in 1..100 {
                let elements = [&[len, 3 << 2, b'a', b'b', b'c', b'd', tag, next][..], &[0; 70]].concat();
                check(&ours, &elements, &mut rng);
                check(&ours, &elements[..8], &mut rng);
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
    #[should_panic(expected = "left == right")]
    fn canary_a_lost_byte_is_noticed() {
        let faulty = |packed: &[u8], until: usize| {
            ours(packed, until).map(|mut out| {
                out.iter_mut().skip(1000).take(1).for_each(|byte| *byte ^= 1);
                out
            })
        };
        check_many(&faulty, 4, 10);
    }

    #[test]
    #[should_panic(expected = "is overlooked")]
    fn canary_an_overlooked_fault_is_noticed() {
        check_many(&|packed, until| Ok(ours(packed, until).unwrap_or_default()), 5, 10);
    }

    #[test]
    #[should_panic(expected = "another beginning")]
    fn canary_a_part_that_is_no_beginning_is_noticed() {
        let faulty = |packed: &[u8], until: usize| {
            let mut out = ours(packed, until)?;
            if until < 100 {
                out = out.iter().map(|byte| byte ^ 1).collect();
            }
            Ok(out)
        };
        check_many(&faulty, 6, 10);
    }
}
