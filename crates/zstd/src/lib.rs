//! Decodes the beginning of a zstd frame, no further than asked.
//!
//! ```text
//! frame:  | magic | descriptor | content size | block: | head | literals | sequences |        and nothing more
//! block:  literals a b c d e f g …      sequences (2 literals, 4 bytes from 9 back), (0, 7 from 30 back), …
//! ```
//! The library decodes a block as a whole or not at all. This decoder decodes the literals, which are few, and then executes
//! sequences until the bytes asked for are there. It takes frames of one segment with one compressed block, without checksum
//! and dictionary, as Sparkey's logs have them. It leaves every other frame, and every fault, to the library. See "Reading
//! one entry of a compressed block" in the design notes.
//!
//! 1. Whatever has been decoded is what the whole frame would decode to, if the library takes it.
//! 2. What is behind the last sequence decoded has not been looked at, and may be broken. Decoded to the end, everything has
//!    been looked at, and the library takes it too.
//! 3. Memory does not follow claims: what a block may make at most, 128 KiB, bounds all of it.
//!
//! Source: RFC 8878, 3.1.1.

#![forbid(unsafe_code)]

mod bits;
mod counts;
mod fse;
mod huffman;
mod literals;
mod sequences;

use fse::Scratch;
use hammerspace_bytes::repeat::{STEP, repeat};
use literals::Literals;
use sequences::{BATCH, Sequence, Sequences};

/// What we need behind the bytes of a block: room for moving more than there is.
pub const SLACK: usize = STEP;

/// The most that a block makes.
const LEN_MAX: usize = 128 << 10;

/// A frame that is decoded step by step, and the memory for that.
pub struct Decoder {
    literals: Literals,
    sequences: Sequences,
    scratch: Scratch,
    /// Sequences that have been read, and which of them have not been executed.
    batch: [Sequence; BATCH],
    waiting: std::ops::Range<usize>,
    /// The last three offsets.
    recent: [u32; 3],
    /// Literals that have been used.
    used: usize,
    /// Bytes made, if the frame is ours.
    pub made: usize,
    /// Bytes that the whole frame makes, if it is ours.
    pub len: usize,
}

impl Decoder {
    /// A decoder without a frame. It keeps its memory from frame to frame.
    pub fn new() -> Box<Self> {
        Box::new(Self {
            literals: Literals::EMPTY,
            sequences: Sequences::EMPTY,
            scratch: Scratch::EMPTY,
            batch: [Sequence::default(); BATCH],
            waiting: 0..0,
            recent: [0; 3],
            used: 0,
            made: 0,
            len: 0,
        })
    }

    /// Turns to the frame `packed`, which makes `len_max` bytes at most. `None` leaves it to the library.
    pub fn open(&mut self, packed: &[u8], len_max: usize) -> Option<()> {
        let (len, at) = frame_head(packed)?;
        if len > len_max.min(LEN_MAX) {
            return None;
        }
        let (size, at) = block_head(packed, at)?;
        // The library refuses a block that is larger than what it makes.
        if size > len || at + size != packed.len() {
            return None;
        }
        let at = self.literals.read(packed, at, len, &mut self.scratch)?;
        self.sequences.open(packed, at, &mut self.scratch)?;
        (self.len, self.made, self.used) = (len, 0, 0);
        (self.waiting, self.recent) = (0..0, [1, 4, 8]);
        Some(())
    }

    /// Decodes on until `until` bytes are made, or all there are. `out` has room for `len` bytes and [`SLACK`]. `None` leaves the
    /// frame to the library.
    pub fn decode(&mut self, packed: &[u8], out: &mut [u8], until: usize) -> Option<()> {
        let until = until.min(self.len);
        while self.made < until {
            if self.waiting.is_empty() {
                self.waiting = 0..self.sequences.read(packed, &mut self.batch)?;
                if self.waiting.is_empty() {
                    self.copy_rest(out)?;
                }
            }
            self.execute(out, until)?;
        }
        let is_whole = self.waiting.is_empty() && self.sequences.is_done() && self.used == self.literals.len();
        (self.made < self.len || is_whole).then_some(())
    }

