//! What a value is, and how such values merge: one row for each kind, and nothing about kinds anywhere else.
//!
//! | code | kind | a value is | merging an operand gives |
//! |---:|---|---|---|
//! | 0 | bytes | any bytes | the operand |
//! | 1 | append | any bytes | the value, then the operand |
//! | 2 | add | a number | their sum; beyond 64 bits, an error |
//! | 3 | min | a number | the lesser |
//! | 4 | max | a number | the greater |
//! | 5 | hll | a HyperLogLog | the union of both |
//! | 6 | set | a piece of an exact set | the ordinals of the value with, or without, those of the operand |
//!
//! A number is an `i64` in eight little-endian bytes. A HyperLogLog has the format of `docs/format/hll.md`, a
//! piece that of `docs/format/sets.md`. Codes have 6 bits; those from 7 on are free for kinds to come. A
//! build that does not know a record's kind reads it as bytes, and leaves it to others to merge.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_memory::Present;
use hammerspace_sketch::hll::{Hll, Params};

use crate::{counting, piece};

/// What a value is, and so how another is merged into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Any bytes. Merging replaces them.
    #[default]
    Bytes,
    /// Any bytes. Merging appends.
    Append,
    /// A number. Merging adds, and refuses a sum beyond 64 bits.
    Add,
    /// A number. Merging keeps the lesser.
    Min,
    /// A number. Merging keeps the greater.
    Max,
    /// A [HyperLogLog](crate::hll), which counts distinct elements. Merging unites, and refuses one of
    /// another `log2m` or `regwidth`.
    Hll,
    /// A piece of an exact set ([`Sets`](crate::Sets)). Merging adds ordinals or removes some, and refuses
    /// those of another universe.
    Set,
    /// One that this build does not know, by its code: any bytes, to be read, replaced by another kind, and
    /// deleted.
    Other(u8),
}

/// How values of a kind merge.
#[derive(Clone, Copy)]
enum Rule {
    /// The newer counts.
    Replace,
    /// The newer follows the older.
    Append,
    /// Numbers become one number, if there is one.
    Number(fn(i64, i64) -> Option<i64>),
    /// Sets that are counted become their union.
    Hll,
    /// Ordinals come and go.
    Set,
    /// No rule that this build knows.
    Unknown,
}

/// What merging an operand into a value gives.
pub(crate) enum Folded<'o> {
    /// The value as it is; the number that it is, if it is one.
    Keep(Option<i64>),
    /// These bytes.
    Replace(&'o [u8]),
    /// The value, and these bytes behind it.
    Append(&'o [u8]),
    /// This number.
    Number(i64),
    /// These bytes, which are new.
    New(Vec<u8>),
    /// A number beyond 64 bits.
    Overflow,
    /// Nothing: the HyperLogLog there has other parameters, these.
    Unlike(Params),
    /// No value.
    Delete,
    /// Nothing: the piece there is of another universe.
    OtherUniverse,
    /// Nothing: the value there cannot be read.
    Damaged,
}

impl ValueKind {
    /// Every kind that this build knows, in the order of their codes.
    pub const ALL: [Self; 7] = [Self::Bytes, Self::Append, Self::Add, Self::Min, Self::Max, Self::Hll, Self::Set];

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Bytes => 0,
            Self::Append => 1,
            Self::Add => 2,
            Self::Min => 3,
            Self::Max => 4,
            Self::Hll => 5,
            Self::Set => 6,
            Self::Other(code) => code,
        }
    }

    /// The kind that a record says it is of.
    #[inline]
    pub(crate) fn of(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Other(code))
    }

    /// The kind's name as people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Append => "append",
            Self::Add => "add",
            Self::Min => "min",
            Self::Max => "max",
            Self::Hll => "hll",
            Self::Set => "set",
            Self::Other(_) => "other",
        }
    }

    #[inline]
    fn rule(self) -> Rule {
        match self {
            Self::Bytes => Rule::Replace,
            Self::Append => Rule::Append,
            Self::Add => Rule::Number(i64::checked_add),
            Self::Min => Rule::Number(|old, new| Some(old.min(new))),
            Self::Max => Rule::Number(|old, new| Some(old.max(new))),
            Self::Hll => Rule::Hll,
            Self::Set => Rule::Set,
            Self::Other(_) => Rule::Unknown,
        }
    }

    /// Whether values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self.rule(), Rule::Number(_))
    }

    /// Refuses what no value of this kind can be.
    pub(crate) fn check(self, value: &[u8]) -> Result<()> {
        match self.rule() {
            Rule::Number(_) => number_of(self, value).map(drop),
            Rule::Hll => Hll::parse(value).map(drop),
            Rule::Set => piece::check(value),
            Rule::Unknown => Err(self.unknown()),
            Rule::Replace | Rule::Append => Ok(()),
        }
    }

    /// Merges an operand, which [`check`](Self::check) has accepted, into a value of this kind, or into none.
    #[inline]
    pub(crate) fn fold<'o>(self, old: Option<&(impl Present + ?Sized)>, operand: &'o [u8]) -> Folded<'o> {
        match self.rule() {
            Rule::Replace => Folded::Replace(operand),
            Rule::Append => Folded::Append(operand),
            Rule::Number(combine) => fold_number(old, operand, combine),
            Rule::Hll => counting::fold(old, operand),
            Rule::Set => piece::fold(old, operand),
            Rule::Unknown => unreachable!("refused by `check`"),
        }
    }

    /// A value that [`check`](Self::check) has accepted, as records of this kind have it.
    #[inline]
    pub(crate) fn canonical(self, value: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::Hll { counting::canonical(value).into() } else { value.into() }
    }

    /// A value of this kind, for people.
    pub(crate) fn show(self, value: &[u8]) -> String {
        number_of(self, value).map_or_else(|_| format!("{} bytes", value.len()), |number| number.to_string())
    }

    #[cold]
    pub(crate) fn unknown(self) -> Error {
        Error::new(Kind::Unsupported, format!("values of kind {} are beyond this build", self.code()))
            .remedy("use a build that knows it")
    }

    /// Says that a value is of `there`, where this kind was to be merged into it.
    #[cold]
    pub(crate) fn refused_by(self, there: u8) -> Error {
        let there = Self::of(there);
        if let Self::Other(_) = there {
            return there.unknown();
        }
        let error = Error::new(Kind::Invalid, format!("{self} cannot be merged into a value of kind {there}"));
        error.remedy(format!("merge it as {there}, or put a value of kind {self} first"))
    }
}

