//! Huffman codes of literals: one table for all codes of a block, and one or four streams of them.
//!
//! ```text
//! description:  | n < 128 | n bytes of weights in two alternating FSE states |       or  | 127 + n | n weights of 4 bits |
//! weights:      a symbol of weight w > 0 has a code of log + 1 - w bits; the last symbol's follows from the others
//! four streams: | size u16 | size u16 | size u16 | stream | stream | stream | stream |     all but the last make a quarter, rounded up
//! ```
//! Source: RFC 8878, 4.2.

use super::bits::Stream;
use super::counts::SYMBOLS;
use super::fse::{Cell, Scratch, Table};

/// Bits of the longest code.
const LOG_MAX: usize = 11;

const CELLS: usize = 1 << LOG_MAX;

/// Codes that a window has for certain.
const AT_ONCE: usize = 5;

/// Symbols: every byte may be one.
const BYTES: usize = 256;

/// The weights, which are all that FSE stands for here.
const WEIGHTS: [Cell; SYMBOLS] = {
    let mut meanings = [Cell::meaning(0, 0); SYMBOLS];
    let mut weight = 0;
    while weight <= LOG_MAX + 1 {
        meanings[weight] = Cell::meaning(weight as u32, 0);
        weight += 1;
    }
    meanings
};

/// What bits stand for.
pub(super) struct Codes {
    /// By the next bits of a stream, as many as the longest code has: bits of the code they begin with, and above them the symbol.
    cells: [u16; CELLS],
    weights: Weights,
}

impl Codes {
    pub(super) const EMPTY: Self = Self { cells: [0; CELLS], weights: Weights::EMPTY };

    /// Reads the description at byte `at`. Gives where it ends.
    pub(super) fn read(&mut self, packed: &[u8], at: usize, scratch: &mut Scratch) -> Option<usize> {
        let (log, end) = self.weights.read(packed, at, scratch)?;
        self.fill(log)?;
        Some(end)
    }

    /// Fills the table: the longest codes first, those of one length in the order of their symbols.
    fn fill(&mut self, log: usize) -> Option<()> {
        let mut rest = &mut self.cells[..];
        for weight in 1..=log {
            let bits = log + 1 - weight;
            let len = CELLS >> bits;
            let symbols = self.weights.symbols(weight);
            let cells = rest.split_off_mut(..symbols.len() * len)?;
            for (cells, symbol) in cells.chunks_exact_mut(len).zip(symbols) {
                cells.fill(u16::from(*symbol) << 8 | bits as u16);
            }
        }
        Some(())
    }

    /// Decodes the stream from `start` to `end`, which makes all of `out`.
    pub(super) fn decode(&self, packed: &[u8], start: usize, end: usize, out: &mut [u8]) -> Option<()> {
        let mut stream = Stream::new(packed, start, end)?;
        let (parts, rest) = out.as_chunks_mut();
        for part in parts {
            self.decode_part(packed, &mut stream, part)?;
        }
        self.decode_rest(packed, stream, rest)
    }

    /// Decodes the four streams from `start` to `end`, side by side: each waits for its last code.
    pub(super) fn decode_four(&self, packed: &[u8], start: usize, end: usize, out: &mut [u8]) -> Option<()> {
        let sizes: [u8; 6] = *packed.get(start..)?.first_chunk()?;
        let size = |nth: usize| usize::from(u16::from_le_bytes([sizes[2 * nth], sizes[2 * nth + 1]]));
        let first = start + sizes.len();
        let [second, third, fourth] =
            [size(0), size(0) + size(1), size(0) + size(1) + size(2)].map(|size| first + size);
        let mut s = [(first, second), (second, third), (third, fourth), (fourth, end)]
            .map(|(start, end)| Stream::new(packed, start, end));
        let [Some(s0), Some(s1), Some(s2), Some(s3)] = &mut s else { return None };

        let quarter = out.len().div_ceil(4);
        let (o0, out) = out.split_at_mut_checked(quarter)?;
        let (o1, out) = out.split_at_mut_checked(quarter)?;
        let (o2, o3) = out.split_at_mut_checked(quarter)?;
        let whole = o3.len() / AT_ONCE * AT_ONCE;
        let [(o0, r0), (o1, r1), (o2, r2), (o3, r3)] = [o0, o1, o2, o3].map(|out| out.split_at_mut(whole));
        let [o0, o1, o2, o3] = [o0, o1, o2, o3].map(|out| out.as_chunks_mut().0);
        for (((o0, o1), o2), o3) in o0.iter_mut().zip(o1).zip(o2).zip(o3) {
            self.decode_part(packed, s0, o0)?;
            self.decode_part(packed, s1, o1)?;
            self.decode_part(packed, s2, o2)?;
            self.decode_part(packed, s3, o3)?;
        }
        for (stream, rest) in [(s0, r0), (s1, r1), (s2, r2), (s3, r3)] {
            self.decode_rest(packed, *stream, rest)?;
        }
        Some(())
    }

    #[inline]
    fn decode_part(&self, packed: &[u8], stream: &mut Stream, out: &mut [u8; AT_ONCE]) -> Option<()> {
        let mut window = stream.window(packed)?;
        let mut word = window.whole();
        for byte in out {
            let cell = self.cells[(word >> (64 - LOG_MAX)) as usize];
            *byte = (cell >> 8) as u8;
            word <<= cell & 63;
            window.skip(i32::from(cell & 63));
        }
        *stream = stream.after(window);
        Some(())
    }

