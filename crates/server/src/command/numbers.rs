//! Strings that are numbers.
//!
//! A number that is counted with is a record of kind `add`, which is changed where it lies. A string of canonical digits
//! becomes one in the same operation that adds to it.

use std::borrow::Cow;

use hammerspace_error::Kind;
use hammerspace_resp::number;
use hammerspace_store::ValueKind;

use super::Context;
use crate::change::{Change, There, update};
use crate::decimal;
use crate::failure::{Failure, Outcome};
use crate::text::integer;
use crate::value::as_string;

pub(super) fn incr(context: &mut Context<'_>) -> Outcome {
    add(context, 1)
}

pub(super) fn decr(context: &mut Context<'_>) -> Outcome {
    add(context, -1)
}

pub(super) fn incrby(context: &mut Context<'_>) -> Outcome {
    let by = integer(context.arg(2))?;
    add(context, by)
}

pub(super) fn decrby(context: &mut Context<'_>) -> Outcome {
    let by = integer(context.arg(2))?;
    add(context, by.checked_neg().ok_or(Failure::of("ERR decrement would overflow"))?)
}

fn add(context: &mut Context<'_>, by: i64) -> Outcome {
    let (key, table) = (context.arg(1), context.table()?);
    let sum = match table.add(key, by) {
        // It is of another kind, or the sum is beyond 64 bits.
        Err(error) if error.kind() == Kind::Invalid => update(table, key, |there| sum(there, by))?,
        sum => sum?,
    };
    context.reply().integer(sum);
    Ok(())
}

fn sum<'v>(there: Option<There<'_>>, by: i64) -> Result<(Change<'v>, i64), Failure> {
    let number = match there {
        Some(there) => number(&as_string(there.meta, there.bytes)?).ok_or(Failure::NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = number.checked_add(by).ok_or(Failure::OVERFLOW)?;
    let kind = match there.map(|there| there.meta.kind) {
        // Which merge by another rule than addition.
        Some(ValueKind::Min | ValueKind::Max) => return Err(Failure::WRONG_TYPE),
        _ => ValueKind::Add,
    };
    let value = Cow::Owned(sum.to_le_bytes().to_vec());
    Ok((Change::Put { kind, value, expiry: there.and_then(|there| there.meta.expiry) }, sum))
}

pub(super) fn incrbyfloat(context: &mut Context<'_>) -> Outcome {
    let by = context.arg(2);
    let sum = update(context.table()?, context.arg(1), |there| {
        let text = there.map_or(Ok(Cow::Borrowed(&b"0"[..])), |there| as_string(there.meta, there.bytes))?;
        let sum = decimal::add(&text, by)?;
        let expiry = there.and_then(|there| there.meta.expiry);
        Ok((Change::bytes(sum.clone().into_bytes(), expiry), sum))
    })?;
    context.reply().bulk(sum.as_bytes());
    Ok(())
}
