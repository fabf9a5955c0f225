//! Finite state entropy codes: a state stands for a symbol, and the bits that follow say which state is next.
//!
//! ```text
//! counts:  a 3, b 4, c 1 of 8       a symbol that comes less than once in 8 has one of the last states
//! ordered: a a a b b b b c
//! states:  a b a c b a b b          the nth of `ordered` at n * step, here 5; the next state follows from how many of its symbol
//! ```
//! Source: RFC 8878, 4.1.

use super::counts::{Counts, SYMBOLS};

/// States of the largest table, that of lengths.
const STATES: usize = 1 << 9;

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

    /// Fills it as is described at byte `at`, for symbols that mean so much, `symbols` at most. Gives where the description ends.
    pub(super) fn read(
        &mut self,
        packed: &[u8],
        at: usize,
        log_max: u8,
        (meanings, symbols): (&[Cell; SYMBOLS], usize),
        Scratch { counts, spread }: &mut Scratch,
    ) -> Option<usize> {
        let end = counts.read(packed, at, log_max, symbols)?;
        self.fill(counts, meanings, spread);
        Some(end)
    }

    /// Fills it for symbols that come so often, and mean so much.
    pub(super) fn fill(&mut self, counts: &Counts, meanings: &[Cell; SYMBOLS], spread: &mut Spread) {
        self.log = counts.log;
        let size = 1 << counts.log;
        let (symbols, stride, nths) = spread.over(counts, size);
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

/// Memory to read tables with. Nothing in it outlives a call.
pub(super) struct Scratch {
    counts: Counts,
    pub(super) spread: Spread,
}

impl Scratch {
    pub(super) const EMPTY: Self = Self { counts: Counts::EMPTY, spread: Spread::EMPTY };
}

/// Which symbols the states stand for.
pub(super) struct Spread {
    /// Symbols in their order, as often as they come, and what the last of them wrote too much.
    ordered: [u8; STATES + 8],
    /// The symbol of each state.
    states: [u8; STATES],
    /// Of each symbol how often it comes, and later that and how many of its states have been filled.
    nths: [u32; SYMBOLS],
}

impl Spread {
    const EMPTY: Self = Self { ordered: [0; STATES + 8], states: [0; STATES], nths: [1; SYMBOLS] };

    /// Gives `size` states to symbols. The nth state's is the first at n times the second, modulo `size`.
    fn over(&mut self, counts: &Counts, size: usize) -> (&[u8], usize, &mut [u32; SYMBOLS]) {
        let often = self.order(counts, size);
        let step = size / 2 + size / 8 + 3;
        if often == size {
            return (&self.ordered, inverse(step), &mut self.nths);
        }
        self.scatter(often, step, size);
        (&self.states, 1, &mut self.nths)
    }

    /// Puts symbols in their order, and the rare ones into the last states. Gives how many states the others have.
    fn order(&mut self, counts: &Counts, size: usize) -> usize {
        let (mut often, mut at) = (size, 0);
        for &(symbol, count) in counts.of() {
            self.nths[usize::from(symbol) % SYMBOLS] = count.unsigned_abs().into();
            if count < 0 {
                often -= 1;
                self.states[often] = symbol;
                continue;
            }
            // Eight at once are one store, and enough as a rule.
            self.ordered[at..at + 8].fill(symbol);
            let next = at + usize::from(count.unsigned_abs());
            if next > at + 8 {
                self.ordered[at + 8..next].fill(symbol);
            }
            at = next;
        }
        often
    }

    /// Gives the first `often` states to symbols, which come in their order.
    fn scatter(&mut self, often: usize, step: usize, size: usize) {
        let mut state = 0;
        for symbol in &self.ordered[..often] {
            self.states[state % STATES] = *symbol;
            state = (state + step) % size;
            while state >= often {
                state = (state + step) % size;
            }
        }
    }
}

/// The number by which this odd one makes 1 in its lowest 24 bits, and more.
fn inverse(odd: usize) -> usize {
    // Each step doubles the bits that are right, three at first.
    (0..3).fold(odd, |inverse, _| inverse.wrapping_mul(2_usize.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_those_of_the_format() {
        let mut table = Table::EMPTY;
        let meanings = std::array::from_fn(|symbol| Cell::meaning(symbol as u32, 0));
        // The usual table of offsets: RFC 8878, appendix A.
        let mut counts = [1; 29];
        counts[6..9].fill(2);
        counts[24..].fill(-1);
        let mut spread = Spread::EMPTY;
        table.fill(&Counts::new(5, counts), &meanings, &mut spread);
        let cells: Vec<_> = table.cells[..32].iter().map(|cell| (cell.base, cell.bits, cell.next)).collect();
        assert_eq!((cells[6], cells[15]), ((7, 4, 0), (7, 4, 16)));
        assert_eq!(cells[..6], [(0, 5, 0), (6, 4, 0), (9, 5, 0), (15, 5, 0), (21, 5, 0), (3, 5, 0)]);
        assert_eq!(cells[26..], [(16, 5, 0), (28, 5, 0), (27, 5, 0), (26, 5, 0), (25, 5, 0), (24, 5, 0)][..]);
    }
}
