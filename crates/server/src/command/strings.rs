//! Strings. A value of any kind of number is a string to a client: its digits.

use std::borrow::Cow;
use std::time::SystemTime;

use hammerspace_resp::number;
use hammerspace_store::{Condition, Key, ValueKind};

use super::Context;
use crate::clock::{at_millis, now_millis};
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::{Change, There};
use crate::text::{integer, is};
use crate::value::as_string;

pub(super) fn get(context: &mut Context<'_>) -> Outcome {
    let value = context.read_string(context.arg(1))?;
    context.reply_optional(value.as_deref());
    Ok(())
}

pub(super) fn strlen(context: &mut Context<'_>) -> Outcome {
    let value = context.read_string(context.arg(1))?;
    context.reply().integer(value.map_or(0, |value| value.len()) as i64);
    Ok(())
}

pub(super) fn getrange(context: &mut Context<'_>) -> Outcome {
    let (start, end) = (integer(context.arg(2))?, integer(context.arg(3))?);
    let value = context.read_string(context.arg(1))?.unwrap_or_default();
    context.reply().bulk(part(&value, start, end));
    Ok(())
}

/// The bytes from one place to another, both included; a negative place counts from the end.
fn part(value: &[u8], start: i64, end: i64) -> &[u8] {
    let len = value.len() as i64;
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let place = |at: i64| if at < 0 { (len + at).max(0) } else { at };
    let (start, end) = (place(start), place(end).min(len - 1));
    if start > end { &[] } else { &value[start as usize..=end as usize] }
}

pub(super) fn mget(context: &mut Context<'_>) -> Outcome {
    let keys: Vec<Key<'_>> = context.args_from(1).map(Key::Bytes).collect();
    let database = context.database()?;
    let limit = context.shared.config.output_len_max();
    context.reply().array(keys.len());
    let (mut encoder, mut len, mut hits) = (context.reply(), 0, 0);
    database.read_many(&keys, |found| {
        hits += u64::from(found.is_some());
        let text = found.and_then(|(meta, bytes)| as_string(meta, bytes).ok());
        len += text.as_ref().map_or(0, |text| text.len());
        match text {
            // Refused below.
            _ if len > limit => {}
            Some(text) => encoder.bulk(&text),
            None => encoder.null(),
        }
    })?;
    context.shared.stats.lane(context.lane).count_lookups(hits, keys.len() as u64 - hits);
    if len > limit {
        return Err(Failure::of("ERR the reply is longer than hs-output-limit; ask for less at a time"));
    }
    Ok(())
}

/// When a record ends, as the options of a command say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expiry {
    /// Nothing was said.
    #[default]
    Unsaid,
    At(SystemTime),
    Keep,
}

/// An instant by an option: `EX` and `PX` count from now, `EXAT` and `PXAT` from 1970.
fn instant(option: &[u8], value: &[u8], command: &str) -> Result<Option<SystemTime>, Failure> {
    let (unit, base) = match option.to_ascii_lowercase().as_slice() {
        b"ex" => (1000, now_millis()),
        b"px" => (1, now_millis()),
        b"exat" => (1000, 0),
        b"pxat" => (1, 0),
        _ => return Ok(None),
    };
    let number = integer(value)?;
    let millis = number.checked_mul(unit).filter(|_| number > 0).and_then(|millis| millis.checked_add(base));
    let invalid = || Failure::new(format!("ERR invalid expire time in '{command}' command"));
    millis.map(at_millis).map(Some).ok_or_else(invalid)
}

/// The options of `SET`.
#[derive(Debug, Default)]
struct SetOptions {
    condition: Condition,
    expiry: Expiry,
    gives_old: bool,
}

impl SetOptions {
    fn parse(context: &Context<'_>) -> Result<Self, Failure> {
        let (mut options, mut at) = (Self::default(), 3);
        while at < context.count() {
            let option = context.arg(at);
            let is_free = options.expiry == Expiry::Unsaid;
            match option.to_ascii_lowercase().as_slice() {
                b"nx" if options.condition != Condition::Present => options.condition = Condition::Absent,
                b"xx" if options.condition != Condition::Absent => options.condition = Condition::Present,
                b"get" => options.gives_old = true,
                b"keepttl" if is_free || options.expiry == Expiry::Keep => options.expiry = Expiry::Keep,
                b"ex" | b"px" | b"exat" | b"pxat" if is_free && at + 1 < context.count() => {
                    // What the number is counts after the syntax of the others.
                    at += 1;
                    options.expiry = Expiry::At(SystemTime::UNIX_EPOCH);
                    options.check_rest(context, at + 1)?;
                    options.expiry = instant(option, context.arg(at), "set")?.map_or(Expiry::Unsaid, Expiry::At);
                }
                _ => return Err(Failure::SYNTAX),
            }
            at += 1;
        }
        Ok(options)
    }

