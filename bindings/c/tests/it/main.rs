//! The header is up to date, and C programs do with it what its page says.

mod header;
mod programs;
