//! What a connection remembers between its requests.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hammerspace_resp::Version;

use crate::client::Client;

/// The state of a connection, which only its own loop sees.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Arc<Client>,
    pub(crate) version: Version,
    pub(crate) database: usize,
    pub(crate) is_authenticated: bool,
    /// Whether the connection ends when its replies are written.
    pub(crate) is_closing: bool,
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
        Self { client, version: Version::Two, database: 0, is_authenticated, is_closing: false, muting: Muting::None }
    }
}

impl Session {
    pub(crate) fn select(&mut self, database: usize) {
        self.database = database;
        self.client.database.store(database, Relaxed);
    }

    pub(crate) fn speak(&mut self, version: Version) {
        self.version = version;
        self.client.resp.store(if version == Version::Three { 3 } else { 2 }, Relaxed);
    }
}
