//! Hammerspace for Node: the native half of the package `hammerspace`.
//!
//! ```text
//! Reader ── get, getMany, has ──▶ string | Buffer
//!   │  └── pairs ──▶ Pairs ── next ──▶ an array of keys and values
//!   └── writer ──▶ Writer ── publish ──▶ the next version
//! ```
//! Storage logic lives in the crate `hammerspace`, and idiom in JavaScript (`lib/`). Four invariants hold:
//!
//! 1. Lookups, `refresh` and opening run on the JavaScript thread. Everything that writes, publishes or
//!    lists runs as a [`Job`] on a thread of libuv's pool and gives a promise.
//! 2. No job waits for another process: an update asks for its turn without waiting, and JavaScript asks
//!    again. So waiting updates cannot fill the pool, which the one that holds the turn needs to publish.
//! 3. An error arrives as an `Error` with a `code` for its kind, and a panic as an `Error` too.
//! 4. Bytes of JavaScript are copied before they are used, so nothing here depends on what a script does to
//!    its buffers.
//!
//! Each worker thread has an environment of its own. Nothing here is shared between environments but the
//! mapped files.
//!
//! [`Job`]: job::Job

// As the macro wants it: arguments come by value, and the environment by reference, for what is made in it
// borrows from that.
#![expect(clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref, reason = "see above")]

mod bytes;
mod errors;
mod job;
mod options;
mod pairs;
mod reader;
mod writer;
