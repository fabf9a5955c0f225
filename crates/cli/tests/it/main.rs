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
mod ran;
#[cfg(feature = "server")]
mod serve;
mod spotify;
mod store;
#[cfg(feature = "parquet")]
mod stripe;
mod terminal;
mod update;
mod verbs;
