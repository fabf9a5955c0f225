//! Commands about the server, and about databases as a whole.

use std::time::{SystemTime, UNIX_EPOCH};

use hammerspace_resp::Encoder;

use super::{Command, Context};
use crate::failure::{Failure, Outcome};
use crate::glob;
use crate::text::{digits, is};

pub(super) fn dbsize(context: &mut Context<'_>) -> Outcome {
    let len = context.database()?.len()?;
    context.reply().integer(len as i64);
    Ok(())
}

pub(super) fn flushdb(context: &mut Context<'_>) -> Outcome {
    check_flush(context)?;
    let name = context.table()?.table().name();
    context.shared.databases.store().empty_table(name)?;
    context.ok();
    Ok(())
}

/// Empties the numbered databases. Spaces, and tables of other names, stay.
pub(super) fn flushall(context: &mut Context<'_>) -> Outcome {
    check_flush(context)?;
    let databases = &context.shared.databases;
    for name in databases.opened_by_number().map(|(_, table)| table.name()) {
        databases.store().empty_table(name)?;
    }
    context.ok();
    Ok(())
}

fn check_flush(context: &Context<'_>) -> Outcome {
    match (context.count(), context.arg(1)) {
        (1, _) => Ok(()),
        (2, option) if is(option, "async") || is(option, "sync") => Ok(()),
        _ => Err(Failure::SYNTAX),
    }
}

pub(super) fn time(context: &mut Context<'_>) -> Outcome {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut reply = context.reply();
    reply.array(2);
    reply.bulk(digits(since.as_secs() as i64).as_ref());
    reply.bulk(digits(i64::from(since.subsec_micros())).as_ref());
    Ok(())
}

/// Stops the server. What it has acknowledged is in the store already, so all options come to the same.
pub(super) fn shutdown(context: &mut Context<'_>) -> Outcome {
    for option in context.args_from(1) {
        match option.to_ascii_lowercase().as_slice() {
            b"save" | b"nosave" | b"now" | b"force" => {}
            b"abort" => return Err(Failure::of("ERR No shutdown in progress.")),
            _ => return Err(Failure::SYNTAX),
        }
    }
    tracing::info!(client = context.session.client.addr, "SHUTDOWN");
    context.session.is_closing = true;
    context.shared.stop.send_replace(true);
    Ok(())
}

pub(super) fn command_count(context: &mut Context<'_>) -> Outcome {
    let count = context.shared.commands.top().count();
    context.reply().integer(count as i64);
    Ok(())
}

/// The subcommands that there are.
pub(super) fn help(context: &mut Context<'_>) -> Outcome {
    let container = context.command.name.trim_end_matches("|help");
    let subcommands = context.shared.commands.within(container).map(|command| &command.name[container.len() + 1..]);
    let title = format!("{} <subcommand> [<arg> [value] ...]. Subcommands are:", container.to_uppercase());
    let lines: Vec<String> = std::iter::once(title).chain(subcommands.map(str::to_uppercase)).collect();
    let mut reply = context.reply();
    reply.array(lines.len());
    for line in lines {
        reply.simple(&line);
    }
    Ok(())
}

/// The commands that are named, or all.
pub(super) fn command_info(context: &mut Context<'_>) -> Outcome {
    let table = &context.shared.commands;
    if context.count() <= 2 {
        let count = table.top().count();
        let mut reply = context.reply();
        reply.array(count);
        table.top().for_each(|command| describe(&mut reply, command));
        return Ok(());
    }
    let names: Vec<_> = context.args_from(2).collect();
    let mut reply = context.reply();
    reply.array(names.len());
    for name in names {
        match table.find(name) {
            Some(command) => describe(&mut reply, command),
            None => reply.null_array(),
        }
    }
    Ok(())
}

/// A command as `COMMAND` describes it, without tips, key specifications and subcommands.
fn describe(reply: &mut Encoder<'_>, command: &Command) {
    reply.array(10);
    reply.bulk(command.name.as_bytes());
    reply.integer(i64::from(command.arity));
    reply.set(command.flags.len());
    command.flags.iter().for_each(|flag| reply.simple(flag));
    command.keys.iter().for_each(|place| reply.integer(i64::from(*place)));
    reply.set(command.categories.len());
    command.categories.iter().for_each(|category| reply.simple(&format!("@{category}")));
    for _ in 0..3 {
        reply.set(0);
    }
}

pub(super) fn command_list(context: &mut Context<'_>) -> Outcome {
    let is_wanted: Box<dyn Fn(&Command) -> bool> = match (context.count(), context.arg(3)) {
        (2, _) => Box::new(|_| true),
        (5, filter) if is(context.arg(2), "filterby") && is(filter, "aclcat") => {
            let category = context.arg(4).to_ascii_lowercase();
            Box::new(move |command| command.categories.iter().any(|one| one.as_bytes() == category))
        }
        (5, filter) if is(context.arg(2), "filterby") && is(filter, "pattern") => {
            let pattern = context.arg(4).to_ascii_lowercase();
            Box::new(move |command| glob::matches(&pattern, command.name.as_bytes()))
        }
        (5, filter) if is(context.arg(2), "filterby") && is(filter, "module") => Box::new(|_| false),
        _ => return Err(Failure::SYNTAX),
    };
    let names: Vec<_> = context.shared.commands.top().filter(|one| is_wanted(one)).map(|one| one.name).collect();
    let mut reply = context.reply();
    reply.set(names.len());
    for name in names {
        reply.bulk(name.as_bytes());
    }
    Ok(())
}

pub(super) fn command_getkeys(context: &mut Context<'_>) -> Outcome {
    let args: Vec<_> = context.args_from(2).collect();
    let command = context.shared.commands.find(args[0]).ok_or(Failure::of("ERR Invalid command specified"))?;
    if !command.takes(args.len()) {
        return Err(Failure::of("ERR Invalid number of arguments specified for command"));
    }
    let keys: Vec<_> = command.key_places(args.len()).filter_map(|place| args.get(place)).collect();
    if keys.is_empty() {
        return Err(Failure::of("ERR The command has no key arguments"));
    }
    let mut reply = context.reply();
    reply.array(keys.len());
    for key in keys {
        reply.bulk(key);
    }
    Ok(())
}
