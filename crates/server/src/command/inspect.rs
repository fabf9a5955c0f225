//! What records take, and which requests took long.

use hammerspace_resp::number;
use hammerspace_store::ValueKind;

use super::Context;
use crate::failure::{Failure, Outcome};
use crate::text::{integer, is};
use crate::value::as_string;

/// Bytes of a record's header and of its slot in the index, beside key and value.
const OVERHEAD: usize = 32;
/// The longest string that Redis keeps beside its header.
const EMBEDDED_LEN_MAX: usize = 44;
const BAD_COUNT: Failure = Failure::of("ERR count should be greater than or equal to -1");
/// Requests that `SLOWLOG GET` gives by default.
const SLOW: i64 = 10;

/// How Redis would keep such a string.
pub(super) fn encoding(context: &mut Context<'_>) -> Outcome {
    let Some((meta, bytes)) = context.read(context.arg(2))? else {
        context.reply().null();
        return Ok(());
    };
    let text = as_string(meta, &bytes)?;
    let encoding = match meta.kind {
        ValueKind::Append | ValueKind::Hll => "raw",
        _ if number(&text).is_some() => "int",
        _ if text.len() <= EMBEDDED_LEN_MAX => "embstr",
        _ => "raw",
    };
    context.reply().bulk(encoding.as_bytes());
    Ok(())
}

/// Nothing refers to a record but its key.
pub(super) fn refcount(context: &mut Context<'_>) -> Outcome {
    match context.database()?.meta(context.arg(2))? {
        Some(_) => context.reply().integer(1),
        None => context.reply().null(),
    }
    Ok(())
}

/// About how many bytes of the store's memory a record takes.
pub(super) fn usage(context: &mut Context<'_>) -> Outcome {
    match (context.count(), context.arg(3)) {
        (3, _) => {}
        (5, option) if is(option, "samples") => drop(integer(context.arg(4))?),
        _ => return Err(Failure::SYNTAX),
    }
    let key = context.arg(2);
    match context.read(key)? {
        Some((_, bytes)) => {
            let len = OVERHEAD + (key.len() + bytes.len()).next_multiple_of(8);
            context.reply().integer(len as i64);
        }
        None => context.reply().null(),
    }
    Ok(())
}

pub(super) fn slowlog_get(context: &mut Context<'_>) -> Outcome {
    let count = match (context.count(), context.arg(2)) {
        (2, _) => SLOW,
        (3, count) => number(count).filter(|count| *count >= -1).ok_or(BAD_COUNT)?,
        _ => return Err(Failure::SYNTAX),
    };
    let entries = context.shared.slow_log.newest(usize::try_from(count).unwrap_or(usize::MAX));
    let mut reply = context.reply();
    reply.array(entries.len());
    for entry in entries {
        reply.array(6);
        for number in [entry.id, entry.at, entry.micros] {
            reply.integer(number as i64);
        }
        reply.array(entry.args.len());
        for arg in &entry.args {
            reply.bulk(arg);
        }
        reply.bulk(entry.addr.as_bytes());
        reply.bulk(entry.name.as_bytes());
    }
    Ok(())
}

pub(super) fn slowlog_len(context: &mut Context<'_>) -> Outcome {
    let len = context.shared.slow_log.len();
    context.reply().integer(len as i64);
    Ok(())
}

pub(super) fn slowlog_reset(context: &mut Context<'_>) -> Outcome {
    context.shared.slow_log.clear();
    context.ok();
    Ok(())
}