    /// The last few, after which nothing may be left.
    fn decode_rest(&self, packed: &[u8], mut stream: Stream, out: &mut [u8]) -> Option<()> {
        for byte in out {
            let mut window = stream.window(packed)?;
            let cell = self.cells[(window.whole() >> (64 - LOG_MAX)) as usize];
            *byte = (cell >> 8) as u8;
            window.skip(i32::from(cell & 63));
            stream = stream.after(window);
        }
        stream.is_done().then_some(())
    }
}

/// The weights of symbols, and the symbols of each weight.
struct Weights {
    of: [u8; BYTES],
    lens: [usize; 16],
    lists: [[u8; BYTES]; 16],
    table: Table,
}

impl Weights {
    const EMPTY: Self = Self { of: [0; BYTES], lens: [0; 16], lists: [[0; BYTES]; 16], table: Table::EMPTY };

    /// Reads and sorts them. Gives the bits of the longest code, and where the description ends.
    fn read(&mut self, packed: &[u8], at: usize, scratch: &mut Scratch) -> Option<(usize, usize)> {
        let (size, at) = (usize::from(*packed.get(at)?), at + 1);
        let (count, end) = if let Some(count) = size.checked_sub(127) {
            let end = at + count.div_ceil(2);
            self.read_plain(packed.get(at..end)?, count);
            (count, end)
        } else {
            let (start, end) = (self.table.read(packed, at, 6, (&WEIGHTS, LOG_MAX + 2), scratch)?, at + size);
            (self.read_packed(packed, Stream::new(packed, start, end)?)?, end)
        };
        Some((self.sort(count)?, end))
    }

    /// Those of 4 bits each.
    fn read_plain(&mut self, pairs: &[u8], count: usize) {
        for (nth, weight) in self.of[..count].iter_mut().enumerate() {
            *weight = pairs[nth / 2] >> (4 - nth % 2 * 4) & 15;
        }
    }

    /// Those of two states that take turns, until the stream has no bits for another state. Gives how many.
    fn read_packed(&mut self, packed: &[u8], mut stream: Stream) -> Option<usize> {
        let (mut now, mut then) = (stream.read(packed, self.table.log())?, stream.read(packed, self.table.log())?);
        let mut count = 0;
        loop {
            let (before, mut window) = (stream, stream.window(packed)?);
            // As many as a window has bits for.
            for _ in 0..8 {
                let cell = self.table.cell(now);
                *self.of.get_mut(count)? = cell.base as u8;
                (now, then) = (then, usize::from(cell.next) + window.take(cell.bits) as usize);
                count += 1;
                stream = before.after(window);
                if !stream.is_sound() {
                    *self.of.get_mut(count)? = self.table.cell(now).base as u8;
                    return Some(count + 1);
                }
            }
        }
    }

    /// Adds the last weight to so many, with which the codes are complete, and sorts the symbols. Gives the bits of the longest code.
    fn sort(&mut self, count: usize) -> Option<usize> {
        // Most bytes never come in a block.
        let (mut symbols, mut used) = ([0; BYTES], 0);
        for (symbol, weight) in self.of[..count].iter().enumerate() {
            symbols[used % BYTES] = symbol as u8;
            used += usize::from(*weight > 0);
        }
        let sum: usize = symbols[..used].iter().map(|symbol| 1 << self.of[usize::from(*symbol)] >> 1).sum();
        let log = sum.checked_ilog2()? as usize + 1;
        let rest = (1 << log) - sum;
        if log > LOG_MAX || !rest.is_power_of_two() {
            return None;
        }
        *self.of.get_mut(count)? = rest.ilog2() as u8 + 1;
        symbols[used % BYTES] = count as u8;
        self.lens = [0; 16];
        for symbol in &symbols[..=used] {
            let weight = usize::from(self.of[usize::from(*symbol)] % 16);
            self.lists[weight][self.lens[weight] % BYTES] = *symbol;
            self.lens[weight] += 1;
        }
        (self.lens[1] > 0).then_some(log)
    }

    /// The symbols of a weight.
    fn symbols(&self, weight: usize) -> &[u8] {
        &self.lists[weight][..self.lens[weight]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(weights: &[u8]) -> Option<usize> {
        let mut sorted = Weights::EMPTY;
        sorted.of[..weights.len()].copy_from_slice(weights);
        sorted.sort(weights.len())
    }

    #[test]
    fn the_last_weight_completes_the_codes_or_there_are_none() {
        assert_eq!(log(&[1]), Some(1), "two codes of one bit");
        assert_eq!(log(&[3, 0, 2, 1]), Some(3));
        assert_eq!(log(&[11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), Some(11));
        assert_eq!(log(&[12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), None, "longer codes than there may be");
        assert_eq!(log(&[]), None, "none at all");
        assert_eq!(log(&[0, 0]), None, "only the last");
        assert_eq!(log(&[3, 1]), None, "3 of 8 are left, which no weight stands for");
        assert_eq!(log(&[2]), None, "no code is longest");
        assert_eq!(log(&[1; 255]), Some(8));
        assert_eq!(log(&[1; 256]), None, "there is no byte for the last");
    }
}
