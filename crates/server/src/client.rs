//! A connection as others see it: what `CLIENT LIST` says of it, and what they send to it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// A connection that is open.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its number, which no other has had.
    pub(crate) id: u64,
    /// Where it comes from, and where it arrived.
    pub(crate) addr: String,
    pub(crate) local_addr: String,
    pub(crate) since: Instant,
    /// When it last sent something, in milliseconds since it came.
    pub(crate) active: AtomicU64,
    pub(crate) database: AtomicUsize,
    pub(crate) resp: AtomicU8,
    /// The place of its last command in the table, and one.
    pub(crate) command: AtomicUsize,
    pub(crate) input_len: AtomicUsize,
    pub(crate) channels: AtomicUsize,
    pub(crate) patterns: AtomicUsize,
    /// Requests that are queued in a transaction; -1 where none was begun.
    pub(crate) queued: AtomicI64,
    pub(crate) names: Mutex<Names>,
    outbox: Mutex<Vec<u8>>,
    has_mail: AtomicBool,
    is_killed: AtomicBool,
    pub(crate) wake: Notify,
}

/// What a client says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) library: String,
    pub(crate) library_version: String,
}

impl Client {
    pub(crate) fn new(id: u64, addr: String, local_addr: String) -> Self {
        Self {
            id,
            addr,
            local_addr,
            since: Instant::now(),
            active: AtomicU64::new(0),
            database: AtomicUsize::new(0),
            resp: AtomicU8::new(2),
            command: AtomicUsize::new(0),
            input_len: AtomicUsize::new(0),
            names: Mutex::new(Names { user: "default".into(), ..Names::default() }),
            channels: AtomicUsize::new(0),
            patterns: AtomicUsize::new(0),
            queued: AtomicI64::new(-1),
            outbox: Mutex::default(),
            has_mail: AtomicBool::new(false),
            is_killed: AtomicBool::new(false),
            wake: Notify::new(),
        }
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection, once its loop comes to it.
    pub(crate) fn kill(&self) {
        self.is_killed.store(true, Relaxed);
        self.wake.notify_one();
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.is_killed.load(Relaxed)
    }

    /// Sends bytes that no request asked for. A client that has more than `len_max` of them unread is closed.
    pub(crate) fn send(&self, bytes: &[u8], len_max: usize) {
        let mut outbox = self.outbox();
        if outbox.len() + bytes.len() > len_max {
            outbox.clear();
            drop(outbox);
            return self.kill();
        }
        outbox.extend_from_slice(bytes);
        self.has_mail.store(true, Relaxed);
        drop(outbox);
        self.wake.notify_one();
    }

    /// Appends what was sent to `out`.
    pub(crate) fn collect(&self, out: &mut Vec<u8>) {
        if self.has_mail.load(Relaxed) {
            let mut outbox = self.outbox();
            self.has_mail.store(false, Relaxed);
            out.append(&mut outbox);
        }
    }

    fn outbox(&self) -> MutexGuard<'_, Vec<u8>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it listens to channels or patterns.
    pub(crate) fn listens(&self) -> bool {
        self.channels.load(Relaxed) + self.patterns.load(Relaxed) > 0
    }

    /// Seconds since it came, and since it last sent something.
    pub(crate) fn ages(&self) -> (u64, u64) {
        let age = self.since.elapsed().as_millis() as u64;
        (age / 1000, age.saturating_sub(self.active.load(Relaxed)) / 1000)
    }
}
