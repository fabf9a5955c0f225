//! Enumeration of keys. Integer keys of a store have no bytes that a client could name them by, and are left
//! out.

use hammerspace_resp::Encoder;

use super::Context;
use crate::failure::{Failure, Outcome};
use crate::glob;
use crate::text::{integer, is};
use crate::value::type_name;

/// Records that are read at a time where all are.
const PAGE: usize = 1000;
/// Records that one `SCAN` looks at, at most.
const COUNT_MAX: usize = 100_000;

pub(super) fn keys(context: &mut Context<'_>) -> Outcome {
    let (pattern, database) = (context.arg(1), context.database()?);
    let (mut found, mut texts, mut cursor) = (0, Vec::new(), 0);
    loop {
        cursor = database.scan(cursor, PAGE, |key, _| {
            if glob::matches(pattern, key) {
                found += 1;
                Encoder::new(&mut texts, context.session.version).bulk(key);
            }
        })?;
        if texts.len() > context.shared.config.output_len_max() {
            return Err(Failure::of("ERR the reply is longer than hs-output-limit; use SCAN"));
        }
        if cursor == 0 {
            break;
        }
    }
    context.reply().array(found);
    context.output.extend_from_slice(&texts);
    Ok(())
}

/// The options of `SCAN`.
struct Options<'c> {
    pattern: Option<&'c [u8]>,
    type_name: Option<Vec<u8>>,
    count: usize,
}

impl<'c> Options<'c> {
    fn parse(context: &Context<'c>) -> Result<Self, Failure> {
        let mut options = Self { pattern: None, type_name: None, count: 10 };
        let args: Vec<_> = context.args_from(2).collect();
        for pair in args.chunks(2) {
            match pair {
                [option, value] if is(option, "match") => options.pattern = Some(value),
                [option, value] if is(option, "type") => options.type_name = Some(value.to_ascii_lowercase()),
                [option, value] if is(option, "count") => {
                    let count = integer(value)?;
                    let count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or(Failure::SYNTAX)?;
                    options.count = count.min(COUNT_MAX);
                }
                _ => return Err(Failure::SYNTAX),
            }
        }
        Ok(options)
    }
}

pub(super) fn scan(context: &mut Context<'_>) -> Outcome {
    let cursor = std::str::from_utf8(context.arg(1)).ok().and_then(|cursor| cursor.parse::<u64>().ok());
    let cursor = cursor.ok_or(Failure::of("ERR invalid cursor"))?;
    let options = Options::parse(context)?;
    let mut found: Vec<Vec<u8>> = Vec::new();
    let next = context.database()?.scan(cursor, options.count, |key, meta| {
        let is_wanted = options.pattern.is_none_or(|pattern| glob::matches(pattern, key))
            && options.type_name.as_ref().is_none_or(|name| name == type_name(meta.kind).as_bytes());
        if is_wanted {
            found.push(key.to_vec());
        }
    })?;
    let mut reply = context.reply();
    reply.array(2);
    reply.bulk(next.to_string().as_bytes());
    reply.array(found.len());
    for key in &found {
        reply.bulk(key);
    }
    Ok(())
}

/// One of the keys that lie together at a random place: as random as their hashes are.
pub(super) fn randomkey(context: &mut Context<'_>) -> Outcome {
    let database = context.database()?;
    let mut cursor = database.random_cursor();
    let mut is_second_time = false;
    let key = loop {
        let mut found: Vec<Vec<u8>> = Vec::new();
        cursor = database.scan(cursor, 1, |key, _| found.push(key.to_vec()))?;
        if let Some(key) = fastrand::choice(found) {
            break Some(key);
        }
        if cursor == 0 && is_second_time {
            break None;
        }
        is_second_time |= cursor == 0;
    };
    context.reply_optional(key.as_deref());
    Ok(())
}
