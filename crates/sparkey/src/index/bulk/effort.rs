//! What building may take.

use std::num::NonZero;
use std::thread;

/// How much memory and how many threads building an index may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Bytes of memory, beyond the log and what the sink needs. Whatever does not fit goes to a scratch.
    pub memory: u64,
    /// Threads. By default as many as the machine runs at once.
    pub threads: Option<NonZero<usize>>,
}

impl Effort {
    /// The memory that is used by default: 256 MiB, which hold all of 10 million entries.
    pub const MEMORY: u64 = 256 << 20;

    pub(super) fn threads(&self) -> usize {
        self.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get)
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self { memory: Self::MEMORY, threads: None }
    }
}
