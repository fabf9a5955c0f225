//! HyperLogLog: values of kind `hll`, in the storage format that PostgreSQL's extension reads.
//!
//! An element is hashed as PostgreSQL's `hll_hash_bytea` does. So what clients count, a local reader and
//! PostgreSQL can unite with what they have counted.

use hammerspace_store::hll::{HllBuf, hash};
use hammerspace_store::{Key, ValueKind};

use super::Context;
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::{Change, There};

const NOT_A_COUNT: Failure = Failure::of("WRONGTYPE Key is not a valid HyperLogLog string value.");

/// What a record counts; an empty set where there is none.
fn open(there: Option<There<'_>>, empty: &HllBuf) -> Result<HllBuf, Failure> {
    match there {
        None => Ok(empty.clone()),
        Some(there) if there.meta.kind == ValueKind::Hll => Ok(HllBuf::open(there.bytes.to_vec())?),
        Some(_) => Err(NOT_A_COUNT),
    }
}

/// The change that writes a count; the record keeps its expiry.
fn write<'v>(there: Option<There<'_>>, count: HllBuf) -> Change<'v> {
    let expiry = there.and_then(|there| there.meta.expiry);
    Change::Put { kind: ValueKind::Hll, value: count.into_bytes().into(), expiry }
}

pub(super) fn pfadd(context: &mut Context<'_>) -> Outcome {
    let (key, table) = (context.arg(1), context.table()?);
    let hashes: Vec<u64> = context.args_from(2).map(|element| hash::bytea(element, 0)).collect();
    let empty = HllBuf::new(table.table().hll_params()?);
    let is_changed = table.update(key, |there| {
        let mut count = open(there, &empty)?;
        let is_changed = count.add_many(&hashes) || there.is_none();
        Ok((if is_changed { write(there, count) } else { Change::Keep }, is_changed))
    })?;
    if is_changed {
        context.notify(Class::String, "pfadd", key);
    }
    context.reply().integer(i64::from(is_changed));
    Ok(())
}

/// The union of what keys count.
fn union(context: &Context<'_>, keys: &[&[u8]]) -> Result<HllBuf, Failure> {
    let table = context.table()?;
    let keys: Vec<Key<'_>> = keys.iter().copied().map(Key::Bytes).collect();
    let empty = HllBuf::new(table.table().hll_params()?);
    let (mut union, mut outcome) = (empty.clone(), Ok(()));
    table.read_many(&keys, |found| {
        if outcome.is_ok() {
            let there = found.map(|(meta, bytes)| There { meta, bytes });
            let united = open(there, &empty).and_then(|count| Ok(union.union(&count.as_hll())?));
            outcome = united.map(drop);
        }
    })?;
    outcome.map(|()| union)
}

pub(super) fn pfcount(context: &mut Context<'_>) -> Outcome {
    let keys: Vec<_> = context.args_from(1).collect();
    let estimate = union(context, &keys)?.as_hll().estimate().unwrap_or(0.0);
    context.reply().integer(estimate.round() as i64);
    Ok(())
}

/// The first key counts all of them from now on.
pub(super) fn pfmerge(context: &mut Context<'_>) -> Outcome {
    let keys: Vec<_> = context.args_from(1).collect();
    let united = union(context, &keys)?;
    context.table()?.update(keys[0], |there| {
        let mut count = united.clone();
        if let Some(there) = there {
            count.union(&open(Some(there), &united)?.as_hll())?;
        }
        Ok((write(there, count), ()))
    })?;
    context.notify(Class::String, "pfadd", keys[0]);
    context.ok();
    Ok(())
}