    /// Executes sequences that have been read, until `until` bytes are made.
    #[inline(never)] // so that it has all registers for itself
    fn execute(&mut self, out: &mut [u8], until: usize) -> Option<()> {
        let (len, literals_len) = (self.len as u32, self.literals.len() as u32);
        let (out, literals) = (&mut out[..self.len + SLACK], self.literals.memory());
        let (mut made, mut used, mut recent) = (self.made as u32, self.used as u32, self.recent);
        let mut waiting = self.batch[self.waiting.clone()].iter();
        while (made as usize) < until {
            let Some(sequence) = waiting.next() else { break };
            let (from, to, end) = (made, made + sequence.literals, made + sequence.literals + sequence.len);
            let offset = sequence.resolve(&mut recent);
            if end > len || used + sequence.literals > literals_len || offset.wrapping_sub(1) >= to {
                return None;
            }
            move_literals(literals, used, out, from, sequence.literals);
            append(out, offset, to, sequence.len);
            (made, used) = (end, used + sequence.literals);
        }
        self.waiting.start = self.waiting.end - waiting.len();
        (self.made, self.used, self.recent) = (made as usize, used as usize, recent);
        Some(())
    }

    /// The literals behind the last sequence, which make the rest.
    fn copy_rest(&mut self, out: &mut [u8]) -> Option<()> {
        let rest = &self.literals.memory()[self.used..self.literals.len()];
        if rest.len() != self.len - self.made {
            return None;
        }
        out[self.made..self.len].copy_from_slice(rest);
        (self.made, self.used) = (self.len, self.literals.len());
        Some(())
    }
}

impl Sequence {
    /// How far back its match lies; remembers it.
    #[inline]
    fn resolve(&self, recent: &mut [u32; 3]) -> u32 {
        let [first, second, third] = *recent;
        if self.offset > 3 {
            *recent = [self.offset - 3, first, second];
            return recent[0];
        }
        match self.offset + u32::from(self.literals == 0) {
            1 => {}
            2 => *recent = [second, first, third],
            3 => *recent = [third, first, second],
            _ => *recent = [first.wrapping_sub(1), first, second],
        }
        recent[0]
    }
}

/// Bytes that the frame makes, and where its block begins.
fn frame_head(packed: &[u8]) -> Option<(usize, usize)> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let (magic, rest) = packed.split_first_chunk()?;
    let (descriptor, rest) = rest.split_first()?;
    // One segment, no checksum, no dictionary; the two highest bits say how long the size is.
    let (len, bytes) = match *descriptor {
        0x20 => (u32::from(*rest.first()?), 1),
        0x60 => (256 + u32::from(u16::from_le_bytes(*rest.first_chunk()?)), 2),
        0xa0 => (u32::from_le_bytes(*rest.first_chunk()?), 4),
        _ => return None,
    };
    (*magic == MAGIC && len > 0).then_some((len as usize, MAGIC.len() + 1 + bytes))
}

/// Bytes of the block at `at`, if it is packed and the last, and where they begin.
fn block_head(packed: &[u8], at: usize) -> Option<(usize, usize)> {
    let [low, middle, high]: [u8; 3] = *packed.get(at..)?.first_chunk()?;
    let head = u32::from_le_bytes([low, middle, high, 0]);
    (head & 7 == 0b101).then_some(((head >> 3) as usize, at + 3))
}

/// Copies `len` literals. There are more to be read, and there is room for them.
#[inline]
fn move_literals(literals: &[u8], mut from: u32, out: &mut [u8], mut to: u32, len: u32) {
    const FEW: u32 = literals::SLACK as u32;
    let end = to + len;
    loop {
        let few: [u8; FEW as usize] =
            literals[from as usize..(from + FEW) as usize].try_into().expect("a slice of as many");
        out[to as usize..(to + FEW) as usize].copy_from_slice(&few);
        (from, to) = (from + FEW, to + FEW);
        if to >= end {
            break;
        }
    }
}

