//! A simulator of log cleaning, after the one with which Rosenblum and Ousterhout chose the cleaner of Sprite LFS
//! (Rosenblum, "The Design and Implementation of a Log-Structured File System", chapter 5) and Rumble that of RAMCloud.
//!
//! Equal records fill segments. Each is written once, in random order (in order, what is cold would lie together from the
//! beginning); then they are overwritten by a distribution. When no segment is free, a pass cleans some. What a cleaner costs is what it
//! moves for each record written. Time is counted in records written.
//!
//! [`Policy`] says how is cleaned, [`Setup`] what; [`simulate`] runs it, and the same setup always gives the same [`Cost`].
//! [`published`] has the tables that the simulator reproduces.
#![forbid(unsafe_code)]

mod future;
mod log;
mod policy;
pub mod published;
mod simulator;
#[cfg(test)]
mod tests;

pub use hammerspace_workloads::Skew;
pub use policy::{Age, Clock, Order, Pass, Policy, STORE, Score, Shape, Streams, Victim};
pub use simulator::{Cost, End, Setup, simulate};
