//! Transactions: `MULTI` queues, `EXEC` executes what was queued, alone, and commits it as one batch.
//!
//! Its changes are all in the store or none of them: to clients, to the next owner if this process dies, and
//! to a log. A command that fails does not undo the others, as in Redis.

use std::cell::RefCell;

use hammerspace_resp::{Encoder, OwnedRequest};

use super::{Command, Context};
use crate::failure::{Failure, Outcome};
use crate::target::Overlay;

/// Requests that are queued.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    requests: Vec<OwnedRequest>,
    size: usize,
    /// Whether one was refused, so that none is to be executed.
    is_broken: bool,
}

/// A key, and the version that its record had when it was watched.
#[derive(Debug)]
pub(crate) struct Watched {
    database: usize,
    key: Vec<u8>,
    version: Option<u64>,
}

impl Transaction {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn break_off(&mut self) {
        self.is_broken = true;
    }

    /// Queues a request; refuses it where all of them would take more than `size_max` bytes.
    pub(crate) fn queue(&mut self, request: OwnedRequest, size_max: usize) -> Outcome {
        self.size += request.size();
        if self.size > size_max {
            return Err(Failure::of("ERR the transaction is longer than client-query-buffer-limit"));
        }
        self.requests.push(request);
        Ok(())
    }
}

/// Whether a command takes place at once, though a transaction was begun.
pub(super) fn is_immediate(command: &Command) -> bool {
    matches!(command.name, "exec" | "discard" | "multi" | "watch" | "quit" | "reset")
}

pub(super) fn multi(context: &mut Context<'_>) -> Outcome {
    if context.session.transaction.is_some() {
        return Err(Failure::of("ERR MULTI calls can not be nested"));
    }
    context.session.transaction = Some(Transaction::default());
    context.ok();
    Ok(())
}

pub(super) fn discard(context: &mut Context<'_>) -> Outcome {
    context.session.transaction.take().ok_or(Failure::of("ERR DISCARD without MULTI"))?;
    context.session.watched.clear();
    context.ok();
    Ok(())
}

pub(super) fn watch(context: &mut Context<'_>) -> Outcome {
    if context.session.transaction.is_some() {
        return Err(Failure::of("ERR WATCH inside MULTI is not allowed"));
    }
    for key in context.args_from(1) {
        let (database, key) = (context.session.database, key.to_vec());
        let version = version(context, database, &key)?;
        context.session.watched.push(Watched { database, key, version });
    }
    context.ok();
    Ok(())
}

pub(super) fn unwatch(context: &mut Context<'_>) -> Outcome {
    context.session.watched.clear();
    context.ok();
    Ok(())
}

/// The version of a record. It never repeats, so one that is unchanged tells that nothing has changed.
fn version(context: &Context<'_>, database: usize, key: &[u8]) -> Result<Option<u64>, Failure> {
    Ok(context.shared.databases.get(database, None)?.meta(key)?.and_then(|meta| meta.version))
}

pub(super) fn exec(context: &mut Context<'_>) -> Outcome {
    let transaction = context.session.transaction.take().ok_or(Failure::of("ERR EXEC without MULTI"))?;
    let watched = std::mem::take(&mut context.session.watched);
    if transaction.is_broken {
        return Err(Failure::of("EXECABORT Transaction discarded because of previous errors."));
    }
    for Watched { database, key, version: before } in &watched {
        if version(context, *database, key)? != *before {
            context.reply().null_array();
            return Ok(());
        }
    }
    let (overlay, mut replies) = (RefCell::new(Overlay::default()), Vec::new());
    Encoder::new(&mut replies, context.session.version).array(transaction.requests.len());
    for request in &transaction.requests {
        execute(context, request, &overlay, &mut replies);
    }
    overlay.into_inner().commit(context.shared.databases.store())?;
    context.output.append(&mut replies);
    Ok(())
}

/// Executes a request of a transaction, and writes its reply.
fn execute(context: &mut Context<'_>, request: &OwnedRequest, overlay: &RefCell<Overlay>, replies: &mut Vec<u8>) {
    let request = request.as_request();
    let start = replies.len();
    let shared = context.shared;
    let outcome = shared.commands.resolve(&request).and_then(|command| {
        let run = command.run.expect("only commands that run are resolved");
        let session = &mut *context.session;
        let lane = context.lane;
        run(&mut Context { request, command, session, shared, output: replies, lane, overlay: Some(overlay) })
    });
    if let Err(failure) = outcome {
        replies.truncate(start);
        Encoder::new(replies, context.session.version).error(&failure.0);
    }
}
