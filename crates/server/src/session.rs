//! What a connection remembers between its requests.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hammerspace_resp::Version;

use crate::client::Client;
use crate::command::{Subscriptions, Transaction, Watched};

/// The state of a connection, which only its own loop sees.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    pub(crate) version: Version,
    pub(crate) database: usize,
    pub(crate) is_authenticated: bool,
    /// Whether the connection ends when its replies are written.
    pub(crate) is_closing: bool,
    /// What was queued since `MULTI`.
    pub(crate) transaction: Option<Transaction>,
    /// What `EXEC` depends on.
    pub(crate) watched: Vec<Watched>,
    pub(crate) subscriptions: Subscriptions,
    /// Whether replies are left out: `CLIENT REPLY`.
    pub(crate) muting: Muting,
}

/// Which replies a client does not want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Muting {
    None,
    /// This request's and the next one's.
    Skip,
    /// The one of the request that comes now.
    Skipping,
    All,
}

impl Session {
    pub(crate) fn new(client: Arc<Client>, is_authenticated: bool) -> Self {
        Self {
            client,
            version: Version::Two,
            database: 0,
            is_authenticated,
            is_closing: false,
            transaction: None,
            watched: Vec::new(),
            subscriptions: Subscriptions::default(),
            muting: Muting::None,
        }
    }
}

impl Session {
    pub(crate) fn select(&mut self, database: usize) {
        self.database = database;
        self.client.database.store(database, Relaxed);
    }

    /// Whether the client may do no more than listen, since messages could not be told from replies.
    pub(crate) fn only_listens(&self) -> bool {
        self.version == Version::Two && self.subscriptions.len() > 0
    }

    /// Lets others see how many requests are queued.
    pub(crate) fn show_transaction(&self) {
        let queued = self.transaction.as_ref().map_or(-1, |transaction| transaction.len() as i64);
        self.client.queued.store(queued, Relaxed);
    }

    /// Lets `EXEC` refuse what was queued, if a transaction was begun.
    pub(crate) fn break_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.break_off();
        }
    }

    pub(crate) fn speak(&mut self, version: Version) {
        self.version = version;
        self.client.resp.store(if version == Version::Three { 3 } else { 2 }, Relaxed);
    }
}
