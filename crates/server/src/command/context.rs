//! What a command is given.

use std::borrow::Cow;
use std::cell::RefCell;

use hammerspace_resp::{Encoder, Request};
use hammerspace_store::Meta;

use super::Command;
use crate::database::Database;
use crate::events::Class;
use crate::failure::Failure;
use crate::server::Shared;
use crate::session::Session;
use crate::target::{Overlay, Target};
use crate::value::as_string;

/// A request that is executed, and all that it may look at.
pub(crate) struct Context<'c> {
    pub(crate) request: Request<'c>,
    pub(crate) command: &'c Command,
    pub(crate) session: &'c mut Session,
    pub(crate) shared: &'c Shared,
    pub(crate) output: &'c mut Vec<u8>,
    pub(crate) lane: usize,
    /// What the transaction that this belongs to has changed.
    pub(crate) overlay: Option<&'c RefCell<Overlay>>,
}

impl<'c> Context<'c> {
    /// An argument; empty where there is none. The command's arity says which there are.
    pub(crate) fn arg(&self, at: usize) -> &'c [u8] {
        self.request.arg(at).unwrap_or_default()
    }

    /// How many arguments there are, the command's name among them.
    pub(crate) fn count(&self) -> usize {
        self.request.count()
    }

    /// The arguments from a place on.
    pub(crate) fn args_from(&self, at: usize) -> impl ExactSizeIterator<Item = &'c [u8]> + use<'c> {
        self.request.args().skip(at)
    }

    /// What the reply is written to.
    pub(crate) fn reply(&mut self) -> Encoder<'_> {
        Encoder::new(self.output, self.session.version)
    }

    pub(crate) fn ok(&mut self) {
        self.reply().simple("OK");
    }

    /// A string, or nothing.
    pub(crate) fn reply_optional(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => self.reply().bulk(value),
            None => self.reply().null(),
        }
    }

    /// The database that the client has selected, to read.
    pub(crate) fn database(&self) -> Result<Database<'c>, Failure> {
        Ok(self.shared.databases.get(self.session.database, self.overlay)?)
    }

    /// The same to change.
    pub(crate) fn table(&self) -> Result<Target<'c>, Failure> {
        self.table_of(self.session.database)
    }

    /// A database by its number, to change.
    pub(crate) fn table_of(&self, number: usize) -> Result<Target<'c>, Failure> {
        let table = self.shared.databases.table(number)?.ok_or(Failure::READ_ONLY)?;
        Ok(Target::new(table, self.overlay))
    }

    /// Tells those who asked for it what was done to a key.
    pub(crate) fn notify(&self, class: Class, event: &str, key: &[u8]) {
        self.notify_in(self.session.database, class, event, key);
    }

    /// The same of a key in another database.
    pub(crate) fn notify_in(&self, database: usize, class: Class, event: &str, key: &[u8]) {
        let [on_key, on_event] = self.shared.events.wanted(class);
        let broker = &self.shared.broker;
        if !(on_key || on_event) || !broker.has_listeners() {
            return;
        }
        let len_max = self.shared.config.push_len_max();
        if on_key {
            let channel = [format!("__keyspace@{database}__:").as_bytes(), key].concat();
            broker.publish(&channel, event.as_bytes(), len_max);
        }
        if on_event {
            broker.publish(format!("__keyevent@{database}__:{event}").as_bytes(), key, len_max);
        }
    }

    /// The record of a key, with its value.
    pub(crate) fn read(&self, key: &[u8]) -> Result<Option<(Meta, Vec<u8>)>, Failure> {
        let mut bytes = Vec::new();
        let meta = self.database()?.read(key, &mut bytes)?;
        self.count_lookup(meta.is_some());
        Ok(meta.map(|meta| (meta, bytes)))
    }

    /// The value of a key, which is a string or nothing.
    pub(crate) fn read_string(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        let Some((meta, bytes)) = self.read(key)? else { return Ok(None) };
        match as_string(meta, &bytes)? {
            Cow::Owned(text) => Ok(Some(text)),
            Cow::Borrowed(_) => Ok(Some(bytes)),
        }
    }

    pub(crate) fn count_lookup(&self, is_hit: bool) {
        self.shared.stats.lane(self.lane).count_lookups(u64::from(is_hit), u64::from(!is_hit));
    }
}
