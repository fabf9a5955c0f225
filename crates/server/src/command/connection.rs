//! Commands about the connection itself.

use hammerspace_resp::{Version, number};

use super::Context;
use crate::failure::{Failure, Outcome};
use crate::server::{REDIS_VERSION, Shared};
use crate::session::{Muting, Session};
use crate::text::is;

const WRONG_PASSWORD: Failure = Failure::of("WRONGPASS invalid username-password pair or user is disabled.");
const NO_PASSWORD: Failure = Failure::of(
    "ERR AUTH <password> called without any password configured for the default user. \
     Are you sure your configuration is correct?",
);
const HELLO_NEEDS_LOGIN: Failure = Failure::of(
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> \
     option can be used to authenticate the client and select the RESP protocol version at the same time",
);

pub(super) fn ping(context: &mut Context<'_>) -> Outcome {
    if context.session.only_listens() && context.count() <= 2 {
        let text = context.arg(1);
        let mut reply = context.reply();
        reply.array(2);
        reply.bulk(b"pong");
        reply.bulk(text);
        return Ok(());
    }
    match context.count() {
        1 => context.reply().simple("PONG"),
        2 => return echo(context),
        _ => return Err(Failure::of("ERR wrong number of arguments for 'ping' command")),
    }
    Ok(())
}

pub(super) fn echo(context: &mut Context<'_>) -> Outcome {
    let text = context.arg(1);
    context.reply().bulk(text);
    Ok(())
}

pub(super) fn quit(context: &mut Context<'_>) -> Outcome {
    context.session.is_closing = true;
    context.ok();
    Ok(())
}

pub(super) fn reset(context: &mut Context<'_>) -> Outcome {
    context.session.unsubscribe_all(&context.shared.broker);
    context.session.reset(!context.shared.config.has_password());
    context.reply().simple("RESET");
    Ok(())
}

pub(super) fn auth(context: &mut Context<'_>) -> Outcome {
    match context.count() {
        2 if !context.shared.config.has_password() => return Err(NO_PASSWORD),
        2 => login(context.session, context.shared, b"default", context.arg(1))?,
        3 => login(context.session, context.shared, context.arg(1), context.arg(2))?,
        _ => return Err(Failure::SYNTAX),
    }
    context.ok();
    Ok(())
}

fn login(session: &mut Session, shared: &Shared, user: &[u8], password: &[u8]) -> Outcome {
    let is_right = !shared.config.has_password() || shared.config.is_password(password);
    if user != b"default" || !is_right {
        return Err(WRONG_PASSWORD);
    }
    session.is_authenticated = true;
    Ok(())
}

/// A database by its number, or a space by its name.
pub(super) fn select(context: &mut Context<'_>) -> Outcome {
    let databases = &context.shared.databases;
    let number = match (number(context.arg(1)), databases.space_number(context.arg(1))) {
        (Some(number), _) => usize::try_from(number).ok().filter(|number| *number < databases.len()),
        (None, Some(space)) => Some(space),
        (None, None) => return Err(Failure::of("ERR value is not an integer or out of range")),
    };
    let number = number.ok_or(Failure::of("ERR DB index is out of range"))?;
    databases.get(number, None)?;
    context.session.select(number);
    context.ok();
    Ok(())
}

pub(super) fn hello(context: &mut Context<'_>) -> Outcome {
    let version = match context.request.arg(1).map(number) {
        None => context.session.version,
        Some(Some(2)) => Version::Two,
        Some(Some(3)) => Version::Three,
        Some(Some(_)) => return Err(Failure::of("NOPROTO unsupported protocol version")),
        Some(None) => return Err(Failure::of("ERR Protocol version is not an integer or out of range")),
    };
    let name = hello_options(context)?;
    if !context.session.is_authenticated {
        return Err(HELLO_NEEDS_LOGIN);
    }
    if let Some(name) = name {
        super::client::set_name(context, name)?;
    }
    context.session.speak(version);
    let id = context.session.client.id as i64;
    let mut reply = context.reply();
    reply.map(7);
    for (name, value) in [("server", "redis"), ("version", REDIS_VERSION)] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(if version == Version::Three { 3 } else { 2 });
    reply.bulk(b"id");
    reply.integer(id);
    for (name, value) in [("mode", "standalone"), ("role", "master")] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"modules");
    reply.array(0);
    Ok(())
}

/// Logs in where `HELLO` says so. Gives the name that the client is to have.
fn hello_options<'c>(context: &mut Context<'c>) -> Result<Option<&'c [u8]>, Failure> {
    let (mut at, mut name) = (2, None);
    while at < context.count() {
        let rest = context.count() - at - 1;
        match context.arg(at) {
            option if is(option, "auth") && rest >= 2 => {
                login(context.session, context.shared, context.arg(at + 1), context.arg(at + 2))?;
                at += 3;
            }
            option if is(option, "setname") && rest >= 1 => {
                name = Some(context.arg(at + 1));
                at += 2;
            }
            option => {
                let option = crate::text::shown(option);
                return Err(Failure::new(format!("ERR Syntax error in HELLO option '{option}'")));
            }
        }
    }
    Ok(name)
}

impl Session {
    /// Becomes as it was when the client came.
    fn reset(&mut self, is_authenticated: bool) {
        self.speak(Version::Two);
        self.select(0);
        self.is_authenticated = is_authenticated;
        self.muting = Muting::None;
        self.transaction = None;
        self.watched.clear();
        self.client.names().name.clear();
    }
}
