//! Keys, whatever their values are.

use hammerspace_store::{Operation, Table};

use super::Context;
use crate::failure::{Failure, Outcome};
use crate::text::{integer, is};
use crate::value::type_name;

pub(super) fn del(context: &mut Context<'_>) -> Outcome {
    let table = context.table()?;
    let mut deleted = 0;
    for key in context.args_from(1) {
        deleted += i64::from(table.delete(key)?);
    }
    context.reply().integer(deleted);
    Ok(())
}

/// How many of the keys are there. One that is given twice counts twice.
pub(super) fn exists(context: &mut Context<'_>) -> Outcome {
    let database = context.database()?;
    let mut found = 0;
    for key in context.args_from(1) {
        let is_there = database.meta(key)?.is_some();
        context.count_lookup(is_there);
        found += i64::from(is_there);
    }
    context.reply().integer(found);
    Ok(())
}

pub(super) fn r#type(context: &mut Context<'_>) -> Outcome {
    let meta = context.database()?.meta(context.arg(1))?;
    context.reply().simple(meta.map_or("none", |meta| type_name(meta.kind)));
    Ok(())
}

pub(super) fn rename(context: &mut Context<'_>) -> Outcome {
    let (source, target) = (context.arg(1), context.arg(2));
    let table = context.table()?;
    move_record(table, source, table, target, Replace::Yes)?.ok_or(Failure::NO_SUCH_KEY)?;
    context.ok();
    Ok(())
}

pub(super) fn renamenx(context: &mut Context<'_>) -> Outcome {
    let (source, target) = (context.arg(1), context.arg(2));
    let table = context.table()?;
    let is_done = move_record(table, source, table, target, Replace::No)?.ok_or(Failure::NO_SUCH_KEY)?;
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn r#move(context: &mut Context<'_>) -> Outcome {
    let (source, target) = (context.table()?, other_table(context, context.arg(2))?);
    if source.name() == target.name() {
        return Err(Failure::of("ERR source and destination objects are the same"));
    }
    let key = context.arg(1);
    let is_done = move_record(source, key, target, key, Replace::No)?.unwrap_or(false);
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn copy(context: &mut Context<'_>) -> Outcome {
    let (source, mut target, mut replace, mut at) = (context.table()?, context.table()?, Replace::No, 3);
    while at < context.count() {
        match context.arg(at) {
            option if is(option, "replace") => replace = Replace::Yes,
            option if is(option, "db") && at + 1 < context.count() => {
                at += 1;
                target = other_table(context, context.arg(at))?;
            }
            _ => return Err(Failure::SYNTAX),
        }
        at += 1;
    }
    let (from, to) = (context.arg(1), context.arg(2));
    if source.name() == target.name() && from == to {
        return Err(Failure::of("ERR source and destination objects are the same"));
    }
    let is_done = copy_record(source, from, target, to, replace)?.unwrap_or(false);
    context.reply().integer(i64::from(is_done));
    Ok(())
}

/// The table that an argument numbers.
fn other_table<'c>(context: &Context<'c>, number: &[u8]) -> Result<&'c Table, Failure> {
    let number = usize::try_from(integer(number)?).ok().filter(|number| *number < context.shared.databases.len());
    let number = number.ok_or(Failure::of("ERR DB index is out of range"))?;
    context.shared.databases.table(number)?.ok_or(Failure::READ_ONLY)
}

/// What becomes of a record that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    Yes,
    No,
}

/// Copies a record, with its kind and expiry, while no other command runs. Says whether there was room for it; `None`
/// where there is no record.
fn copy_record(
    source: &Table,
    from: &[u8],
    target: &Table,
    to: &[u8],
    replace: Replace,
) -> Result<Option<bool>, Failure> {
    let Some(value) = source.get(from)? else { return Ok(None) };
    if replace == Replace::No && target.contains(to)? {
        return Ok(Some(false));
    }
    let put = Operation::Put { kind: value.meta.kind, value: &value, expiry: value.meta.expiry };
    target.apply(to, &put.into())?;
    Ok(Some(true))
}

/// The same, and deletes the record where it was.
fn move_record(
    source: &Table,
    from: &[u8],
    target: &Table,
    to: &[u8],
    replace: Replace,
) -> Result<Option<bool>, Failure> {
    let is_same = source.name() == target.name() && from == to;
    if is_same {
        return Ok(source.contains(from)?.then_some(replace == Replace::Yes));
    }
    let is_done = copy_record(source, from, target, to, replace)?;
    if is_done == Some(true) {
        source.delete(from)?;
    }
    Ok(is_done)
}
