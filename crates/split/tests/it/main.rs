//! Nothing is lost, and nothing twice: with threads, with the power cut at every change, with a run that dies anywhere.
#![forbid(unsafe_code)]

mod lost;
mod power_cut;
mod support;
mod threads;
