//! The server: any Redis client in front of a store and of spaces.
//!
//! ```text
//! socket ──► Connection ── requests of a buffer ──► command::execute ──► Database: a table, or a space
//!    ▲           │                                        │
//!    └── replies ┘ ◄── outbox: messages, pushes ◄─────────┴──► Registry: the other connections
//! ```
//!
//! What always holds:
//! 1. **A loop per core.** A connection belongs to one thread from its first byte to its last. A command runs
//!    to its end on that thread; nothing waits while it holds a lock.
//! 2. **A change of one record is one operation of the store**, conditional on the version that was read
//!    where it depends on the value. A command on several keys runs alone (`gate.rs`), so no client sees half
//!    of it.
//! 3. **Memory is bounded by configuration, not by clients**: limits on connections, on input, on output that
//!    is not read. While a client does not read its replies, its requests are not read either.
//! 4. **A command is in the table of `command/mod.rs`, or it is unknown.** `COMMAND` and access rules answer
//!    from that table.
//!
//! Semantics and error texts are those of Redis 7; where they differ, `docs/guide/server.md` says so and why.
#![forbid(unsafe_code)]
#![allow(clippy::cast_possible_wrap, reason = "lengths and counters stay below 2^63")]
#![allow(clippy::cast_sign_loss, reason = "signs are checked where arguments are read")]

mod broker;
mod client;
mod clock;
mod command;
mod config;
mod connection;
mod database;
mod decimal;
mod events;
mod failure;
mod gate;
mod glob;
mod listener;
mod monitor;
mod options;
mod registry;
mod server;
mod session;
mod slowlog;
mod stats;
mod target;
mod text;
mod value;

pub use options::{Address, Options};
pub use server::{Server, Stopper};
