//! Publishing and following, against stores in memory that fail as real ones do.
#![forbid(unsafe_code)]

mod faults;
mod page;
mod rig;
mod simulation;
mod verbs;
