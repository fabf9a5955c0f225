//! Expressions evaluated piece by piece.

use std::borrow::Cow;

use hammerspace_error::Result;
use roaring::RoaringBitmap;

use super::{Expression, Operator};

/// Where the pieces of named sets come from.
pub trait Source {
    /// The numbers of the pieces that a set has, each at most `u16::MAX`. An error if there is no such set.
    fn numbers(&self, name: &str) -> Result<RoaringBitmap>;

    /// A piece: the ordinals whose upper 16 bits are its number. Empty if the set has none of that number.
    fn piece(&self, name: &str, number: u16) -> Result<Cow<'_, RoaringBitmap>>;
}

/// How many ordinals an expression comes to. What its outermost operator makes is counted, not built.
pub fn count(expression: &Expression, source: &impl Source) -> Result<u64> {
    let numbers = numbers(expression, source)?;
    numbers.iter().try_fold(0, |count, number| Ok(count + count_piece(expression, source, number as u16)?))
}

/// The pieces of what an expression comes to, in ascending order, but for those that are empty.
pub fn pieces<S: Source>(expression: &Expression, source: &S) -> Result<impl Iterator<Item = Result<RoaringBitmap>>> {
    let numbers = numbers(expression, source)?;
    let pieces = numbers.into_iter().map(|number| Ok(piece(expression, source, number as u16)?.into_owned()));
    Ok(pieces.filter(|piece| piece.as_ref().map_or(true, |piece| !piece.is_empty())))
}

/// The numbers of the pieces that can have ordinals.
fn numbers(expression: &Expression, source: &impl Source) -> Result<RoaringBitmap> {
    let (operator, sides) = match expression {
        Expression::Name(name) => return source.numbers(name),
        Expression::Operation(operator, sides) => (operator, sides),
    };
    let (left, right) = (numbers(&sides[0], source)?, numbers(&sides[1], source)?);
    Ok(match operator {
        Operator::Union | Operator::SymmetricDifference => left | right,
        Operator::Intersection => left & right,
        Operator::Difference => left,
    })
}

fn piece<'a>(expression: &Expression, source: &'a impl Source, number: u16) -> Result<Cow<'a, RoaringBitmap>> {
    let (operator, sides) = match expression {
        Expression::Name(name) => return source.piece(name, number),
        Expression::Operation(operator, sides) => (operator, sides),
    };
    let (left, right) = (piece(&sides[0], source, number)?.into_owned(), piece(&sides[1], source, number)?);
    Ok(Cow::Owned(match operator {
        Operator::Union => left | &*right,
        Operator::SymmetricDifference => left ^ &*right,
        Operator::Intersection => left & &*right,
        Operator::Difference => left - &*right,
    }))
}

fn count_piece(expression: &Expression, source: &impl Source, number: u16) -> Result<u64> {
    let (operator, sides) = match expression {
        Expression::Name(name) => return Ok(source.piece(name, number)?.len()),
        Expression::Operation(operator, sides) => (operator, sides),
    };
    let (left, right) = (piece(&sides[0], source, number)?, piece(&sides[1], source, number)?);
    Ok(match operator {
        Operator::Union => left.union_len(&right),
        Operator::SymmetricDifference => left.symmetric_difference_len(&right),
        Operator::Intersection => left.intersection_len(&right),
        Operator::Difference => left.difference_len(&right),
    })
}
