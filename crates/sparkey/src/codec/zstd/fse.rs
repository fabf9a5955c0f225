//! Finite state entropy codes: a state stands for a symbol, and the bits that follow say which state is next.
//!
//! ```text
//! counts:  a 3, b 4, c 1 of 8       a symbol that comes less than once in 8 has one of the last states
//! ordered: a a a b b b b c
//! states:  a b a c b a b b          the nth of `ordered` at n * step, here 5; the next state follows from how many of its symbol
//! ```
//! Source: RFC 8878, 4.1.

use super::bits::Forward;
use std::hint::select_unpredictable;

/// States of the largest table, that of lengths.
const STATES: usize = 1 << 9;

/// Room for the symbols of any table: lengths of matches have 53.
pub(super) const SYMBOLS: usize = 64;

/// What a state stands for, and which may be next.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))] // one load away
pub(super) struct Cell {
    /// A symbol means this number, to which as many bits as `extra` says are added.
    pub(super) base: u32,
    /// The first of the next states, to which as many bits as `bits` says are added.
    pub(super) next: u16,
    pub(super) extra: u8,
    pub(super) bits: u8,
}

impl Cell {
    /// What a symbol means.
    pub(super) const fn meaning(base: u32, extra: u8) -> Self {
        Self { base, next: 0, extra, bits: 0 }
    }
}

/// What the states of a code stand for.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// There are `1 << log` states.
    log: u8,
    cells: [Cell; STATES],
}

impl Table {
    pub(super) const EMPTY: Self = Self { log: 0, cells: [Cell::meaning(0, 0); STATES] };

    /// Bits that the first state takes.
    pub(super) fn log(&self) -> u8 {
        self.log
    }

    #[inline]
    pub(super) fn cell(&self, state: usize) -> &Cell {
        &self.cells[state % STATES]
    }

    /// Fills it for one symbol that takes no bits.
    pub(super) fn fill_with_one(&mut self, meaning: Cell) {
        self.log = 0;
        self.cells[0] = meaning;
    }

    /// Fills it for symbols that come so often, and mean so much.
    pub(super) fn fill(&mut self, counts: &Counts, meanings: &[Cell; SYMBOLS], scratch: &mut Scratch) {
        self.log = counts.log;
        let size = 1 << counts.log;
        let Scratch { ordered, states, nths } = scratch;
        let often = order(counts, ordered, nths, states, size);
        let step = size / 2 + size / 8 + 3;
        let (symbols, stride) = if often == size {
            (&ordered[..], inverse(step))
        } else {
            scatter(&ordered[..often], states, step, size);
            (&states[..], 1)
        };
        let mut from = 0_usize;
        for cell in &mut self.cells[..size] {
            let symbol = usize::from(symbols[from % size % STATES]) % SYMBOLS;
            let nth = &mut nths[symbol];
            let bits = u32::from(counts.log) - nth.ilog2();
            let next = (*nth << bits) as u16 - size as u16;
            *cell = Cell { next, bits: bits as u8, ..meanings[symbol] };
            *nth += 1;
            from = from.wrapping_add(stride);
        }
    }
}

/// Memory to fill tables with. Nothing in it outlives a call.
pub(super) struct Scratch {
    /// Symbols in their order, as often as they come, and what the last of them wrote too much.
    ordered: [u8; STATES + 8],
    /// The symbol of each state.
    states: [u8; STATES],
    /// Of each symbol how often it comes, and later that and how many of its states have been filled.
    nths: [u32; SYMBOLS],
}

impl Scratch {
    pub(super) const EMPTY: Self = Self { ordered: [0; STATES + 8], states: [0; STATES], nths: [1; SYMBOLS] };
}

/// Puts symbols in their order, and the rare ones into the last states. Gives how many states the others have.
fn order(
    counts: &Counts,
    ordered: &mut [u8; STATES + 8],
    nths: &mut [u32; SYMBOLS],
    states: &mut [u8; STATES],
    size: usize,
) -> usize {
    let (mut often, mut at) = (size, 0);
    for &(symbol, count) in &counts.of[..counts.len] {
        nths[usize::from(symbol) % SYMBOLS] = count.unsigned_abs().into();
        if count < 0 {
            often -= 1;
            states[often] = symbol;
            continue;
        }
        // Eight at once are one store, and enough as a rule.
        ordered[at..at + 8].fill(symbol);
        let next = at + usize::from(count.unsigned_abs());
        if next > at + 8 {
            ordered[at + 8..next].fill(symbol);
        }
        at = next;
    }
    often
}

/// Gives the first states to symbols, which come in their order.
fn scatter(ordered: &[u8], states: &mut [u8; STATES], step: usize, size: usize) {
    let mut state = 0;
    for symbol in ordered {
        states[state % STATES] = *symbol;
        state = (state + step) % size;
        while state >= ordered.len() {
            state = (state + step) % size;
        }
    }
}

/// The number by which this odd one makes 1 in its lowest 24 bits, and more.
fn inverse(odd: usize) -> usize {
    // Each step doubles the bits that are right, three at first.
    (0..3).fold(odd, |inverse, _| inverse.wrapping_mul(2_usize.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// How often symbols come.
pub(super) struct Counts {
    /// Out of `1 << log`.
    log: u8,
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
        assert_eq!((counts.log, &counts.of[..counts.len]), (5, &[(0, 20), (6, -1), (7, 11)][..]));
        assert_eq!(counts.read(&described, 1, 5, 7), None, "a symbol too many");
        let described = bits(&[(1, 4), (0x3f, 6)]);
        assert_eq!(counts.read(&described, 1, 5, 8), None, "larger than it may be");
        assert_eq!(counts.read(&described[..8], 1, 6, 8), None, "too near the end");
    }

    #[test]
    fn states_are_those_of_the_format() {
        let mut table = Table::EMPTY;
        let meanings = std::array::from_fn(|symbol| Cell::meaning(symbol as u32, 0));
        // The usual table of offsets: RFC 8878, appendix A.
        let mut counts = [1; 29];
        counts[6..9].fill(2);
        counts[24..].fill(-1);
        let mut scratch = Scratch::EMPTY;
        table.fill(&Counts::new(5, counts), &meanings, &mut scratch);
        let cells: Vec<_> = table.cells[..32].iter().map(|cell| (cell.base, cell.bits, cell.next)).collect();
        assert_eq!((cells[6], cells[15]), ((7, 4, 0), (7, 4, 16)));
        assert_eq!(cells[..6], [(0, 5, 0), (6, 4, 0), (9, 5, 0), (15, 5, 0), (21, 5, 0), (3, 5, 0)]);
        assert_eq!(cells[26..], [(16, 5, 0), (28, 5, 0), (27, 5, 0), (26, 5, 0), (25, 5, 0), (24, 5, 0)][..]);
    }
}
