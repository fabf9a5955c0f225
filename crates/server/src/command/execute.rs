//! From a request to its reply.
//!
//! ```text
//! request ──► resolve ──► admit ──► run, beside others or alone ──► reply
//!                │           │
//!                └───────────┴──► refused: an error, and nothing was done
//! ```

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use hammerspace_resp::{Encoder, ProtocolError, Request};
use hammerspace_store::Key;
use std::sync::atomic::Ordering::Relaxed;

use super::transactions::is_immediate;
use super::{Command, Context};
use crate::failure::{Failure, Outcome};
use crate::server::Shared;
use crate::session::{Muting, Session};
use crate::text::is;
use crate::value::as_string;

/// Bytes of replies at which a burst pauses, until they are written.
pub(crate) const OUTPUT_PAUSE: usize = 256 << 10;

/// A GET of a burst that waits for its neighbours: where its key lies, and where the request ends.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) key: Range<usize>,
    pub(crate) end: usize,
}

/// What a client of version 2 may say while it listens.
const LISTENING: [&str; 7] = ["subscribe", "unsubscribe", "psubscribe", "punsubscribe", "ping", "quit", "reset"];
const NO_LOGIN: Failure = Failure::of("NOAUTH Authentication required.");

/// The requests of a buffer, executed one after the other.
pub(crate) struct Burst<'b> {
    shared: &'b Shared,
    pub(crate) session: &'b mut Session,
    lane: usize,
    pub(crate) output: &'b mut Vec<u8>,
    /// When the last command ended.
    last: Instant,
}

impl<'b> Burst<'b> {
    pub(crate) fn new(shared: &'b Shared, session: &'b mut Session, lane: usize, output: &'b mut Vec<u8>) -> Self {
        Self { shared, session, lane, output, last: Instant::now() }
    }

    /// Executes a request, and writes the reply. An empty request has none.
    pub(crate) fn execute(&mut self, request: Request<'_>) {
        if request.count() == 0 {
            return;
        }
        let start = self.output.len();
        if let Err(failure) = self.resolve(request) {
            self.output.truncate(start);
            Encoder::new(self.output, self.session.version).error(&failure.0);
        }
        self.mute(start);
    }

    fn resolve(&mut self, request: Request<'_>) -> Outcome {
        let shared = self.shared;
        let stats = shared.stats.lane(self.lane);
        let command = shared.commands.resolve(&request).inspect_err(|_| self.session.break_transaction())?;
        self.session.client.command.store(command.at + 1, Relaxed);
        admit(command, self.session).inspect_err(|_| {
            stats.count_rejected(command.at);
            self.session.break_transaction();
        })?;
        if self.session.transaction.is_some() && !is_immediate(command) {
            return self.queue(request);
        }
        let outcome = self.run(command, request);
        self.session.show_transaction();
        if outcome.is_err() {
            stats.count_failed(command.at);
        }
        let took = self.count(command.at, 1);
        let config = &shared.config;
        if config.slow().is_some_and(|slow| took >= slow) && !command.flags.contains(&"skip_slowlog") {
            shared.slow_log.add(&request, took, &self.session.client, config.slow_len_max());
        }
        outcome
    }

    /// Keeps a request for `EXEC`.
    fn queue(&mut self, request: Request<'_>) -> Outcome {
        let len_max = self.shared.config.query_len_max();
        let transaction = self.session.transaction.as_mut().expect("one was begun");
        transaction.queue(request.to_owned(), len_max).inspect_err(|_| self.session.break_transaction())?;
        self.session.show_transaction();
        Encoder::new(self.output, self.session.version).simple("QUEUED");
        Ok(())
    }

    fn run(&mut self, command: &Command, request: Request<'_>) -> Outcome {
        let run = command.run.expect("only commands that run are resolved");
        let Self { shared, session, lane, output, .. } = self;
        let mut context = Context { request, command, session, shared, output, lane: *lane, overlay: None };
        if command.is_alone {
            let _alone = shared.gate.alone();
            run(&mut context)
        } else {
            let _shared = shared.gate.share(*lane);
            run(&mut context)
        }
    }

