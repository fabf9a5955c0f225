//! The literals of a block: bytes that no match makes.
//!
//! ```text
//! | form, size | the bytes                       as they are
//! | form, size | byte                            all the same
//! | form, size, packed size | codes | stream(s)  by Huffman codes
//! ```
//! The two lowest bits say which, the next two how long the sizes are. Source: RFC 8878, 3.1.1.3.1.

use super::fse::Scratch;
use super::huffman::Codes;

/// Room behind the literals: for copying more than there are.
pub(super) const SLACK: usize = 16;

/// Four streams have so many, or the library refuses them.
const FOR_FOUR: usize = 6;

/// Those of a block.
pub(super) struct Literals {
    codes: Codes,
    memory: Vec<u8>,
    len: usize,
}

impl Literals {
    pub(super) const EMPTY: Self = Self { codes: Codes::EMPTY, memory: Vec::new(), len: 0 };

    /// Decodes those at byte `at`, `len_max` at most. Gives where they end.
    pub(super) fn read(&mut self, packed: &[u8], at: usize, len_max: usize, scratch: &mut Scratch) -> Option<usize> {
        // All blocks that are worth it are longer than what a head may take.
        let word = u64::from_le_bytes(*packed.get(at..)?.first_chunk()?);
        let (kind, form) = (word & 3, word >> 2 & 3);
        let is_packed = kind >= 2;
        let (head, bits) = match (is_packed, form) {
            (false, 0 | 2) => (1, 5),
            (false, 1) => (2, 12),
            (false, _) => (3, 20),
            (true, 0 | 1) => (3, 10),
            (true, 2) => (4, 14),
            (true, _) => (5, 18),
        };
        let number = |shift: usize| (word >> shift) as usize & ((1 << bits) - 1);
        let start = at + head;
        self.len = number(if bits == 5 { 3 } else { 4 });
        let end = match kind {
            0 => start + self.len,
            1 => start + 1,
            _ => start + number(4 + bits),
        };
        let source = packed.get(start..end)?;
        let out = self.room(len_max)?;
        match kind {
            0 => out.copy_from_slice(source),
            1 => out.fill(source[0]),
            2 => {
                let Self { codes, memory, len } = self;
                let (out, start) = (&mut memory[..*len], codes.read(packed, start, scratch)?);
                match form {
                    0 => codes.decode(packed, start, end, out)?,
                    _ if *len < FOR_FOUR => return None,
                    _ => codes.decode_four(packed, start, end, out)?,
                }
            }
            // By the codes of the block before, and ours is the first.
            _ => return None,
        }
        Some(end)
    }

    fn room(&mut self, len_max: usize) -> Option<&mut [u8]> {
        if self.len > len_max {
            return None;
        }
        if self.memory.len() < self.len + SLACK {
            self.memory.resize(self.len + SLACK, 0);
        }
        Some(&mut self.memory[..self.len])
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The literals, and the room behind them.
    pub(super) fn memory(&self) -> &[u8] {
        &self.memory[..self.len + SLACK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_costs_nothing() {
        // All the same, a million times.
        let packed = [0b1101, 0xff, 0xff, b'x', 0, 0, 0, 0];
        let (mut literals, mut scratch) = (Literals::EMPTY, Scratch::EMPTY);
        assert_eq!(literals.read(&packed, 0, 4096, &mut scratch), None);
        assert_eq!(literals.memory.capacity(), 0);
        let packed = [0b1101, 0xff, 0, b'x', 0, 0, 0, 0];
        assert_eq!(literals.read(&packed, 0, 4096, &mut scratch), Some(4));
        assert_eq!(literals.memory()[..4080], [b'x'; 4080]);
    }
}
