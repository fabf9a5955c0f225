//! The connections that are open.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::Client;

/// All connections, by number.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    next: AtomicU64,
}

impl Registry {
    /// Registers a connection; `None` where there are `len_max` already.
    pub(crate) fn enter(&self, addr: String, local_addr: String, len_max: usize) -> Option<Arc<Client>> {
        let mut clients = self.lock();
        if clients.len() >= len_max {
            return None;
        }
        let client = Arc::new(Client::new(self.next.fetch_add(1, Relaxed) + 1, addr, local_addr));
        clients.insert(client.id, client.clone());
        Some(client)
    }

    pub(crate) fn leave(&self, id: u64) {
        self.lock().remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// All of them, in the order in which they came.
    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
