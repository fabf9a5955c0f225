//! Random schemas and records, through files and back.
#![forbid(unsafe_code)]

mod hostile;
mod merge;
mod random;
mod round_trip;