#[inline]
fn fold_number<'o>(
    old: Option<&(impl Present + ?Sized)>,
    operand: &[u8],
    combine: fn(i64, i64) -> Option<i64>,
) -> Folded<'o> {
    let Some(operand) = as_number(operand) else { return Folded::Damaged };
    let there = match old {
        Some(old) => match old.word() {
            Some(word) => word.cast_signed(),
            None => return Folded::Damaged,
        },
        None => return Folded::Number(operand),
    };
    match combine(there, operand) {
        Some(number) if number == there => Folded::Keep(Some(number)),
        Some(number) => Folded::Number(number),
        None => Folded::Overflow,
    }
}

#[inline]
fn as_number(value: &[u8]) -> Option<i64> {
    value.try_into().ok().map(i64::from_le_bytes)
}

/// A number as values hold it.
pub(crate) fn number_of(kind: ValueKind, value: &[u8]) -> Result<i64> {
    as_number(value).ok_or_else(|| {
        let error = Error::new(Kind::Invalid, format!("{} bytes are no value of kind {kind}", value.len()));
        error.remedy("give a number of 64 bits, in eight little-endian bytes")
    })
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ValueKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let error = Error::new(Kind::Invalid, format!("there is no kind {name:?}"));
            error.remedy(format!("choose one of {}", Self::ALL.map(Self::name).join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_names_its_kind_and_the_table_above_says_so() {
        let page = include_str!("kind.rs");
        for kind in ValueKind::ALL {
            assert_eq!(ValueKind::of(kind.code()), kind);
            assert_eq!(kind.name().parse::<ValueKind>().unwrap(), kind);
            assert!(page.contains(&format!("//! | {} | {kind} |", kind.code())), "{kind}");
        }
        assert_eq!((ValueKind::of(7), ValueKind::of(7).code()), (ValueKind::Other(7), 7));
        assert_eq!(ValueKind::Other(7).check(b"any").unwrap_err().kind(), Kind::Unsupported);
        assert_eq!("sum".parse::<ValueKind>().unwrap_err().kind(), Kind::Invalid);
    }

    #[test]
    fn numbers_have_eight_bytes() {
        assert!(ValueKind::Bytes.check(b"any").is_ok() && ValueKind::Append.check(b"any").is_ok());
        assert!(ValueKind::Min.check(&7_i64.to_le_bytes()).is_ok());
        assert_eq!(ValueKind::Add.check(b"7").unwrap_err().kind(), Kind::Invalid);
    }
}
