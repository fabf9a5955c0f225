//! Strings that are numbers.
//!
//! A number that is counted with is a record of kind `add`, which is changed where it lies. A string of
//! canonical digits becomes one in the same operation that adds to it.

use std::borrow::Cow;

use hammerspace_resp::number;
use hammerspace_store::ValueKind;

use super::Context;
use crate::decimal;
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::{Change, There};
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
    let merged = table.merge(key, ValueKind::Add, &by.to_le_bytes())?;
    let sum = match merged.and_then(|merged| merged.number) {
        Some(sum) => sum,
        // It is of another kind, or the sum is beyond 64 bits.
        None => table.update(key, |there| sum(there, by))?,
    };
    let event = if context.command.name.starts_with("decr") { "decrby" } else { "incrby" };
    context.notify(Class::String, event, key);
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
    let (key, by) = (context.arg(1), context.arg(2));
    let sum = context.table()?.update(key, |there| {
        let text = there.map_or(Ok(Cow::Borrowed(&b"0"[..])), |there| as_string(there.meta, there.bytes))?;
        let sum = decimal::add(&text, by)?;
        let expiry = there.and_then(|there| there.meta.expiry);
        Ok((Change::bytes(sum.clone().into_bytes(), expiry), sum))
    })?;
    context.notify(Class::String, "incrbyfloat", key);
    context.reply().bulk(sum.as_bytes());
    Ok(())
}
