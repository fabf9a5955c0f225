//! The sequences of a block: so many literals, then so many bytes from so far back.
//!
//! ```text
//! | count | modes | tables of lengths of literals, offsets, lengths of matches | stream |
//! stream, from its end:  | 3 states | offset, match, literals | states: literals, match, offset | offset, … |
//! ```
//! Three codes take turns with one stream. What a sequence takes of it is known with its states, long before the numbers are
//! needed; so sequences are read some at a time, two from one window, and executed afterwards: either loop has few numbers at hand.
//!
//! Source: RFC 8878, 3.1.1.3.2.

use super::bits::{Stream, Window};
use super::counts::{Counts, SYMBOLS};
use super::fse::{Cell, Scratch, Table};

/// Sequences that are read at a time.
pub(super) const BATCH: usize = 32;

/// What a sequence says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sequence {
    /// How many literals come first.
    pub(super) literals: u32,
    /// How far back the match lies, and 3; or 1 to 3 for one of the last offsets.
    pub(super) offset: u32,
    /// Bytes of the match.
    pub(super) len: u32,
}

/// A code of numbers: what its symbols mean, how many there are, the log of its largest table, and the table of those who bring none.
struct Code {
    meanings: [Cell; SYMBOLS],
    symbols: usize,
    log_max: u8,
    usual: Counts,
}

/// Numbers from `first` on, of which a symbol takes as many as its bits tell apart.
const fn lengths<const N: usize>(first: u32, extras: [u8; N]) -> [Cell; SYMBOLS] {
    let mut meanings = [Cell::meaning(0, 0); SYMBOLS];
    let (mut base, mut symbol) = (first, 0);
    while symbol < N {
        meanings[symbol] = Cell::meaning(base, extras[symbol]);
        base += 1 << extras[symbol];
        symbol += 1;
    }
    meanings
}

const LITERALS: Code = Code {
    meanings: lengths(
        0,
        [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14,
            15, 16,
        ],
    ),
    symbols: 36,
    log_max: 9,
    usual: Counts::new(
        6,
        [
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1,
            -1,
        ],
    ),
};

const OFFSETS: Code = Code {
    meanings: {
        let mut meanings = [Cell::meaning(0, 0); SYMBOLS];
        let mut symbol = 0;
        while symbol < 32 {
            meanings[symbol] = Cell::meaning(1 << symbol, symbol as u8);
            symbol += 1;
        }
        meanings
    },
    symbols: 32,
    log_max: 8,
    usual: Counts::new(5, [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]),
};

const MATCHES: Code = Code {
    meanings: lengths(
        3,
        [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
            2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
        ],
    ),
    symbols: 53,
    log_max: 9,
    usual: Counts::new(
        6,
        [
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ],
    ),
};

/// In the order in which a block describes them.
static CODES: [Code; 3] = [LITERALS, OFFSETS, MATCHES];

/// A state of each code.
type States = [usize; 3];

/// Those of a block that have not been read.
pub(super) struct Sequences {
    tables: [Table; 3],
    stream: Stream,
    states: States,
    left: usize,
}

impl Sequences {
    pub(super) const EMPTY: Self =
        Self { tables: [Table::EMPTY, Table::EMPTY, Table::EMPTY], stream: Stream::EMPTY, states: [0; 3], left: 0 };

    /// Turns to those from byte `at` to the end.
    pub(super) fn open(&mut self, packed: &[u8], at: usize, scratch: &mut Scratch) -> Option<()> {
        let (left, at) = read_count(packed, at)?;
        (self.left, self.stream) = (left, Stream::EMPTY);
        if left == 0 {
            return (at == packed.len()).then_some(());
        }
        let start = self.read_tables(packed, at, scratch)?;
        self.stream = Stream::new(packed, start, packed.len())?;
        for (state, table) in self.states.iter_mut().zip(&self.tables) {
            *state = self.stream.read(packed, table.log())?;
        }
        Some(())
    }

    /// Reads which tables there are, from byte `at` on, and the tables. Gives where they end.
    fn read_tables(&mut self, packed: &[u8], at: usize, scratch: &mut Scratch) -> Option<usize> {
        let (modes, mut at) = (*packed.get(at)?, at + 1);
        for (nth, (table, code)) in self.tables.iter_mut().zip(&CODES).enumerate() {
            match modes >> (6 - 2 * nth) & 3 {
                0 => table.fill(&code.usual, &code.meanings, &mut scratch.spread),
                1 => {
                    let symbol = usize::from(*packed.get(at)?);
                    table.fill_with_one(*code.meanings[..code.symbols].get(symbol)?);
                    at += 1;
                }
                2 => at = table.read(packed, at, code.log_max, (&code.meanings, code.symbols), scratch)?,
                // That of the block before, and ours is the first.
                _ => return None,
            }
        }
        modes.is_multiple_of(4).then_some(at)
    }

