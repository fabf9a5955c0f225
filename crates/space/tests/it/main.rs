//! The suites of the space: one file per promise.
#![forbid(unsafe_code)]

mod basics;
mod compressed;
mod damage;
mod fork;
mod gem;
mod kill;
mod leftovers;
mod model;
mod moved;
mod power_cut;
mod refresh;
mod refusal;
mod support;
mod update;
mod versions;
mod wrong_directory;
