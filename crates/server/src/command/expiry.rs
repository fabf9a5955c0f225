//! When records end.

use super::Context;
use crate::clock::{at_millis, millis, now_millis};
use crate::events::Class;
use crate::failure::{Failure, Outcome};
use crate::target::Change;
use crate::text::{integer, shown};

pub(super) fn expire(context: &mut Context<'_>) -> Outcome {
    expire_from(context, now_millis(), 1000)
}

pub(super) fn pexpire(context: &mut Context<'_>) -> Outcome {
    expire_from(context, now_millis(), 1)
}

pub(super) fn expireat(context: &mut Context<'_>) -> Outcome {
    expire_from(context, 0, 1000)
}

pub(super) fn pexpireat(context: &mut Context<'_>) -> Outcome {
    expire_from(context, 0, 1)
}

/// What must be so of the expiry there is. A record without one ends later than any.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
struct Conditions {
    none: bool,
    some: bool,
    later: bool,
    earlier: bool,
}

impl Conditions {
    fn parse(context: &Context<'_>) -> Result<Self, Failure> {
        let mut conditions = Self::default();
        for option in context.args_from(3) {
            match option.to_ascii_lowercase().as_slice() {
                b"nx" => conditions.none = true,
                b"xx" => conditions.some = true,
                b"gt" => conditions.later = true,
                b"lt" => conditions.earlier = true,
                _ => return Err(Failure::new(format!("ERR Unsupported option {}", shown(option)))),
            }
        }
        if conditions.none && (conditions.some || conditions.later || conditions.earlier) {
            let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
            return Err(Failure::of(text));
        }
        if conditions.later && conditions.earlier {
            return Err(Failure::of("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(conditions)
    }

    fn hold(&self, there: Option<i64>, wanted: i64) -> bool {
        !(self.none && there.is_some()
            || self.some && there.is_none()
            || self.later && there.is_none_or(|there| wanted <= there)
            || self.earlier && there.is_some_and(|there| wanted >= there))
    }
}

fn expire_from(context: &mut Context<'_>, base: i64, unit: i64) -> Outcome {
    let conditions = Conditions::parse(context)?;
    let time = integer(context.arg(2))?;
    let at = time.checked_mul(unit).and_then(|time| time.checked_add(base));
    let invalid = || Failure::new(format!("ERR invalid expire time in '{}' command", context.command.name));
    let at = at.ok_or_else(invalid)?;
    let key = context.arg(1);
    let is_done = context.table()?.update(key, |there| {
        let Some(there) = there else { return Ok((Change::Keep, false)) };
        let holds = conditions.hold(there.meta.expiry.map(millis), at);
        let change = if !holds {
            Change::Keep
        } else if at <= now_millis() {
            Change::Delete
        } else {
            Change::Expire(Some(at_millis(at)))
        };
        Ok((change, holds))
    })?;
    if is_done {
        context.notify(Class::Generic, if at <= now_millis() { "del" } else { "expire" }, key);
    }
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn persist(context: &mut Context<'_>) -> Outcome {
    let key = context.arg(1);
    let is_done = context.table()?.update(key, |there| {
        let has_one = there.is_some_and(|there| there.meta.expiry.is_some());
        Ok((if has_one { Change::Expire(None) } else { Change::Keep }, has_one))
    })?;
    if is_done {
        context.notify(Class::Generic, "persist", key);
    }
    context.reply().integer(i64::from(is_done));
    Ok(())
}

pub(super) fn ttl(context: &mut Context<'_>) -> Outcome {
    time(context, |at| seconds(at - now_millis()))
}

pub(super) fn pttl(context: &mut Context<'_>) -> Outcome {
    time(context, |at| (at - now_millis()).max(0))
}

pub(super) fn expiretime(context: &mut Context<'_>) -> Outcome {
    time(context, seconds)
}

pub(super) fn pexpiretime(context: &mut Context<'_>) -> Outcome {
    time(context, |at| at)
}

fn seconds(millis: i64) -> i64 {
    (millis.max(0) + 500) / 1000
}

/// Shows the expiry of a record: -1 where it has none, -2 where there is no record.
fn time(context: &mut Context<'_>, show: impl FnOnce(i64) -> i64) -> Outcome {
    let meta = context.database()?.meta(context.arg(1))?;
    context.count_lookup(meta.is_some());
    let shown = match meta.map(|meta| meta.expiry) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => show(millis(at)),
    };
    context.reply().integer(shown);
    Ok(())
}
