//! The command as its users meet it: the real binary, its output and its exit codes.

#[cfg(feature = "parquet")]
mod by_day;
mod counting;
mod damage;
mod demo;
mod formats;
mod guide;
mod json;
mod load;
mod memory;
mod outputs;
/// The same server as in the tests of interoperability, which need all of our peers to be built.
#[path = "../../../../tests/interop/src/hll/postgres.rs"]
#[expect(unreachable_pub, reason = "it is public where it lives")]
mod postgres;
mod ran;
#[cfg(feature = "server")]
mod serve;
mod sets;
mod spotify;
mod store;
#[cfg(feature = "parquet")]
mod stripe;
mod terminal;
mod update;
mod verbs;

/// What a peer answers, or why not.
type Result<T = ()> = std::result::Result<T, String>;