    /// Whether there are no more, and all has been read that was to be.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0 && self.stream.is_done()
    }

    /// Reads on, at least one if there are any. Gives how many.
    #[inline(never)] // so that it has all registers for itself
    pub(super) fn read(&mut self, packed: &[u8], batch: &mut [Sequence; BATCH]) -> Option<usize> {
        let count = self.left.min(BATCH);
        // No states follow the last one.
        let with_states = count - usize::from(count == self.left && count > 0);
        let (pairs, rest) = batch[..with_states].as_chunks_mut();
        let (mut stream, mut states) = (self.stream, self.states);
        for pair in pairs {
            (stream, states) = self.read_pair(packed, stream, states, pair)?;
        }
        (self.stream, self.states) = (stream, states);
        self.read_slowly(packed, rest)?;
        if with_states < count {
            batch[with_states] = self.read_one(packed)?;
        }
        self.left -= count;
        self.stream.is_sound().then_some(count)
    }

    /// Reads two from one window, which shows enough unless their numbers are large. Gives where that leaves the stream and the states.
    #[inline]
    fn read_pair(
        &mut self,
        packed: &[u8],
        stream: Stream,
        states: States,
        pair: &mut [Sequence; 2],
    ) -> Option<(Stream, States)> {
        let mut window = stream.window(packed)?;
        pair[0] = self.sequence(states, &mut window);
        let between = self.next(states, &mut window);
        pair[1] = self.sequence(between, &mut window);
        let next = self.next(between, &mut window);
        if window.is_overdrawn() {
            (self.stream, self.states) = (stream, states);
            self.read_slowly(packed, pair)?;
            return Some((self.stream, self.states));
        }
        Some((stream.after(window), next))
    }

    /// Reads some with a window for each part.
    #[inline(never)]
    fn read_slowly(&mut self, packed: &[u8], batch: &mut [Sequence]) -> Option<()> {
        for sequence in batch {
            *sequence = self.read_one(packed)?;
            let mut window = self.stream.window(packed)?;
            self.states = self.next(self.states, &mut window);
            self.stream = self.stream.after(window);
        }
        Some(())
    }

    /// Reads one, without the states that follow.
    fn read_one(&mut self, packed: &[u8]) -> Option<Sequence> {
        let mut window = self.stream.window(packed)?;
        let sequence = self.sequence(self.states, &mut window);
        // A window shows all of them, unless the offset is larger than any block.
        self.stream = self.stream.after(window);
        Some(sequence)
    }

    #[inline]
    fn cells(&self, [literals, offset, len]: States) -> [&Cell; 3] {
        let [of_literals, of_offsets, of_lens] = &self.tables;
        [of_literals.cell(literals), of_offsets.cell(offset), of_lens.cell(len)]
    }

    #[inline]
    fn sequence(&self, states: States, window: &mut Window) -> Sequence {
        let [literals, offset, len] = self.cells(states);
        let offset = offset.base + window.take(offset.extra);
        let len = len.base + window.take(len.extra);
        let literals = literals.base + window.take(literals.extra);
        Sequence { literals, offset, len }
    }

    #[inline]
    fn next(&self, states: States, window: &mut Window) -> States {
        let [literals, offset, len] = self.cells(states);
        let literals = usize::from(literals.next) + window.take(literals.bits) as usize;
        let len = usize::from(len.next) + window.take(len.bits) as usize;
        let offset = usize::from(offset.next) + window.take(offset.bits) as usize;
        [literals, offset, len]
    }
}

/// Reads how many sequences there are. Gives where the number ends.
fn read_count(packed: &[u8], at: usize) -> Option<(usize, usize)> {
    let byte = |at: usize| packed.get(at).copied().map(usize::from);
    Some(match byte(at)? {
        few @ ..128 => (few, at + 1),
        high @ ..255 => ((high - 128) << 8 | byte(at + 1)?, at + 2),
        _ => (0x7f00 + (byte(at + 2)? << 8 | byte(at + 1)?), at + 3),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_go_on_where_those_of_the_symbol_before_end() {
        let meaning = |code: &Code, symbol: usize| (code.meanings[symbol].base, code.meanings[symbol].extra);
        assert_eq!([16, 25, 35].map(|symbol| meaning(&LITERALS, symbol)), [(16, 1), (64, 6), (65_536, 16)]);
        assert_eq!([0, 32, 43, 52].map(|symbol| meaning(&MATCHES, symbol)), [(3, 0), (35, 1), (131, 7), (65_539, 16)]);
    }

    #[test]
    fn counts_have_one_to_three_bytes() {
        for (bytes, expected) in [
            (&[0][..], Some((0, 1))),
            (&[127], Some((127, 1))),
            (&[128, 130], Some((130, 2))),
            (&[254, 255], Some((0x7eff, 2))),
            (&[255, 0x34, 0x12], Some((0x7f00 + 0x1234, 3))),
            (&[255, 0x34], None),
            (&[128], None),
            (&[], None),
        ] {
            assert_eq!(read_count(bytes, 0), expected, "{bytes:?}");
        }
    }
}
