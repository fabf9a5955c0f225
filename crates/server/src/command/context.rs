//! What a command is given.

use std::borrow::Cow;

use hammerspace_resp::{Encoder, Request};
use hammerspace_store::{Meta, Table};

use super::Command;
use crate::database::Database;
use crate::failure::Failure;
use crate::server::Shared;
use crate::session::Session;
use crate::value::as_string;

/// A request that is executed, and all that it may look at.
pub(crate) struct Context<'c> {
    pub(crate) request: Request<'c>,
    pub(crate) command: &'c Command,
    pub(crate) session: &'c mut Session,
    pub(crate) shared: &'c Shared,
    pub(crate) output: &'c mut Vec<u8>,
    pub(crate) lane: usize,
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
        Ok(self.shared.databases.get(self.session.database)?)
    }

    /// The same to change.
    pub(crate) fn table(&self) -> Result<&'c Table, Failure> {
        self.shared.databases.table(self.session.database)?.ok_or(Failure::READ_ONLY)
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