    /// Refuses options that cannot follow.
    fn check_rest(&self, context: &Context<'_>, from: usize) -> Outcome {
        let mut condition = self.condition;
        for option in context.args_from(from) {
            match option.to_ascii_lowercase().as_slice() {
                b"nx" if condition != Condition::Present => condition = Condition::Absent,
                b"xx" if condition != Condition::Absent => condition = Condition::Present,
                b"get" => {}
                _ => return Err(Failure::SYNTAX),
            }
        }
        Ok(())
    }
}

pub(super) fn set(context: &mut Context<'_>) -> Outcome {
    let options = SetOptions::parse(context)?;
    if options.gives_old || options.expiry == Expiry::Keep {
        return set_looking(context, &options);
    }
    let expiry = match options.expiry {
        Expiry::At(at) => Some(at),
        _ => None,
    };
    let is_done = put(context, context.arg(1), context.arg(2), expiry, options.condition)?;
    if is_done {
        context.ok();
    } else {
        context.reply().null();
    }
    Ok(())
}

/// `SET` that depends on what there is.
fn set_looking(context: &mut Context<'_>, options: &SetOptions) -> Outcome {
    let (key, value) = (context.arg(1), context.arg(2));
    let (is_done, old) = context.table()?.update(key, |there| {
        let old = match there.filter(|_| options.gives_old) {
            Some(there) => Some(as_string(there.meta, there.bytes)?.into_owned()),
            None => None,
        };
        let holds = match options.condition {
            Condition::Absent => there.is_none(),
            Condition::Present => there.is_some(),
            _ => true,
        };
        let expiry = match options.expiry {
            Expiry::Keep => there.and_then(|there| there.meta.expiry),
            Expiry::At(at) => Some(at),
            Expiry::Unsaid => None,
        };
        let change = if holds { Change::bytes(value, expiry) } else { Change::Keep };
        Ok((change, (holds, old)))
    })?;
    if is_done {
        let expiry = if let Expiry::At(at) = options.expiry { Some(at) } else { None };
        tell_set(context, key, expiry);
    }
    match (options.gives_old, is_done) {
        (true, _) => context.reply_optional(old.as_deref()),
        (false, true) => context.ok(),
        (false, false) => context.reply().null(),
    }
    Ok(())
}

/// Puts a string, if this is so. Says whether it did.
fn put(
    context: &Context<'_>,
    key: &[u8],
    value: &[u8],
    expiry: Option<SystemTime>,
    condition: Condition,
) -> Result<bool, Failure> {
    let is_done = context.table()?.put(key, ValueKind::Bytes, value, expiry, condition)?;
    if is_done {
        tell_set(context, key, expiry);
    }
    Ok(is_done)
}

/// Tells of a string that was set.
fn tell_set(context: &Context<'_>, key: &[u8], expiry: Option<SystemTime>) {
    context.notify(Class::String, "set", key);
    if expiry.is_some() {
        context.notify(Class::Generic, "expire", key);
    }
}

