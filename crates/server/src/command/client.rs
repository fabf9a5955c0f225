//! `CLIENT`: connections, seen by each other.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hammerspace_resp::number;

use super::Context;
use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::server::Shared;
use crate::session::Muting;
use crate::text::{is, shown};

const BAD_NAME: Failure = Failure::of("ERR Client names cannot contain spaces, newlines or special characters.");

pub(super) fn id(context: &mut Context<'_>) -> Outcome {
    let id = context.session.client.id as i64;
    context.reply().integer(id);
    Ok(())
}

pub(super) fn getname(context: &mut Context<'_>) -> Outcome {
    let name = context.session.client.names().name.clone();
    context.reply_optional(Some(name.as_bytes()).filter(|name| !name.is_empty()));
    Ok(())
}

pub(super) fn setname(context: &mut Context<'_>) -> Outcome {
    set_name(context, context.arg(2))?;
    context.ok();
    Ok(())
}

/// Gives the client a name, or takes it away.
pub(super) fn set_name(context: &Context<'_>, name: &[u8]) -> Outcome {
    context.session.client.names().name = printable(name).ok_or(BAD_NAME)?.into();
    Ok(())
}

/// Text of visible ASCII, without blanks.
fn printable(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text).ok().filter(|_| text.iter().all(u8::is_ascii_graphic))
}

pub(super) fn setinfo(context: &mut Context<'_>) -> Outcome {
    let (attribute, value) = (context.arg(2), context.arg(3));
    let attribute = attribute.to_ascii_lowercase();
    let value = printable(value);
    let refused = || format!("ERR {} cannot contain spaces, newlines or special characters.", shown(&attribute));
    match attribute.as_slice() {
        b"lib-name" => context.session.client.names().library = value.ok_or_else(|| Failure::new(refused()))?.into(),
        b"lib-ver" => {
            context.session.client.names().library_version = value.ok_or_else(|| Failure::new(refused()))?.into();
        }
        _ => return Err(Failure::new(format!("ERR Unrecognized option '{}'", shown(context.arg(2))))),
    }
    context.ok();
    Ok(())
}

pub(super) fn info(context: &mut Context<'_>) -> Outcome {
    let line = line(context.shared, &context.session.client) + "\n";
    context.reply().verbatim(&line);
    Ok(())
}

pub(super) fn list(context: &mut Context<'_>) -> Outcome {
    let clients = match context.request.arg(2) {
        None => context.shared.registry.all(),
        Some(option) if is(option, "id") && context.count() > 3 => {
            let ids: Result<Vec<i64>, _> = context.args_from(3).map(client_id).collect();
            let ids = ids?;
            let mut all = context.shared.registry.all();
            all.retain(|client| ids.contains(&(client.id as i64)));
            all
        }
        Some(option) if is(option, "type") && context.count() == 4 => {
            let mut all = context.shared.registry.all();
            let wanted = ClientType::parse(context.arg(3))?;
            all.retain(|client| ClientType::of(client) == wanted);
            all
        }
        Some(_) => return Err(Failure::SYNTAX),
    };
    let lines: String = clients.iter().map(|client| line(context.shared, client) + "\n").collect();
    context.reply().verbatim(&lines);
    Ok(())
}

fn client_id(arg: &[u8]) -> Result<i64, Failure> {
    number(arg).filter(|id| *id > 0).ok_or(Failure::of("ERR Invalid client ID"))
}

/// What a client is, as `TYPE` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientType {
    Normal,
    /// Of replication, which there is none of.
    Other,
    Pubsub,
}

impl ClientType {
    fn parse(arg: &[u8]) -> Result<Self, Failure> {
        match arg.to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Self::Normal),
            b"pubsub" => Ok(Self::Pubsub),
            b"master" | b"replica" | b"slave" => Ok(Self::Other),
            _ => Err(Failure::new(format!("ERR Unknown client type '{}'", shown(arg)))),
        }
    }

    fn of(client: &Client) -> Self {
        if client.listens() { Self::Pubsub } else { Self::Normal }
    }
}

