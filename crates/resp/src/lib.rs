//! RESP, the protocol of Redis, in versions 2 and 3: requests and replies as values and as bytes.
//!
//! ```text
//! bytes of a client ──► Parser::next ──► Request: its arguments, where they lie
//! a reply, piece by piece ──► Encoder ──► bytes for the client, in the version it speaks
//! bytes of a server ──► decode ──► Value
//! ```
//!
//! What always holds:
//! 1. Nothing here sees a socket. The caller owns the buffer and decides when to read more.
//! 2. A request costs no copy, unless it is an inline one: its arguments are ranges of the caller's buffer.
//! 3. Memory is bounded by the bytes that have arrived. A length that a peer claims reserves nothing.
//! 4. What Redis refuses is refused here, in Redis's words; the tests ask a real server.
//!
//! Source: the [protocol's specification](https://redis.io/docs/latest/develop/reference/protocol-spec/), and
//! for requests what redis-server 7 does (`networking.c`).
#![forbid(unsafe_code)]

mod encode;
mod error;
mod inline;
mod line;
mod request;
mod value;

pub use encode::{Encoder, Version};
pub use error::ProtocolError;
pub use line::number;
pub use request::{Limits, OwnedRequest, Parser, Request};
pub use value::{DEPTH_MAX, Value, decode};
