//! Keys, whatever their values are.

use hammerspace_store::Condition;

use super::Context;
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::Target;
use crate::text::{integer, is};
use crate::value::type_name;

pub(super) fn del(context: &mut Context<'_>) -> Outcome {
    let table = context.table()?;
    let mut deleted = 0;
    for key in context.args_from(1) {
        if table.delete(key)? {
            deleted += 1;
            context.notify(Class::Generic, "del", key);
        }
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
    rename_to(context, Replace::Yes)?;
    context.ok();
    Ok(())
}

pub(super) fn renamenx(context: &mut Context<'_>) -> Outcome {
    let is_done = rename_to(context, Replace::No)?;
    context.reply().integer(i64::from(is_done));
    Ok(())
}

fn rename_to(context: &Context<'_>, replace: Replace) -> Result<bool, Failure> {
    let (from, to, table) = (context.arg(1), context.arg(2), context.table()?);
    let is_done = move_record([table, table], [from, to], replace)?.ok_or(Failure::NO_SUCH_KEY)?;
    if is_done && from != to {
        context.notify(Class::Generic, "rename_from", from);
        context.notify(Class::Generic, "rename_to", to);
    }
    Ok(is_done)
}

pub(super) fn r#move(context: &mut Context<'_>) -> Outcome {
    let (key, number) = (context.arg(1), database_number(context, context.arg(2))?);
    let (source, target) = (context.table()?, context.table_of(number)?);
    if source.is(target) {
        return Err(Failure::of("ERR source and destination objects are the same"));
    }
    let is_done = move_record([source, target], [key, key], Replace::No)?.unwrap_or(false);
    if is_done {
        context.notify(Class::Generic, "move_from", key);
        context.notify_in(number, Class::Generic, "move_to", key);
    }
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn copy(context: &mut Context<'_>) -> Outcome {
    let (mut number, mut replace, mut at) = (context.session.database, Replace::No, 3);
    while at < context.count() {
        match context.arg(at) {
            option if is(option, "replace") => replace = Replace::Yes,
            option if is(option, "db") && at + 1 < context.count() => {
                at += 1;
                number = database_number(context, context.arg(at))?;
            }
            _ => return Err(Failure::SYNTAX),
        }
        at += 1;
    }
    let (source, target) = (context.table()?, context.table_of(number)?);
    let (from, to) = (context.arg(1), context.arg(2));
    if source.is(target) && from == to {
        return Err(Failure::of("ERR source and destination objects are the same"));
    }
    let is_done = copy_record([source, target], [from, to], replace)?.unwrap_or(false);
    if is_done {
        context.notify_in(number, Class::Generic, "copy_to", to);
    }
    context.reply().integer(i64::from(is_done));
    Ok(())
}

/// The database that an argument numbers.
fn database_number(context: &Context<'_>, number: &[u8]) -> Result<usize, Failure> {
    let number = usize::try_from(integer(number)?).ok().filter(|number| *number < context.shared.databases.len());
    number.ok_or(Failure::of("ERR DB index is out of range"))
}

/// What becomes of a record that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    Yes,
    No,
}

/// Copies a record from one table and key to another, with its kind and expiry, while no other command runs.
/// Says whether there was room for it; `None` where there is no record.
fn copy_record(
    [source, target]: [Target<'_>; 2],
    [from, to]: [&[u8]; 2],
    replace: Replace,
) -> Result<Option<bool>, Failure> {
    let mut bytes = Vec::new();
    let Some(meta) = source.read(from, &mut bytes)? else { return Ok(None) };
    let condition = if replace == Replace::Yes { Condition::Always } else { Condition::Absent };
    target.put(to, meta.kind, &bytes, meta.expiry, condition).map(Some)
}

/// The same, and deletes the record where it was.
fn move_record(tables: [Target<'_>; 2], keys: [&[u8]; 2], replace: Replace) -> Result<Option<bool>, Failure> {
    let ([source, target], [from, to]) = (tables, keys);
    if source.is(target) && from == to {
        return Ok(source.meta(from)?.map(|_| replace == Replace::Yes));
    }
    let is_done = copy_record(tables, keys, replace)?;
    if is_done == Some(true) {
        source.delete(from)?;
    }
    Ok(is_done)
}