    /// Counts calls of a command, which have taken all the time since the last. Says how long that was.
    fn count(&mut self, at: usize, calls: u64) -> Duration {
        let now = Instant::now();
        let took = now - self.last;
        self.shared.stats.lane(self.lane).count_calls(at, self.shared.commands.at(at).family, calls, took);
        self.last = now;
        took
    }

    /// Takes replies back that the client does not want.
    fn mute(&mut self, start: usize) {
        match self.session.muting {
            Muting::None => {}
            Muting::All => self.output.truncate(start),
            Muting::Skip => {
                self.output.truncate(start);
                self.session.muting = Muting::Skipping;
            }
            Muting::Skipping => {
                self.output.truncate(start);
                self.session.muting = Muting::None;
            }
        }
    }

    /// Whether a request is a GET that can be looked up together with its neighbours.
    pub(crate) fn is_plain_get(&self, request: &Request<'_>) -> bool {
        request.count() == 2
            && request.arg(0).is_some_and(|name| is(name, "get"))
            && self.session.is_authenticated
            && self.session.transaction.is_none()
            && !self.session.only_listens()
            && self.session.muting == Muting::None
    }

    /// Looks gathered keys up, which lie in `input`, and writes a reply for each. Where the replies come to
    /// [`OUTPUT_PAUSE`] before the last, gives the end of the last request that has its reply.
    pub(crate) fn get_many(&mut self, input: &[u8], gets: &mut Vec<Gathered>) -> Option<usize> {
        if gets.is_empty() {
            return None;
        }
        let keys: Vec<Key<'_>> = gets.iter().map(|get| Key::Bytes(&input[get.key.clone()])).collect();
        let at = self.shared.commands.get;
        self.session.client.command.store(at + 1, Relaxed);
        let mut done = 0;
        while done == 0 || (done < keys.len() && self.output.len() < OUTPUT_PAUSE) {
            if let Err(failure) = self.look_up(&keys, &mut done) {
                Encoder::new(self.output, self.session.version).error(&failure.0);
                self.shared.stats.lane(self.lane).count_failed(at);
                done += 1;
            }
        }
        self.count(at, done as u64);
        let end = (done < keys.len()).then(|| gets[done - 1].end);
        gets.clear();
        end
    }

    /// Looks up the keys behind the first `done`, and counts them there, up to one that cannot be read or
    /// that there is no room for.
    fn look_up(&mut self, keys: &[Key<'_>], done: &mut usize) -> Outcome {
        let Self { shared, session, output, lane, .. } = self;
        let _shared = shared.gate.share(*lane);
        let database = shared.databases.get(session.database, None)?;
        let (start, mut hits) = (*done, 0);
        database.read_many(&keys[start..], |found| {
            if output.len() >= OUTPUT_PAUSE {
                return;
            }
            let mut encoder = Encoder::new(output, session.version);
            hits += u64::from(found.is_some());
            match found.map(|(meta, bytes)| as_string(meta, bytes)) {
                None => encoder.null(),
                Some(Ok(Cow::Borrowed(bytes))) => encoder.bulk(bytes),
                Some(Ok(Cow::Owned(bytes))) => encoder.bulk(&bytes),
                Some(Err(failure)) => encoder.error(&failure.0),
            }
            *done += 1;
        })?;
        shared.stats.lane(*lane).count_lookups(hits, (*done - start) as u64 - hits);
        Ok(())
    }

    /// Tells of bytes that are not the protocol, which end the connection.
    pub(crate) fn refuse_protocol(&mut self, error: ProtocolError) {
        Encoder::new(self.output, self.session.version).error(&format!("ERR {error}"));
        self.session.is_closing = true;
    }
}

/// Refuses what the client may not do.
fn admit(command: &Command, session: &Session) -> Outcome {
    if !session.is_authenticated && !command.needs_no_login {
        return Err(NO_LOGIN);
    }
    if session.only_listens() && !LISTENING.contains(&command.name) {
        let name = command.name;
        return Err(Failure::new(format!(
            "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
             context"
        )));
    }
    if session.transaction.is_some() && command.flags.contains(&"no_multi") {
        return Err(Failure::of("ERR Command not allowed inside a transaction"));
    }
    if session.transaction.is_some() && command.is_whole {
        return Err(Failure::of("ERR a command on all keys of a database is not allowed inside a transaction"));
    }
    Ok(())
}