/// Appends `len` bytes from `offset` back to the `to` that there are. There is room for more.
#[inline]
fn append(out: &mut [u8], offset: u32, to: u32, len: u32) {
    let (from, at) = ((to - offset) as usize, to as usize);
    if len <= offset.min(STEP as u32) {
        let step: [u8; STEP] = out[from..from + STEP].try_into().expect("a slice of as many");
        out[at..at + STEP].copy_from_slice(&step);
    } else {
        repeat(out, from, at, at + len as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use hammerspace_testkit::agreement::Library;
    use zstd::bulk::{compress, decompress};
    use zstd::zstd_safe::find_frame_compressed_size;

    const LIBRARY: Library = Library {
        pack: |block, rng| compress(block, *rng.choice([-5, 1, 3, 3, 9, 19].iter()).unwrap()).unwrap(),
        unpack: |packed| {
            if find_frame_compressed_size(packed) != Ok(packed.len()) {
                return Err("is not one zstd frame".into());
            }
            decompress(packed, LEN_MAX).map_err(|error| error.to_string())
        },
    };

    /// What our decoder makes of a frame, or `None` where it leaves it to the library.
    fn ours(packed: &[u8], until: usize) -> Option<Vec<u8>> {
        let mut decoder = Decoder::new();
        decoder.open(packed, LEN_MAX)?;
        // What is in the room for more must not matter.
        let mut out = vec![0xa5; decoder.len + SLACK];
        decoder.decode(packed, &mut out, until)?;
        out.truncate(decoder.made);
        Some(out)
    }

    /// The same, as a block of a log is decoded.
    fn ours_or_theirs(packed: &[u8], until: usize) -> Result<Vec<u8>, String> {
        ours(packed, until).map_or_else(|| (LIBRARY.unpack)(packed), Ok)
    }

    #[test]
    fn it_agrees_with_the_library_on_sound_and_broken_frames() {
        LIBRARY.check_many(&ours_or_theirs, 1, 60);
    }

    #[test]
    fn canary_faults_are_noticed() {
        LIBRARY.check_canaries(&ours_or_theirs);
    }

    /// Blocks of every shape, and that ours takes them.
    #[test]
    fn it_takes_what_the_library_packs() {
        let mut rng = Rng::with_seed(2);
        let mut words = |letters: u8, len: usize, words: usize, total: usize| -> Vec<u8> {
            let words: Vec<Vec<u8>> = (0..words).map(|_| (0..len).map(|_| rng.u8(..letters)).collect()).collect();
            std::iter::repeat_with(|| rng.choice(&words).unwrap().clone()).take(total / len).flatten().collect()
        };
        let shapes = [
            ("one stream of literals", words(26, 9, 20, 2000), 3),
            ("four streams", words(26, 40, 400, 60_000), 3),
            ("weights of 4 bits each", words(4, 40, 400, 20_000), 3),
            ("literals as they are", words(255, 40, 100, 20_000), 3),
            ("literals that are all the same", [&[7; 1000][..], &words(1, 300, 1, 300), &[7; 100]].concat(), 3),
            ("few sequences, and the usual tables", words(26, 30, 3, 200), 3),
            ("offsets that a frame begins with", b"abcdefgh".repeat(20), 19),
            ("thousands of sequences", words(200, 3, 600, LEN_MAX), 12),
            ("all that a block makes", words(26, 9, 3000, LEN_MAX + 8), 3),
        ];
        for (shape, block, level) in shapes {
            let block = &block[..block.len().min(LEN_MAX)];
            let packed = compress(block, level).unwrap();
            for until in [1, block.len() / 2, block.len()] {
                let part = ours(&packed, until).unwrap_or_else(|| panic!("{shape}: left to the library"));
                assert!(part.len() >= until && block.starts_with(&part), "{shape}");
            }
        }
    }

    /// Any byte of a small frame may be any other.
    #[test]
    fn it_agrees_with_the_library_whatever_a_byte_says() {
        let mut rng = Rng::with_seed(4);
        let blocks: [&[u8]; 3] = [
            b"abcdabcdeabcdefabcdefgabcdefghabcdefghiabcdefghijabcdefghi",
            &[b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".as_slice(), &b"no no yes no yes yes no ".repeat(20)]
                .concat(),
            &(0..180_u32).map(|at| (at % 90 * (at % 90) % 19) as u8).collect::<Vec<u8>>(),
        ];
        for (block, level) in blocks.into_iter().flat_map(|block| [(block, 3), (block, 19)]) {
            let sound = compress(block, level).unwrap();
            assert!(ours(&sound, 1).is_some(), "left to the library");
            for (at, byte) in (0..sound.len()).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let mut broken = sound.clone();
                broken[at] = byte;
                LIBRARY.check(&ours_or_theirs, &broken, block.len(), &mut rng);
            }
        }
    }

    /// Frames that would decode, if not for a rule of the library's.
    #[test]
    fn it_refuses_what_only_the_library_refuses() {
        const HEAD: [u8; 5] = [0x28, 0xb5, 0x2f, 0xfd, 0x20];
        let larger = [&HEAD[..], &[20, 0xb5, 0, 0, 20 << 3], &[b'x'; 20], &[0]].concat();
        let few = [
            &HEAD[..],
            &[38, 0xad, 0, 0],
            // Four streams of a literal each: two codes of a bit, and the first of them, four times.
            &[0x46, 0x00, 0x03, 0x80, 0x10, 1, 0, 1, 0, 1, 0, 2, 2, 2, 2],
            // Four literals and 34 bytes from one back.
            &[1, 0x54, 4, 0, 31, 1],
        ]
        .concat();
        for (what, frame) in [("a block larger than what it makes", larger), ("four streams of few literals", few)] {
            assert!((LIBRARY.unpack)(&frame).is_err(), "{what}");
            assert_eq!(ours(&frame, usize::MAX), None, "{what}");
        }
    }

    #[test]
    fn what_is_behind_is_not_looked_at() {
        let mut rng = Rng::with_seed(3);
        let letters: Vec<u8> = std::iter::repeat_with(|| rng.alphabetic() as u8).take(600).collect();
        let block: Vec<u8> = (0..100).flat_map(|nth| letters[3 * nth..3 * nth + 200].to_vec()).collect();
        let mut packed = compress(&block, 3).unwrap();
        // A stream is read from its end to its start.
        let sequences = packed.len() - 40;
        packed[sequences..sequences + 8].fill(0);
        assert!(ours(&packed, 300).is_some_and(|part| block.starts_with(&part)));
        assert_ne!(ours(&packed, block.len()).as_deref(), Some(&block[..]));
    }

    #[test]
    fn what_is_not_one_packed_block_is_left_to_the_library() {
        let block: Vec<u8> = (0..4000_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
        let packed = compress(&block, 3).unwrap();
        assert_eq!(ours(&packed, 10).map(|part| block.starts_with(&part)), Some(true));
        let with = |set: fn(&mut zstd::bulk::Compressor<'_>)| {
            let mut compressor = zstd::bulk::Compressor::new(3).unwrap();
            set(&mut compressor);
            compressor.compress(&block).unwrap()
        };
        for (what, frame) in [
            ("a checksum", with(|compressor| compressor.include_checksum(true).unwrap())),
            ("no size", with(|compressor| compressor.include_contentsize(false).unwrap())),
            ("a block as it is", compress(b"abcdefghijklmnopqrstuvwxyz", 3).unwrap()),
            ("two blocks", compress(&block.repeat(10), 3).unwrap()),
            ("two frames", packed.repeat(2)),
            ("nothing", Vec::new()),
        ] {
            assert_eq!(ours(&frame, 10), None, "{what}");
        }
        assert!(Decoder::new().open(&packed, block.len() - 1).is_none(), "larger than the block may be");
    }
}
