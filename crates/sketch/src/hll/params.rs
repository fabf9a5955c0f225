//! The four parameters of a value, under PostgreSQL's names, and the arithmetic that follows from them.

use hammerspace_error::{Error, Kind, Result};

use super::Register;
use super::header::corrupt;

/// How many registers, how wide, and when a value is written in which way.
///
/// Values are united if `log2m` and `regwidth` are equal; `expthresh` and `sparseon` say how content is
/// stored, not what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    log2m: u8,
    regwidth: u8,
    /// As the header has it: 0 for no list, c for 2^(c-1) elements, 63 for as many as fit.
    cutoff: u8,
    sparseon: bool,
}

/// The cutoff that lets a list grow to the size of the registers.
const AUTOMATIC: u8 = 63;
/// The largest cutoff that stands for a number.
const CUTOFF_MAX: u8 = 31;

impl Default for Params {
    /// PostgreSQL's: 2,048 registers of 5 bits (a relative error of 2.3 %), automatic lists, SPARSE allowed.
    fn default() -> Self {
        Self { log2m: 11, regwidth: 5, cutoff: AUTOMATIC, sparseon: true }
    }
}

impl Params {
    /// The arguments of PostgreSQL's `hll_empty`: `log2m` from 4 to 31, `regwidth` from 1 to 8; `expthresh`
    /// -1 (automatic), 0 (no lists) or a power of two up to 2^30. `Invalid` otherwise.
    ///
    /// PostgreSQL itself takes a `log2m` of 17 and a `regwidth` of 7 at most, java-hll a `log2m` of 30.
    pub fn new(log2m: u32, regwidth: u32, expthresh: i64, sparseon: bool) -> Result<Self> {
        let cutoff = match expthresh {
            -1 => AUTOMATIC,
            0 => 0,
            1..=0x4000_0000 if expthresh.count_ones() == 1 => 1 + expthresh.trailing_zeros() as u8,
            _ => return Err(invalid("expthresh", expthresh, "-1, 0 or a power of two up to 2^30")),
        };
        if !(4..=31).contains(&log2m) {
            return Err(invalid("log2m", log2m, "a number from 4 to 31"));
        }
        if !(1..=8).contains(&regwidth) {
            return Err(invalid("regwidth", regwidth, "a number from 1 to 8"));
        }
        Ok(Self { log2m: log2m as u8, regwidth: regwidth as u8, cutoff, sparseon })
    }

    /// Two bytes: 1 and 2 of the header of a value with these parameters.
    pub fn to_bytes(self) -> [u8; 2] {
        [(self.regwidth - 1) << 5 | self.log2m, u8::from(self.sparseon) << 6 | self.cutoff]
    }

    /// The parameters that [`to_bytes`](Self::to_bytes) wrote. `Corrupt`, with the offset in a header, if no
    /// parameters are written so.
    pub fn from_bytes([size, storage]: [u8; 2]) -> Result<Self> {
        let (log2m, cutoff) = (size & 0x1f, storage & 0x3f);
        if log2m < 4 {
            return Err(corrupt(format!("an HLL with a log2m of {log2m}; the least is 4")).at(1));
        }
        if cutoff > CUTOFF_MAX && cutoff != AUTOMATIC {
            let finding = format!("an HLL with a cutoff of {cutoff}; it is 0 to {CUTOFF_MAX}, or {AUTOMATIC}");
            return Err(corrupt(finding).at(2));
        }
        Ok(Self { log2m, regwidth: 1 + (size >> 5), cutoff, sparseon: storage & 0x40 != 0 })
    }

    /// The logarithm of the number of registers.
    pub fn log2m(self) -> u32 {
        self.log2m.into()
    }

    /// Bits of a register.
    pub fn regwidth(self) -> u32 {
        self.regwidth.into()
    }

