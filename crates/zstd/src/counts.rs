//! How often the symbols of a code come, as a block describes it.
//!
//! ```text
//! | log - 5, 4 bits | count | count | 0, and how many more zeros | count | …      until they come to 1 << log
//! ```
//! A count takes no more bits than what is left to be had asks for. Source: RFC 8878, 4.1.1.

use super::bits::Forward;
use std::hint::select_unpredictable;

/// Room for the symbols of any code: lengths of matches have 53.
pub(super) const SYMBOLS: usize = 64;

/// How often symbols come.
pub(super) struct Counts {
    /// Out of `1 << log`.
    pub(super) log: u8,
    len: usize,
    /// Symbols that come at all, and how often; -1 is less than once.
    of: [(u8, i16); SYMBOLS],
}

impl Counts {
    pub(super) const EMPTY: Self = Self::new(0, []);

    /// Those of the symbols 0, 1, 2, …
    pub(super) const fn new<const N: usize>(log: u8, counts: [i16; N]) -> Self {
        let mut of = [(0, 0); SYMBOLS];
        let mut symbol = 0;
        while symbol < N {
            of[symbol] = (symbol as u8, counts[symbol]);
            symbol += 1;
        }
        Self { log, len: N, of }
    }

    /// Symbols that come at all, and how often; -1 is less than once.
    pub(super) fn of(&self) -> &[(u8, i16)] {
        &self.of[..self.len]
    }

    /// Reads what is described at byte `at`, of `symbols` at most. Gives where the description ends.
    pub(super) fn read(&mut self, packed: &[u8], at: usize, log_max: u8, symbols: usize) -> Option<usize> {
        let mut bits = Forward::new(packed, at);
        self.log = (bits.look(4)? & 15) as u8 + 5;
        bits.skip(4);
        if self.log > log_max {
            return None;
        }
        self.len = 0;
        let (mut left, mut symbol) = (1_i32 << self.log, 0);
        while left > 0 {
            if symbol >= symbols {
                return None;
            }
            let count = Self::read_one(&mut bits, left)?;
            if count == 0 {
                symbol += 1 + Self::read_zeros(&mut bits, symbols)?;
                continue;
            }
            self.of[self.len % SYMBOLS] = (symbol as u8, count as i16);
            self.len += 1;
            symbol += 1;
            left -= count.abs();
        }
        Some(bits.end())
    }

    /// A count, of which `left` are to be had: a number up to that and 1, of which the lowest take a bit less.
    #[inline]
    fn read_one(bits: &mut Forward<'_>, left: i32) -> Option<i32> {
        let long = (left + 1).ilog2() + 1;
        let word = bits.look(long)? as i32;
        let (value, half) = (word & ((1 << long) - 1), (1 << (long - 1)) - 1);
        let shorts = 2 * half - left;
        // No processor foresees these.
        let is_short = value & half < shorts;
        let value = select_unpredictable(is_short, value & half, value - select_unpredictable(value > half, shorts, 0));
        bits.skip(long - u32::from(is_short));
        Some(value - 1)
    }

    /// How many more symbols do not come, of so many: two bits a time, and 3 goes on.
    fn read_zeros(bits: &mut Forward<'_>, symbols: usize) -> Option<usize> {
        let mut zeros = 0;
        loop {
            let more = (bits.look(2)? & 3) as usize;
            bits.skip(2);
            zeros += more;
            if more < 3 || zeros > symbols {
                return Some(zeros);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least significant bits first.
    fn bits(numbers: &[(u64, u32)]) -> [u8; 16] {
        let (bits, _) = numbers.iter().fold((0, 0), |(bits, at), (number, len)| (bits | number << at, at + len));
        let mut bytes = [0; 16];
        bytes[1..9].copy_from_slice(&u64::to_le_bytes(bits));
        bytes
    }

    #[test]
    fn counts_are_read_as_far_as_there_may_be_symbols() {
        let mut counts = Counts::EMPTY;
        // 32 in all: 20 of symbol 0; none of 1, nor of the 4 that follow; less than one of 6; 11 of 7.
        let described = bits(&[(0, 4), (21, 5), (1, 3), (3, 2), (1, 2), (0, 3), (15, 4)]);
        assert_eq!(counts.read(&described, 1, 5, 8), Some(4));
        assert_eq!((counts.log, counts.of()), (5, &[(0, 20), (6, -1), (7, 11)][..]));
        assert_eq!(counts.read(&described, 1, 5, 7), None, "a symbol too many");
        let described = bits(&[(1, 4), (0x3f, 6)]);
        assert_eq!(counts.read(&described, 1, 5, 8), None, "larger than it may be");
        assert_eq!(counts.read(&described[..8], 1, 6, 8), None, "too near the end");
    }
}