pub(super) fn setnx(context: &mut Context<'_>) -> Outcome {
    let is_done = put(context, context.arg(1), context.arg(2), None, Condition::Absent)?;
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn setex(context: &mut Context<'_>) -> Outcome {
    set_until(context, b"ex", "setex")
}

pub(super) fn psetex(context: &mut Context<'_>) -> Outcome {
    set_until(context, b"px", "psetex")
}

fn set_until(context: &mut Context<'_>, unit: &[u8], command: &str) -> Outcome {
    let expiry = instant(unit, context.arg(2), command)?;
    put(context, context.arg(1), context.arg(3), expiry, Condition::Always)?;
    context.ok();
    Ok(())
}

pub(super) fn getset(context: &mut Context<'_>) -> Outcome {
    set_looking(context, &SetOptions { gives_old: true, ..SetOptions::default() })
}

pub(super) fn getdel(context: &mut Context<'_>) -> Outcome {
    let old = context.table()?.update(context.arg(1), |there| match there {
        Some(there) => Ok((Change::Delete, Some(as_string(there.meta, there.bytes)?.into_owned()))),
        None => Ok((Change::Keep, None)),
    })?;
    context.count_lookup(old.is_some());
    if old.is_some() {
        context.notify(Class::Generic, "del", context.arg(1));
    }
    context.reply_optional(old.as_deref());
    Ok(())
}

pub(super) fn getex(context: &mut Context<'_>) -> Outcome {
    let (option, time) = (context.arg(2), context.arg(3));
    let is_known = match context.count() {
        2 => return get(context),
        3 => is(option, "persist"),
        _ => context.count() == 4 && ["ex", "px", "exat", "pxat"].iter().any(|known| is(option, known)),
    };
    if !is_known {
        return Err(Failure::SYNTAX);
    }
    let key = context.arg(1);
    let (event, value) = context.table()?.update(key, |there| {
        let Some(there) = there else { return Ok((Change::Keep, (None, None))) };
        let value = as_string(there.meta, there.bytes)?.into_owned();
        let (change, event) = match instant(option, time, "getex")? {
            None if there.meta.expiry.is_none() => (Change::Keep, None),
            None => (Change::Expire(None), Some("persist")),
            Some(at) if at <= SystemTime::now() => (Change::Delete, Some("del")),
            Some(at) => (Change::Expire(Some(at)), Some("expire")),
        };
        Ok((change, (event, Some(value))))
    })?;
    if let Some(event) = event {
        context.notify(Class::Generic, event, key);
    }
    context.count_lookup(value.is_some());
    context.reply_optional(value.as_deref());
    Ok(())
}

pub(super) fn mset(context: &mut Context<'_>) -> Outcome {
    put_all(context, "mset")?;
    context.ok();
    Ok(())
}

pub(super) fn msetnx(context: &mut Context<'_>) -> Outcome {
    if context.count().is_multiple_of(2) {
        return Err(wrong_count("msetnx"));
    }
    let table = context.table()?;
    for key in context.args_from(1).step_by(2) {
        if table.meta(key)?.is_some() {
            context.reply().integer(0);
            return Ok(());
        }
    }
    put_all(context, "msetnx")?;
    context.reply().integer(1);
    Ok(())
}

/// Puts all pairs of the arguments, while no other command runs.
fn put_all(context: &Context<'_>, command: &str) -> Outcome {
    if context.count().is_multiple_of(2) {
        return Err(wrong_count(command));
    }
    let table = context.table()?;
    let args: Vec<_> = context.args_from(1).collect();
    for pair in args.chunks_exact(2) {
        table.put(pair[0], ValueKind::Bytes, pair[1], None, Condition::Always)?;
        context.notify(Class::String, "set", pair[0]);
    }
    Ok(())
}

fn wrong_count(command: &str) -> Failure {
    Failure::new(format!("ERR wrong number of arguments for '{command}' command"))
}

/// Turns a string into kind `append`, which bytes are added to without writing it anew.
pub(super) fn append(context: &mut Context<'_>) -> Outcome {
    let (key, bytes, table) = (context.arg(1), context.arg(2), context.table()?);
    let len = match table.merge(key, ValueKind::Append, bytes)? {
        Some(merged) => merged.len,
        None => table.update(key, |there| {
            let text = there.map_or(Ok(Cow::Borrowed(&b""[..])), |there| as_string(there.meta, there.bytes))?;
            let value = [&text, bytes].concat();
            let (len, expiry) = (value.len() as u64, there.and_then(|there| there.meta.expiry));
            Ok((Change::Put { kind: ValueKind::Append, value: value.into(), expiry }, len))
        })?,
    };
    context.notify(Class::String, "append", key);
    context.reply().integer(len as i64);
    Ok(())
}

pub(super) fn setrange(context: &mut Context<'_>) -> Outcome {
    let (key, bytes) = (context.arg(1), context.arg(3));
    let offset = number(context.arg(2)).ok_or(Failure::NOT_AN_INTEGER)?;
    let offset = usize::try_from(offset).map_err(|_| Failure::of("ERR offset is out of range"))?;
    let limit = context.shared.config.bulk_len_max();
    let len = context.table()?.update(key, |there| set_range(there, offset, bytes, limit))?;
    if !bytes.is_empty() {
        context.notify(Class::String, "setrange", key);
    }
    context.reply().integer(len as i64);
    Ok(())
}

fn set_range<'v>(
    there: Option<There<'_>>,
    offset: usize,
    bytes: &[u8],
    limit: usize,
) -> Result<(Change<'v>, usize), Failure> {
    let mut value = there.map_or(Ok(Cow::Borrowed(&b""[..])), |there| as_string(there.meta, there.bytes))?.into_owned();
    if bytes.is_empty() {
        return Ok((Change::Keep, value.len()));
    }
    let end = offset.checked_add(bytes.len()).filter(|end| *end <= limit).ok_or(Failure::TOO_LONG)?;
    value.resize(value.len().max(end), 0);
    value[offset..end].copy_from_slice(bytes);
    let len = value.len();
    Ok((Change::bytes(value, there.and_then(|there| there.meta.expiry)), len))
}