    /// -1 if the limit of lists is automatic, otherwise the limit.
    pub fn expthresh(self) -> i64 {
        match self.cutoff {
            AUTOMATIC => -1,
            0 => 0,
            cutoff => 1 << (cutoff - 1),
        }
    }

    /// Whether registers are written SPARSE while that is shorter.
    pub fn sparseon(self) -> bool {
        self.sparseon
    }

    /// The number of registers.
    pub fn register_count(self) -> u64 {
        1 << self.log2m
    }

    /// How many hashes a list holds at most. An automatic one takes no more room than the registers would.
    pub fn explicit_max(self) -> u64 {
        match self.cutoff {
            AUTOMATIC => self.full_body_len() / 8,
            _ => self.expthresh().unsigned_abs(),
        }
    }

    /// The length of a FULL value, which no other way of writing the same set exceeds, a list of a chosen
    /// limit excepted.
    pub fn full_len(self) -> u64 {
        super::HEADER_LEN as u64 + self.full_body_len()
    }

    /// The standard error of an estimate, relative to the number of elements: 1.04 / sqrt(m).
    pub fn relative_error(self) -> f64 {
        1.04 / self.m().sqrt()
    }

    /// The number of registers, to calculate with.
    pub(super) fn m(self) -> f64 {
        f64::from(self.log2m).exp2()
    }

    /// There are at least 16 registers, so they fill their bytes.
    pub(super) fn full_body_len(self) -> u64 {
        self.register_count() * u64::from(self.regwidth) / 8
    }

    /// The highest rank of a register.
    #[inline]
    pub(super) fn rank_max(self) -> u8 {
        u8::MAX >> (8 - self.regwidth)
    }

    /// Bits of a word in a SPARSE value: at most 39.
    pub(super) fn word_bits(self) -> u32 {
        self.log2m() + self.regwidth()
    }

    /// PostgreSQL's rule for so many registers that are not zero: SPARSE while that takes fewer bits than
    /// FULL.
    pub(super) fn is_sparse(self, count: u64) -> bool {
        self.sparseon && count * u64::from(self.word_bits()) < self.register_count() * u64::from(self.regwidth)
    }

    /// Whether sets of these and of other parameters can be united: `Invalid` if `log2m` or `regwidth` differ.
    pub fn check_unites(self, other: Self) -> Result<()> {
        if (self.log2m, self.regwidth) == (other.log2m, other.regwidth) {
            return Ok(());
        }
        let [ours, theirs] = [self, other].map(|of| format!("log2m {} and regwidth {}", of.log2m, of.regwidth));
        Err(Error::new(Kind::Invalid, format!("an HLL of {theirs} cannot be united with one of {ours}"))
            .remedy("count both with the same log2m and regwidth"))
    }

    /// Which register a hash raises to at least which rank. `None` for one hash in 2^(64 - log2m), which
    /// raises none.
    #[inline]
    pub(super) fn register(self, hash: u64) -> Option<Register> {
        let rest = hash >> self.log2m;
        let rank = (1 + rest.trailing_zeros() as u8).min(self.rank_max());
        let index = (hash & (self.register_count() - 1)) as u32;
        (rest != 0).then_some(Register { index, rank })
    }

    /// The registers that these hashes raise, in ascending order of their indices.
    pub(super) fn registers_of(self, hashes: impl Iterator<Item = u64>) -> Vec<Register> {
        merged(hashes.filter_map(|hash| self.register(hash)).collect())
    }
}

/// Sorts by index, and keeps the highest rank of each.
pub(super) fn merged(mut registers: Vec<Register>) -> Vec<Register> {
    registers.sort();
    registers.dedup_by(|next, kept| {
        let is_same = next.index == kept.index;
        if is_same {
            *kept = *next;
        }
        is_same
    });
    registers
}

fn invalid(name: &str, value: impl std::fmt::Display, wanted: &str) -> Error {
    Error::new(Kind::Invalid, format!("{value} is no {name} of an HLL")).remedy(format!("choose {wanted}"))
}
