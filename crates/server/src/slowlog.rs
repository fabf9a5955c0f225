//! The requests that took long.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hammerspace_resp::Request;

use crate::client::Client;

/// Arguments of a request that are kept, and bytes of each.
const ARGS_MAX: usize = 32;
const ARG_LEN_MAX: usize = 128;

/// The last of them, the newest first.
#[derive(Debug, Default)]
pub(crate) struct SlowLog {
    entries: Mutex<VecDeque<Entry>>,
    next: AtomicU64,
}

/// A request that took long.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    /// When it ended, in seconds since 1970.
    pub(crate) at: u64,
    pub(crate) micros: u64,
    pub(crate) args: Vec<Vec<u8>>,
    pub(crate) addr: String,
    pub(crate) name: String,
}

impl SlowLog {
    /// Keeps a request, and forgets those before the last `len_max`.
    #[cold]
    pub(crate) fn add(&self, request: &Request<'_>, took: Duration, client: &Client, len_max: usize) {
        let entry = Entry {
            id: self.next.fetch_add(1, Relaxed),
            at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            micros: took.as_micros() as u64,
            args: shortened(request),
            addr: client.addr.clone(),
            name: client.names().name.clone(),
        };
        let mut entries = self.lock();
        entries.push_front(entry);
        entries.truncate(len_max);
    }

    /// The newest, so many of them.
    pub(crate) fn newest(&self, count: usize) -> Vec<Entry> {
        self.lock().iter().take(count).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As much of a request as is kept, and how much more there was, in the words of Redis.
fn shortened(request: &Request<'_>) -> Vec<Vec<u8>> {
    let count = request.count();
    let kept = if count > ARGS_MAX { ARGS_MAX - 1 } else { count };
    let mut args: Vec<Vec<u8>> = request.args().take(kept).map(shortened_arg).collect();
    if kept < count {
        args.push(format!("... ({} more arguments)", count - kept).into_bytes());
    }
    args
}

fn shortened_arg(arg: &[u8]) -> Vec<u8> {
    match arg.len().checked_sub(ARG_LEN_MAX) {
        None | Some(0) => arg.to_vec(),
        Some(more) => [&arg[..ARG_LEN_MAX], format!("... ({more} more bytes)").as_bytes()].concat(),
    }
}
