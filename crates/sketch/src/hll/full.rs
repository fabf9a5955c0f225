//! The body of a FULL value: the ranks of all registers, of `regwidth` bits each.
//!
//! Eight registers fill `regwidth` bytes, and there are 16 or more of them. So loops go over groups of eight,
//! and load a group as one number:
//!
//! ```text
//! width 5:   | 0 0 0 | r0 r1 r2 r3 r4 r5 r6 r7 |      40 bits of a u64
//! ```

use hammerspace_error::Result;

use super::header::{self, HEADER_LEN, corrupt};
use super::{Kind, Params, Register, bits};

/// How many registers have each rank.
pub(super) type Histogram = [u32; 256];

/// All registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full<'a> {
    body: &'a [u8],
    params: Params,
}

/// Calls a function that is generic over the width, for the width that a value has.
macro_rules! for_width {
    ($params:expr, $function:ident($($argument:expr),*)) => {
        match $params.regwidth() {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            _ => $function::<8>($($argument),*),
        }
    };
}

impl<'a> Full<'a> {
    pub(super) fn open(body: &'a [u8], params: Params) -> Result<Self> {
        if body.len() as u64 == params.full_body_len() {
            return Ok(Self { body, params });
        }
        let len = HEADER_LEN + body.len();
        let finding = format!("a FULL HLL of {len} bytes; with its parameters it has {}", params.full_len());
        Err(corrupt(finding).at((len as u64).min(params.full_len())))
    }

    pub(super) fn body(self) -> &'a [u8] {
        self.body
    }

    /// The rank of a register.
    #[inline]
    pub(super) fn rank(self, index: u32) -> u8 {
        let width = self.params.regwidth();
        bits::get(self.body, index as usize * width as usize, width) as u8
    }

    /// The registers that are not zero.
    pub(super) fn iter(self) -> impl Iterator<Item = Register> + use<'a> {
        let count = self.params.register_count() as u32;
        (0..count).map(move |index| Register { index, rank: self.rank(index) }).filter(|register| register.rank > 0)
    }

    pub(super) fn histogram(self) -> Histogram {
        for_width!(self.params, histogram(self.body))
    }
}

/// A value of these registers; the others are zero.
pub(super) fn encode(params: Params, registers: &[Register]) -> Vec<u8> {
    let mut value = header::write(Kind::Full, params).to_vec();
    value.resize(params.full_len() as usize, 0);
    for register in registers {
        raise(&mut value, params, *register);
    }
    value
}

/// Raises one register of a value to at least a rank, in place. Whether that changed it.
#[inline]
pub(super) fn raise(value: &mut [u8], params: Params, register: Register) -> bool {
    let width = params.regwidth();
    let at = 8 * HEADER_LEN + register.index as usize * width as usize;
    let is_higher = bits::get(value, at, width) < register.rank.into();
    if is_higher {
        bits::set(value, at, width, register.rank.into());
    }
    is_higher
}

/// Raises all registers of a value to at least those of another, in place. Whether that changed one.
pub(super) fn raise_all(value: &mut [u8], other: Full) -> bool {
    for_width!(other.params, raise_groups(&mut value[HEADER_LEN..], other.body))
}

fn raise_groups<const W: usize>(body: &mut [u8], other: &[u8]) -> bool {
    let mut changed = 0;
    for (group, other) in body.as_chunks_mut::<W>().0.iter_mut().zip(other.as_chunks::<W>().0) {
        let before = load(group);
        let after = max_of_group::<W>(before, load(other));
        changed |= before ^ after;
        store(group, after);
    }
    changed != 0
}

/// The greater of each two of eight registers. Four at a time, so that the lane beside each has room for a
/// borrow.
#[inline]
fn max_of_group<const W: usize>(left: u64, right: u64) -> u64 {
    let lanes = lanes(W, u64::MAX >> (64 - W));
    let even = max_of_lanes::<W>(left & lanes, right & lanes);
    let odd = max_of_lanes::<W>(left >> W & lanes, right >> W & lanes);
    odd << W | even
}

#[inline]
fn max_of_lanes<const W: usize>(left: u64, right: u64) -> u64 {
    let borrows = lanes(W, 1 << W);
    // A borrow that is still there says that its left lane is not less.
    let kept = ((left | borrows) - right) & borrows;
    let is_left = kept - (kept >> W);
    left & is_left | right & !is_left
}

/// The same bits in every second of eight lanes.
const fn lanes(width: usize, bits: u64) -> u64 {
    bits | bits << (2 * width) | bits << (4 * width) | bits << (6 * width)
}

fn histogram<const W: usize>(body: &[u8]) -> Histogram {
    // Neighbours often have one rank. Four tables keep an increment from waiting for the one before it.
    let mut tables = [[0_u32; 256]; 4];
    for group in body.as_chunks::<W>().0 {
        let group = load(group);
        for lane in 0..8 {
            let rank = (group >> (lane * W)) as u8 & (u8::MAX >> (8 - W));
            tables[lane % 4][usize::from(rank)] += 1;
        }
    }
    let mut sum = tables[0];
    for table in &tables[1..] {
        sum.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    sum
}

#[inline]
fn load<const W: usize>(group: &[u8; W]) -> u64 {
    let mut number = [0; 8];
    number[8 - W..].copy_from_slice(group);
    u64::from_be_bytes(number)
}

#[inline]
fn store<const W: usize>(group: &mut [u8; W], number: u64) {
    group.copy_from_slice(&number.to_be_bytes()[8 - W..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_of_each_two_registers_is_kept_at_every_width() {
        let mut rng = fastrand::Rng::with_seed(3);
        for round in 0..4000 {
            let params = Params::new(4, 1 + round % 8, -1, false).unwrap();
            let body =
                |rng: &mut fastrand::Rng| -> Vec<u8> { (0..2 * params.regwidth()).map(|_| rng.u8(..)).collect() };
            let (left, right) = (body(&mut rng), body(&mut rng));
            let ranks = |body: &[u8]| (0..16).map(|index| Full { body, params }.rank(index)).collect::<Vec<_>>();
            let expected: Vec<u8> = ranks(&left).into_iter().zip(ranks(&right)).map(|(a, b)| a.max(b)).collect();

            let mut value = [&[0; HEADER_LEN][..], &left].concat();
            let changed = raise_all(&mut value, Full { body: &right, params });
            assert_eq!(ranks(&value[HEADER_LEN..]), expected, "{left:?} and {right:?}");
            assert_eq!(changed, value[HEADER_LEN..] != left);

            let mut counts = [0; 256];
            for rank in ranks(&left) {
                counts[usize::from(rank)] += 1;
            }
            assert_eq!(Full { body: &left, params }.histogram(), counts);
        }
    }
}
