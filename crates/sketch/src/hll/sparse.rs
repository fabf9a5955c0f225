//! The body of a SPARSE value: words of `log2m + regwidth` bits, the index above the rank, indices strictly
//! ascending.
//!
//! ```text
//! | index log2m | rank regwidth | index | rank | … | zeros up to the byte |
//! ```

use hammerspace_error::{Error, Result};

use super::header::{self, HEADER_LEN, corrupt};
use super::{Kind, Params, Register, bits};

/// Registers that are not zero, as words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sparse<'a> {
    body: &'a [u8],
    params: Params,
    len: usize,
}

impl<'a> Sparse<'a> {
    pub(super) fn open(body: &'a [u8], params: Params) -> Result<Self> {
        let word_bits = params.word_bits() as usize;
        let sparse = Self { body, params, len: body.len() * 8 / word_bits };
        let is_padded = sparse.len > 0 && word_bits < 8 && sparse.word(sparse.len - 1) == 0;
        // A word of fewer than 8 bits has room in the padding. It is all zeros there, and no real word has a
        // rank of 0.
        let sparse = Self { len: sparse.len - usize::from(is_padded), ..sparse };
        if body.len() != (sparse.len * word_bits).div_ceil(8) {
            return Err(sparse.corrupt(sparse.len, "with a whole byte behind its last word"));
        }
        Ok(sparse)
    }

    pub(super) fn verify(self) -> Result<()> {
        let mut index_min = 0;
        for (number, register) in self.iter().enumerate() {
            if register.rank == 0 {
                return Err(self.corrupt(number, "with a word of rank 0"));
            }
            if u64::from(register.index) < index_min {
                return Err(self.corrupt(number, "with indices that do not ascend"));
            }
            index_min = u64::from(register.index) + 1;
        }
        let end = self.len * self.params.word_bits() as usize;
        match self.body.last() {
            Some(last) if !end.is_multiple_of(8) && last << (end % 8) != 0 => {
                Err(self.corrupt(self.len, "with bits behind its last word"))
            }
            _ => Ok(()),
        }
    }

    fn corrupt(self, number: usize, finding: &str) -> Error {
        corrupt(format!("a SPARSE HLL {finding}")).at((value_bit(self.params, number) / 8) as u64)
    }

    pub(super) fn len(self) -> usize {
        self.len
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Register> + use<'a> {
        (0..self.len).map(move |number| self.register(number))
    }

    /// The rank of a register; 0 if it has no word.
    pub(super) fn rank(self, index: u32) -> u8 {
        self.search(index).map_or(0, |number| self.register(number).rank)
    }

    /// Which word has an index, or before which one it belongs.
    pub(super) fn search(self, index: u32) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low.midpoint(high);
            if self.register(middle).index < index {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < self.len && self.register(low).index == index { Ok(low) } else { Err(low) }
    }

    fn register(self, number: usize) -> Register {
        let word = self.word(number);
        let rank = word & (u64::MAX >> (64 - self.params.regwidth()));
        Register { index: (word >> self.params.regwidth()) as u32, rank: rank as u8 }
    }

    fn word(self, number: usize) -> u64 {
        let word_bits = self.params.word_bits();
        bits::get(self.body, number * word_bits as usize, word_bits)
    }
}

/// At which bit of the value the word of this number begins.
fn value_bit(params: Params, number: usize) -> usize {
    8 * HEADER_LEN + number * params.word_bits() as usize
}

fn word(params: Params, register: Register) -> u64 {
    u64::from(register.index) << params.regwidth() | u64::from(register.rank)
}

/// Replaces the word of this number.
pub(super) fn set(value: &mut [u8], params: Params, number: usize, register: Register) {
    bits::set(value, value_bit(params, number), params.word_bits(), word(params, register));
}

/// Inserts a word before the one of this number, of so many.
pub(super) fn insert(value: &mut Vec<u8>, params: Params, number: usize, len: usize, register: Register) {
    let [at, end] = [number, len].map(|number| value_bit(params, number));
    bits::insert(value, at, end, params.word_bits(), word(params, register));
}

/// A value of these registers, in ascending order of their indices.
pub(super) fn encode(params: Params, registers: &[Register]) -> Vec<u8> {
    let mut value = header::write(Kind::Sparse, params).to_vec();
    value.resize(value_bit(params, registers.len()).div_ceil(8), 0);
    for (number, register) in registers.iter().enumerate() {
        set(&mut value, params, number, *register);
    }
    value
}