/// A client as `CLIENT LIST` shows it.
fn line(shared: &Shared, client: &Client) -> String {
    let names = client.names().clone();
    let (age, idle) = client.ages();
    let command = match client.command.load(Relaxed) {
        0 => "NULL",
        at => shared.commands.at(at - 1).name,
    };
    let queued = client.queued.load(Relaxed);
    let flags = match (client.listens(), queued >= 0) {
        (false, false) => "N",
        (true, false) => "P",
        (false, true) => "x",
        (true, true) => "Px",
    };
    format!(
        "id={} addr={} laddr={} fd=-1 name={} age={age} idle={idle} flags={flags} db={} sub={} psub={} ssub=0 multi={queued} qbuf={} \
         qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={command} user={} \
         redir=-1 resp={} lib-name={} lib-ver={}",
        client.id,
        client.addr,
        client.local_addr,
        names.name,
        client.database.load(Relaxed),
        client.channels.load(Relaxed),
        client.patterns.load(Relaxed),
        client.input_len.load(Relaxed),
        names.user,
        client.resp.load(Relaxed),
        names.library,
        names.library_version,
    )
}

/// Which clients are to be killed.
#[derive(Default)]
struct Filter {
    id: Option<i64>,
    addr: Option<String>,
    local_addr: Option<String>,
    user: Option<String>,
    client_type: Option<ClientType>,
    spares_self: bool,
}

impl Filter {
    fn parse(context: &Context<'_>) -> Result<Self, Failure> {
        let mut filter = Self { spares_self: true, ..Self::default() };
        let args: Vec<_> = context.args_from(2).collect();
        for pair in args.chunks(2) {
            let [option, value] = pair else { return Err(Failure::SYNTAX) };
            match option.to_ascii_lowercase().as_slice() {
                b"id" => filter.id = Some(number(value).filter(|id| *id > 0).ok_or(BAD_ID)?),
                b"addr" => filter.addr = Some(shown(value)),
                b"laddr" => filter.local_addr = Some(shown(value)),
                b"user" if *value == b"default" => filter.user = Some(shown(value)),
                b"user" => return Err(Failure::new(format!("ERR No such user '{}'", shown(value)))),
                b"type" => filter.client_type = Some(ClientType::parse(value)?),
                b"skipme" if is(value, "yes") => filter.spares_self = true,
                b"skipme" if is(value, "no") => filter.spares_self = false,
                _ => return Err(Failure::SYNTAX),
            }
        }
        Ok(filter)
    }

    fn holds(&self, client: &Client, own: &Client) -> bool {
        self.id.is_none_or(|id| id == client.id as i64)
            && self.addr.as_ref().is_none_or(|addr| *addr == client.addr)
            && self.local_addr.as_ref().is_none_or(|addr| *addr == client.local_addr)
            && self.user.as_ref().is_none_or(|user| *user == client.names().user)
            && self.client_type.is_none_or(|wanted| ClientType::of(client) == wanted)
            && !(self.spares_self && client.id == own.id)
    }
}

const BAD_ID: Failure = Failure::of("ERR client-id should be greater than 0");

pub(super) fn kill(context: &mut Context<'_>) -> Outcome {
    let is_by_address = context.count() == 3;
    let filter = if is_by_address {
        Filter { addr: Some(shown(context.arg(2))), ..Filter::default() }
    } else {
        Filter::parse(context)?
    };
    let own = context.session.client.clone();
    let found: Vec<Arc<Client>> =
        context.shared.registry.all().into_iter().filter(|client| filter.holds(client, &own)).collect();
    if is_by_address && found.is_empty() {
        return Err(Failure::of("ERR No such client"));
    }
    for client in &found {
        // One that kills itself reads the reply first.
        if client.id == own.id {
            context.session.is_closing = true;
        } else {
            client.kill();
        }
    }
    if is_by_address {
        context.ok();
    } else {
        context.reply().integer(found.len() as i64);
    }
    Ok(())
}

/// There is no eviction of clients, so nobody is exempt.
pub(super) fn no_evict(context: &mut Context<'_>) -> Outcome {
    if !is(context.arg(2), "on") && !is(context.arg(2), "off") {
        return Err(Failure::SYNTAX);
    }
    context.ok();
    Ok(())
}

pub(super) fn reply(context: &mut Context<'_>) -> Outcome {
    match context.arg(2).to_ascii_lowercase().as_slice() {
        b"on" => {
            context.session.muting = Muting::None;
            context.ok();
        }
        b"off" => context.session.muting = Muting::All,
        b"skip" if context.session.muting != Muting::All => context.session.muting = Muting::Skip,
        b"skip" => {}
        _ => return Err(Failure::SYNTAX),
    }
    Ok(())
}
