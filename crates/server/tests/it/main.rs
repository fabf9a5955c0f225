//! The server against redis-server, and against clients that misbehave.

mod commands;
mod conversation;
mod hostile;
mod peers;
mod random;
mod spaces;
