//! Commands of our own, which Redis does not have.
//!
//! | command | does |
//! |---|---|
//! | `HS.VERSION key` | the version of a record, or nothing where there is none |
//! | `HS.CAS key version value` | puts a string if the record has this version (0: is absent); the new one |
//! | `HS.REFRESH` | the number of the version of a space that is current |
//! | `HS.MERGE key kind operand` | merges into a value of any kind: its number then, or its length |

use std::borrow::Cow;

use hammerspace_store::hll::HllBuf;
use hammerspace_store::{Condition, Operation, Request, ValueKind};

use super::Context;
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::{Change, There};
use crate::text::{integer, shown};
use crate::value::as_number;

/// Each command moves a space on, and so does this one, which says where to.
pub(super) fn refresh(context: &mut Context<'_>) -> Outcome {
    match context.database()?.space() {
        Some(space) => match space.snapshot().number() {
            Some(number) => context.reply().integer(number as i64),
            None => context.reply().null(),
        },
        None => return Err(Failure::of("ERR this database is a table, which is always current")),
    }
    Ok(())
}

pub(super) fn version(context: &mut Context<'_>) -> Outcome {
    let meta = context.database()?.meta(context.arg(1))?;
    match meta.and_then(|meta| meta.version) {
        Some(version) => context.reply().integer(version as i64),
        None => context.reply().null(),
    }
    Ok(())
}

pub(super) fn cas(context: &mut Context<'_>) -> Outcome {
    let key = context.arg(1);
    let version = u64::try_from(integer(context.arg(2))?).map_err(|_| Failure::NOT_AN_INTEGER)?;
    let condition = if version == 0 { Condition::Absent } else { Condition::Version(version) };
    let put = Operation::Put { kind: ValueKind::Bytes, value: context.arg(3), expiry: None };
    let reply = context.table()?.table().apply(key, &Request::from(put).when(condition))?;
    match reply.version.filter(|_| reply.is_done) {
        Some(version) => {
            context.notify(Class::String, "set", key);
            context.reply().integer(version as i64);
        }
        None => context.reply().null(),
    }
    Ok(())
}

pub(super) fn merge(context: &mut Context<'_>) -> Outcome {
    let (key, table) = (context.arg(1), context.table()?);
    let kind: ValueKind = shown(&context.arg(2).to_ascii_lowercase()).parse()?;
    let operand = match kind {
        kind if kind.is_number() => Cow::Owned(integer(context.arg(3))?.to_le_bytes().to_vec()),
        _ => Cow::Borrowed(context.arg(3)),
    };
    let (number, len) = match table.merge(key, kind, &operand)? {
        Some(merged) => (merged.number, merged.len),
        // A part of a transaction, or refused below.
        None => table.update(key, |there| merged(there, kind, &operand))?,
    };
    context.notify(Class::String, "hs.merge", key);
    context.reply().integer(number.unwrap_or(len as i64));
    Ok(())
}

/// What merging an operand gives, with the number or the length that there is then. The rules are those of
/// the store.
fn merged<'v>(
    there: Option<There<'_>>,
    kind: ValueKind,
    operand: &[u8],
) -> Result<(Change<'v>, (Option<i64>, u64)), Failure> {
    if there.is_some_and(|there| there.meta.kind != kind && kind != ValueKind::Bytes) {
        return Err(Failure::WRONG_TYPE);
    }
    let old = there.map(|there| there.bytes);
    let expiry = there.and_then(|there| there.meta.expiry).filter(|_| kind != ValueKind::Bytes);
    let value = match (kind, old) {
        (ValueKind::Append, Some(old)) => [old, operand].concat(),
        (ValueKind::Hll, old) => {
            let mut count = HllBuf::open(operand.to_vec())?;
            if let Some(old) = old {
                count.union(&HllBuf::open(old.to_vec())?.as_hll())?;
            }
            count.into_bytes()
        }
        (_, Some(old)) if kind.is_number() => combined(kind, old, operand)?.to_le_bytes().to_vec(),
        _ => operand.to_vec(),
    };
    let told = (as_number(kind, &value), value.len() as u64);
    Ok((Change::Put { kind, value: value.into(), expiry }, told))
}

fn combined(kind: ValueKind, old: &[u8], operand: &[u8]) -> Result<i64, Failure> {
    let (Some(old), Some(operand)) = (as_number(kind, old), as_number(kind, operand)) else {
        return Err(Failure::WRONG_TYPE);
    };
    match kind {
        ValueKind::Min => Ok(old.min(operand)),
        ValueKind::Max => Ok(old.max(operand)),
        _ => old.checked_add(operand).ok_or(Failure::OVERFLOW),
    }
}
