//! The peers of our HyperLogLog.

mod java;
mod postgres;

pub use java::JavaHll;
pub use postgres::Postgres;
